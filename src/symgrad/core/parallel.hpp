// Work items on a few threads. The calling thread takes part and asks now and then whether the
// user wants to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace symgrad {

// Returns true when the work should stop (Ctrl-C); called on the calling thread only.
using Poll = std::function<bool()>;

// Asked between items, and by workers inside long ones.
class Stop {
 public:
  explicit Stop(const Poll& poll) : poll_(poll) {}
  void set() { stop_ = true; }
  bool interrupted() const { return interrupted_; }
  bool operator()() {
    if (std::this_thread::get_id() == caller_) {
      const auto now = std::chrono::steady_clock::now();
      if (now - asked_ > std::chrono::milliseconds(50)) {
        asked_ = now;
        if (poll_()) stop_ = interrupted_ = true;
      }
    }
    return stop_.load(std::memory_order_relaxed);
  }

 private:
  const Poll& poll_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::atomic<bool> stop_{false}, interrupted_{false};
};

// Calls make_worker(stop) once per thread and the worker with 0, 1, ..., items - 1, in any order.
// Returns false if it was interrupted. The first exception of any worker is thrown again here.
template <class MakeWorker>
bool parallel_for(int64_t items, int jobs, const Poll& poll, MakeWorker make_worker) {
  Stop stop(poll);
  std::atomic<int64_t> next{0};
  std::exception_ptr error;
  std::mutex lock;
  std::condition_variable finished;
  int running = 0;

  auto run = [&] {
    try {
      auto worker = make_worker(stop);
      for (int64_t i; !stop() && (i = next.fetch_add(1)) < items;) worker(i);
    } catch (...) {
      const std::lock_guard<std::mutex> guard(lock);
      if (!error) error = std::current_exception();
      stop.set();
    }
  };
  auto run_beside = [&] {
    run();
    const std::lock_guard<std::mutex> guard(lock);
    --running;
    finished.notify_all();
  };

  std::vector<std::thread> threads;
  const int64_t extra = (jobs < items ? jobs : items) - 1;
  for (int64_t k = 0; k < extra; ++k) {
    {
      const std::lock_guard<std::mutex> guard(lock);
      ++running;
    }
    try {
      threads.emplace_back(run_beside);
    } catch (const std::system_error&) {  // no more threads to be had: go on with those there are
      const std::lock_guard<std::mutex> guard(lock);
      --running;
      break;
    }
  }
  run();
  for (std::unique_lock<std::mutex> guard(lock); running > 0;) {
    finished.wait_for(guard, std::chrono::milliseconds(50));
    guard.unlock();
    stop();
    guard.lock();
  }
  for (auto& t : threads) t.join();
  if (error) std::rethrow_exception(error);
  return !stop.interrupted();
}

}  // namespace symgrad
