// Loops over rows of numbers that training needs beside the primitives, per instruction set.
#pragma once

#include <cstdint>

namespace symgrad {

struct Adam {
  double rate, beta1, beta2, epsilon;
  double correction1, correction2;  // 1 - beta^t of the step at hand
};

template <class T>
struct RowKernels {
  // p = softmax(logits); both of length n.
  void (*softmax)(const T* logits, T* p, int64_t n);
  // One Adam step on a row of logits. On entry g is dLoss/dp, without the 0-1 term: that of
  // -share * mean((p - 1/2)^2) is added here. m and v are the moments.
  void (*softmax_step)(T* logits, const T* p, T* g, T* m, T* v, int64_t n, double share,
                       const Adam& adam);
  void (*add_scaled)(T w, const T* x, T* out, int n);  // out += w * x
  void (*scaled)(T w, const T* x, T* out, int n);      // out = w * x
  double (*dot)(const T* x, const T* y, int n);
  // Backward where the slope of a function is known: ga += w * slope * g; returns the sum of g * v.
  double (*unmix)(const T* v, const T* slope, const T* g, T w, T* ga, int n);
  // Sums of x * p, x * q, x * r and x * x * t.
  void (*scan)(const T* x, const T* p, const T* q, const T* r, const T* t, int n, double* out);
  // Sums of x * p[k * stride + i], k = 0 to 3.
  void (*dots)(const T* x, const T* p, int stride, int n, double* out);
};

template <class T>
const RowKernels<T>& row_kernels();

}  // namespace symgrad
