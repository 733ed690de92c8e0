// Any primitive, built-in or composed, on one block: its smooth value, and its backward step.
#pragma once

#include <map>

#include "machine.hpp"
#include "rows.hpp"

namespace symgrad {

template <class T>
class Applier {
 public:
  Applier(const Forest& forest, const std::vector<int32_t>& functions)
      : kernels_(symgrad::kernels<T>()) {
    for (const int32_t f : functions)
      if (f >= kFirstComposed) record(forest, forest.body(f), &tapes_[f]);
  }

  void forward(int32_t op, const T* a, const T* b, T* out, int n) {
    if (op < kFirstComposed) return kernels_.map[1][op](a, b, out, n);
    const Tape& tape = tapes_[op];
    run(tape, a, b, n);
    std::memcpy(out, values_[size_t(tape.result)], size_t(n) * sizeof(T));
  }

  // v = f(a, b) and out += w * v.
  void mix(int32_t op, const T* a, const T* b, T w, T* v, T* out, int n) {
    if (op < kFirstComposed) return kernels_.mix[op](a, b, w, v, out, n);
    forward(op, a, b, v, n);
    row_kernels<T>().add_scaled(w, v, out, n);
  }

  // Backward from g, the derivative by out: ga += w * g * df/da, gb likewise; returns dL/dw.
  T unmix(int32_t op, const T* a, const T* b, const T* v, const T* g, T w, T* ga, T* gb, int n) {
    if (op < kFirstComposed) return T(kernels_.unmix[op](a, b, v, g, w, ga, gb, n));
    T* weighted = weighted_.get(kRowStride);
    row_kernels<T>().scaled(w, g, weighted, n);
    backward(op, a, b, v, weighted, ga, gb, n);
    return T(row_kernels<T>().dot(g, v, n));
  }

  // ga += g * d/da and gb += g * d/db; v is the value.
  void backward(int32_t op, const T* a, const T* b, const T* v, const T* g, T* ga, T* gb, int n) {
    if (op < kFirstComposed) return kernels_.backward[1][op](a, b, v, g, ga, gb, n);
    const Tape& tape = tapes_[op];
    run(tape, a, b, n);
    T* adjoint = adjoints_.get(size_t(tape.slots) * kRowStride);
    for (size_t i = 0; i < size_t(tape.slots) * kRowStride; ++i) adjoint[i] = T(0);
    std::memcpy(adjoint + size_t(tape.result) * kRowStride, g, size_t(n) * sizeof(T));
    for (size_t k = tape.code.size(); k-- > 0;) {
      const auto& s = tape.code[k];
      kernels_.backward[1][s.op](values_[size_t(s.a)], values_[size_t(s.b)], values_[size_t(s.out)],
                                 adjoint + size_t(s.out) * kRowStride,
                                 adjoint + size_t(s.a) * kRowStride,
                                 adjoint + size_t(s.b) * kRowStride, n);
    }
    for (int32_t s = 0; s < tape.slots; ++s) {
      if (tape.written[size_t(s)] || tape.leaves[size_t(s)].kind != Operand::kFeature) continue;
      T* to = tape.leaves[size_t(s)].index == 0 ? ga : gb;
      const T* from = adjoint + size_t(s) * kRowStride;
      for (int i = 0; i < n; ++i) to[i] += from[i];
    }
  }

 private:
  void run(const Tape& tape, const T* a, const T* b, int n) {
    values_.resize(size_t(tape.slots));
    T* own = memory_.get(size_t(tape.slots) * kRowStride);
    for (int32_t s = 0; s < tape.slots; ++s) {
      T* block = own + size_t(s) * kRowStride;
      const Operand& o = tape.leaves[size_t(s)];
      values_[size_t(s)] = block;
      if (tape.written[size_t(s)]) continue;
      if (o.kind == Operand::kFeature) {
        values_[size_t(s)] = o.index == 0 ? a : b;
      } else {
        for (int i = 0; i < n; ++i) block[i] = T(tape.scalars[size_t(o.index)]);
      }
    }
    for (const auto& s : tape.code)
      kernels_.map[1][s.op](values_[size_t(s.a)], values_[size_t(s.b)],
                            own + size_t(s.out) * kRowStride, n);
  }

  const Kernels<T>& kernels_;
  std::map<int32_t, Tape> tapes_;
  std::vector<const T*> values_;
  Scratch<T> memory_, adjoints_, weighted_;
};

}  // namespace symgrad
