// Forward and backward over blocks of rows. Values and adjoints of every slot are kept.
#pragma once

#include "machine.hpp"

namespace symgrad {

template <class T>
class Differentiator {
 public:
  Differentiator(const Forest& language, const Columns<T>& X, bool smooth)
      : language_(language), X_(X), kernels_(symgrad::kernels<T>()), smooth_(smooth ? 1 : 0) {}

  // With `constants_only`, adjoints of slots that no constant feeds are not computed.
  void select(const Postfix& tree, bool constants_only = false) {
    record(language_, tree, &tape_);
    values_.assign(size_t(tape_.slots), nullptr);
    filled_ = 0;
    adjoints_ = memory_.get(size_t(2 * tape_.slots) * kStride);
    active_.assign(size_t(tape_.slots), !constants_only);
    if (!constants_only) return;
    for (int64_t i = 0; i < tree.size; ++i) active_[size_t(i)] = tree.code[i] == kConstant;
    for (const auto& step : tape_.code)
      active_[size_t(step.out)] = active_[size_t(step.a)] || active_[size_t(step.b)];
  }

  // The adjoint of slot s is at (returned pointer) + s * kStride; beyond the rows it means nothing.
  T* run(int64_t row, int rows) {
    const int n = forward(row, rows);
    for (int32_t s = 0; s < tape_.slots; ++s)
      std::memset(adjoints_ + size_t(s) * kStride, 0, size_t(n) * sizeof(T));
    T* root = adjoints_ + size_t(tape_.result) * kStride;
    for (int i = 0; i < n; ++i) root[i] = T(1);
    for (size_t k = tape_.code.size(); k-- > 0;) {
      const auto& step = tape_.code[k];
      if (!active_[size_t(step.out)]) continue;
      kernels_.backward[smooth_][step.op](
          values_[size_t(step.a)], values_[size_t(step.b)], values_[size_t(step.out)],
          adjoints_ + size_t(step.out) * kStride, adjoints_ + size_t(step.a) * kStride,
          adjoints_ + size_t(step.b) * kStride, n);
    }
    return adjoints_;
  }

  // Values alone; returns how many rows they are padded to.
  int forward(int64_t row, int rows) {
    const int n = padded(rows);
    T* own = adjoints_ + size_t(tape_.slots) * kStride;
    for (int32_t s = 0; s < tape_.slots; ++s) values_[size_t(s)] = leaf(s, row, rows, own);
    filled_ = std::max(filled_, n);
    for (const auto& step : tape_.code)
      kernels_.map[smooth_][step.op](values_[size_t(step.a)], values_[size_t(step.b)],
                                     own + size_t(step.out) * kStride, n);
    return n;
  }

  // Values of a slot on the rows of the last run.
  const T* value(int64_t slot) const { return values_[size_t(slot)]; }
  const T* result() const { return values_[size_t(tape_.result)]; }

 private:
  const T* leaf(int32_t s, int64_t row, int rows, T* own) {
    T* block = own + size_t(s) * kStride;
    if (tape_.written[size_t(s)]) return block;
    const Operand& o = tape_.leaves[size_t(s)];
    if (o.kind == Operand::kFeature) return load(X_, o.index, row, rows, block);
    if (filled_ < padded(rows)) std::fill_n(block, padded(rows), T(tape_.scalars[size_t(o.index)]));
    return block;
  }

  const Forest& language_;
  const Columns<T> X_;
  const Kernels<T>& kernels_;
  const int smooth_;
  Tape tape_;
  std::vector<char> active_;
  std::vector<const T*> values_;
  Scratch<T> memory_;
  T* adjoints_ = nullptr;
  int filled_ = 0;  // rows of constants that are in place
};

}  // namespace symgrad
