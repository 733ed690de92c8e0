#include "core.hpp"

namespace symgrad {

namespace {

// Forward and backward over one block. Values and adjoints of every slot are kept.
template <class T>
class Differentiator {
 public:
  Differentiator(const Forest& forest, const Columns<T>& X, bool smooth)
      : forest_(forest), X_(X), kernels_(symgrad::kernels<T>()), smooth_(smooth ? 1 : 0) {}

  void select(int64_t tree) {
    if (tree == tree_) return;
    record(forest_, forest_.tree(tree), &tape_);
    tree_ = tree;
    values_.assign(size_t(tape_.slots), nullptr);
    adjoints_ = memory_.get(size_t(2 * tape_.slots) * kStride);
  }

  // The adjoint of slot s is at (returned pointer) + s * kStride.
  const T* run(int64_t row, int rows) {
    const int n = padded(rows);
    T* own = adjoints_ + size_t(tape_.slots) * kStride;
    for (int32_t s = 0; s < tape_.slots; ++s) values_[size_t(s)] = leaf(s, row, rows, own);
    for (const auto& step : tape_.code)
      kernels_.map[smooth_][step.op](values_[size_t(step.a)], values_[size_t(step.b)],
                                     own + size_t(step.out) * kStride, n);
    for (size_t i = 0; i < size_t(tape_.slots) * kStride; ++i) adjoints_[i] = T(0);
    T* root = adjoints_ + size_t(tape_.result) * kStride;
    for (int i = 0; i < n; ++i) root[i] = T(1);
    for (size_t k = tape_.code.size(); k-- > 0;) {
      const auto& step = tape_.code[k];
      kernels_.backward[smooth_][step.op](
          values_[size_t(step.a)], values_[size_t(step.b)], values_[size_t(step.out)],
          adjoints_ + size_t(step.out) * kStride, adjoints_ + size_t(step.a) * kStride,
          adjoints_ + size_t(step.b) * kStride, n);
    }
    return adjoints_;
  }

 private:
  const T* leaf(int32_t s, int64_t row, int rows, T* own) {
    T* block = own + size_t(s) * kStride;
    if (tape_.written[size_t(s)]) return block;
    const Operand& o = tape_.leaves[size_t(s)];
    if (o.kind == Operand::kFeature) return load(X_, o.index, row, rows, block);
    const T value = T(tape_.scalars[size_t(o.index)]);
    for (int i = 0; i < kBlock; ++i) block[i] = value;
    return block;
  }

  const Forest& forest_;
  const Columns<T> X_;
  const Kernels<T>& kernels_;
  const int smooth_;
  int64_t tree_ = -1;
  Tape tape_;
  std::vector<const T*> values_;
  Scratch<T> memory_;
  T* adjoints_ = nullptr;
};

}  // namespace

template <class T>
bool gradient(const Forest& forest, const Columns<T>& X, T* out, bool smooth, int jobs,
              const Poll& poll) {
  const Plan plan(X.rows, forest.trees());
  return parallel_for(plan.items(), jobs, poll, [&](Stop&) {
    auto machine = std::make_shared<Differentiator<T>>(forest, X, smooth);
    return [&, machine](int64_t item) {
      plan.each(item, [&](int64_t tree, int64_t, int64_t begin, int64_t end) {
        machine->select(tree);
        const int64_t first = forest.first_node(tree), nodes = forest.tree(tree).size;
        for (int64_t row = begin; row < end; row += kBlock) {
          const int rows = int(end - row < kBlock ? end - row : kBlock);
          const T* adjoints = machine->run(row, rows);
          for (int64_t i = 0; i < nodes; ++i)
            std::memcpy(out + (first + i) * X.rows + row, adjoints + i * kStride,
                        size_t(rows) * sizeof(T));
        }
      });
    };
  });
}

template bool gradient(const Forest&, const Columns<float>&, float*, bool, int, const Poll&);
template bool gradient(const Forest&, const Columns<double>&, double*, bool, int, const Poll&);

}  // namespace symgrad
