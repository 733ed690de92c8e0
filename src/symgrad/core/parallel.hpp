// Work items on a few threads. The calling thread takes part and asks now and then whether the
// user wants to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace symgrad {

// Returns true when the work should stop (Ctrl-C); called on the calling thread only.
using Poll = std::function<bool()>;

// Calls make_worker() once per thread and the worker with 0, 1, ..., items - 1, in any order.
// Returns false if it was interrupted. The first exception of any worker is thrown again here.
template <class MakeWorker>
bool parallel_for(int64_t items, int jobs, const Poll& poll, MakeWorker make_worker) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false}, interrupted{false};
  std::exception_ptr error;
  std::mutex error_lock;

  auto run = [&](bool caller) {
    try {
      auto worker = make_worker();
      auto asked = std::chrono::steady_clock::now();
      for (int64_t i; !stop.load(std::memory_order_relaxed) && (i = next.fetch_add(1)) < items;) {
        worker(i);
        if (!caller) continue;
        const auto now = std::chrono::steady_clock::now();
        if (now - asked < std::chrono::milliseconds(50)) continue;
        asked = now;
        if (poll()) interrupted = stop = true;
      }
    } catch (...) {
      const std::lock_guard<std::mutex> guard(error_lock);
      if (!error) error = std::current_exception();
      stop = true;
    }
  };

  std::vector<std::thread> threads;
  const int64_t extra = (jobs < items ? jobs : items) - 1;
  for (int64_t k = 0; k < extra; ++k) {
    try {
      threads.emplace_back(run, false);
    } catch (const std::system_error&) {
      break;  // no more threads to be had: go on with those there are
    }
  }
  run(true);
  for (auto& t : threads) t.join();
  if (error) std::rethrow_exception(error);
  return !interrupted;
}

}  // namespace symgrad
