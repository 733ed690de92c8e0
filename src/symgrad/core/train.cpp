#include "train.hpp"

#include <cmath>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "relaxed.hpp"

namespace symgrad {

namespace {

template <class T>
using GemmOf = void (*)(char*, char*, int*, int*, int*, T*, T*, int*, T*, int*, T*, T*, int*);

// Consecutive trees whose leaves fill about kFew rows of a matrix product, so that all they need
// stays in the cache, or kMany where features are so many that the product takes most of the time;
// or less where wide rows would take much memory. The cut does not depend on threads.
constexpr int64_t kFew = 96, kMany = 320, kWide = 128, kNumbers = int64_t(4) << 20;

std::vector<int64_t> groups(const Forest& forest, int64_t features) {
  std::vector<int64_t> first{0};
  const int64_t most = features > kWide ? kMany : kFew;
  int64_t leaves = 0;
  for (int64_t t = 0; t < forest.trees(); ++t) {
    const int64_t more = forest.tree(t).size;  // leaves and added leaves: no more than nodes
    const bool full = leaves + more > most || (leaves + more) * features > kNumbers;
    if (leaves > 0 && full) {
      first.push_back(t);
      leaves = 0;
    }
    leaves += more;
  }
  first.push_back(forest.trees());
  return first;
}

// Weights that die out pass through subnormal numbers, which are slow; here they count as zero.
class FlushSubnormals {
#if defined(__SSE2__)
 public:
  FlushSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushSubnormals() { _mm_setcsr(before_); }

 private:
  const unsigned before_;
#else
 public:
  FlushSubnormals() {}
#endif
};

template <class T>
class Trainer {
 public:
  Trainer(const Forest& forest, const Rows<T>& data, const TrainOptions& options, Gemm gemm,
          const Trained<T>& out, Stop& stop)
      : forest_(forest),
        data_(data),
        options_(options),
        gemm_(reinterpret_cast<GemmOf<T>>(gemm)),
        out_(out),
        stop_(stop),
        applier_(forest, options.functions) {}

  void run(int64_t begin, int64_t end) {
    const FlushSubnormals flush;
    group_.build(forest_, begin, end, data_.features, options_);
    const int64_t batch = options_.batch < data_.rows ? options_.batch : data_.rows;
    const int64_t batches = (data_.rows + batch - 1) / batch;
    for (int epoch = 0; epoch < options_.epochs && !stop_(); ++epoch) {
      const int64_t k = epoch % batches,
                    row = k * batch + batch <= data_.rows ? k * batch : data_.rows - batch;
      step(epoch, row, int(batch));
    }
    group_.report(forest_, options_, out_);
  }

 private:
  void step(int epoch, int64_t row, int rows) {
    const RowKernels<T>& k = row_kernels<T>();
    Group<T>& g = group_;
    for (int64_t r = 0; r < g.leaf_rows; ++r)
      k.softmax(g.leaf.value(r), g.leaf.p(r), g.leaf_width[size_t(r)]);
    for (int64_t r = 0; r < g.inner_rows; ++r)
      k.softmax(g.inner.value(r), g.inner.p(r), g.inner.width);
    leaf_values(row, rows);
    for (auto& tree : g.trees) {
      tree.last_loss = tree.pass(g, data_, options_, applier_, row, rows);
      if (epoch == 0) tree.first_loss = tree.last_loss + tree.zero_one(g, options_.lambda);
      if (epoch + 1 == options_.epochs) tree.last_loss += tree.zero_one(g, options_.lambda);
    }
    leaf_gradients(row, rows);
    if (epoch == 0 && out_.gradients) g.report_gradients(forest_, out_);
    for (auto& tree : g.trees) tree.update(g, options_);
  }

  // H = P X': the values of all leaves of all trees of the group.
  void leaf_values(int64_t row, int rows) {
    Group<T>& g = group_;
    char t = 'T', n = 'N';
    int m = rows, leaves = int(g.leaf_rows), d = int(data_.features), width = int(g.leaf.width);
    int ld = kRowStride;
    T one = 1, zero = 0;
    if (leaves == 0) return;
    gemm_(&t, &n, &m, &leaves, &d, &one, const_cast<T*>(data_.X + row * data_.features), &d,
          g.leaf.p(0), &width, &zero, g.h, &ld);
    // Kernels run to the next whole vector.
    for (int64_t r = 0; r < g.leaf_rows; ++r)
      for (int i = rows; i < padded(rows); ++i)
        g.h[r * kRowStride + i] = g.h[r * kRowStride + rows - 1];
  }

  // dL/dP = dL/dH X.
  void leaf_gradients(int64_t row, int rows) {
    Group<T>& g = group_;
    char n = 'N';
    int m = rows, leaves = int(g.leaf_rows), d = int(data_.features), width = int(g.leaf.width);
    int ld = kRowStride;
    T one = 1, zero = 0;
    if (leaves == 0) return;
    gemm_(&n, &n, &d, &leaves, &m, &one, const_cast<T*>(data_.X + row * data_.features), &d, g.gh,
          &ld, &zero, g.leaf.g(0), &width);
    for (int64_t r = 0; r < g.leaf_rows; ++r) {
      T* to = g.leaf.g(r);
      const T shift = g.leaf_shift[size_t(r)];
      if (shift != T(0))
        for (int64_t j = 0; j < data_.features; ++j) to[j] += shift;
      for (int64_t f = data_.features; f < g.leaf.width; ++f)
        to[f] = g.leaf_function_g[size_t(r * (g.leaf.width - data_.features) + f - data_.features)];
    }
  }

  const Forest& forest_;
  const Rows<T>& data_;
  const TrainOptions& options_;
  const GemmOf<T> gemm_;
  const Trained<T>& out_;
  Stop& stop_;
  Applier<T> applier_;
  Group<T> group_;
};

}  // namespace

template <class T>
bool train(const Forest& forest, const Rows<T>& data, const TrainOptions& options, Gemm gemm,
           const Trained<T>& out, int jobs, const Poll& poll) {
  const std::vector<int64_t> first = groups(forest, data.features);
  return parallel_for(int64_t(first.size()) - 1, jobs, poll, [&](Stop& stop) {
    auto trainer = std::make_shared<Trainer<T>>(forest, data, options, gemm, out, stop);
    return [&, trainer](int64_t i) { trainer->run(first[size_t(i)], first[size_t(i) + 1]); };
  });
}

template bool train(const Forest&, const Rows<float>&, const TrainOptions&, Gemm,
                    const Trained<float>&, int, const Poll&);
template bool train(const Forest&, const Rows<double>&, const TrainOptions&, Gemm,
                    const Trained<double>&, int, const Poll&);

}  // namespace symgrad
