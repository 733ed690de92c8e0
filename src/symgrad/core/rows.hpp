// Loops over rows of numbers that training and search need beside the primitives, per instruction
// set.
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
  // Weighted sums of z = u + J v, z y and z z over rows with a weight.
  void (*line)(const T* u, const T* J, const T* v, const T* w, const T* y, int n, double* out);
  // The tree u + J v that f is, where J is what v is multiplied with: with h the value of a node
  // and g its adjoint, J = g h if `times` and otherwise sign * g; u = f if `keeps` and otherwise f
  // - g h. Weighted sums of u, u y and u u, and the sum of J J; 0 in rows without a weight.
  void (*split)(const T* g, const T* h, const T* f, const T* w, const T* y, bool times, T sign,
                bool keeps, int n, T* J, T* u, double* out);
  // f less its mean, which is the weighted sum by total, 0 in rows without a weight; the mean, and
  // weighted sums of the square and of the product with y.
  void (*centred)(const T* f, const T* w, const T* y, double total, int n, T* to, double* out);
  // Takes w * sum(x) / total off x, and returns the sum of its squares; 0 in rows without a weight.
  double (*less_mean)(T* x, const T* w, double total, int n);
  // Residuals w (y - intercept - slope f) and w f; adds up w, w f, w f f, residuals, and residuals
  // times f. No w is 1, and it is 0 in rows beyond the limits.
  void (*residuals)(const T* f, const double* y, const double* w, double slope, double intercept,
                    double low, double high, int n, T* residual, T* f_weighted, T* weighted,
                    double* out);
  // With v = f - centre and residuals r = y - intercept - slope f, adds up w, w v, w v v, w r, w r
  // v and w r r of the rows that are not beyond the limits. No w is 1.
  void (*limited)(const T* f, const double* y, const double* w, double slope, double intercept,
                  double centre, double low, double high, int64_t n, double* out);
};

template <class T>
const RowKernels<T>& row_kernels();

}  // namespace symgrad
