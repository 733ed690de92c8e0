#include "rows.hpp"

#include "math.hpp"

namespace symgrad {
namespace SYMGRAD_ISA {

template <class T>
void softmax(const T* logits, T* p, int64_t n) {
  T top = logits[0];
  SYMGRAD_SIMD_MAX(top)
  for (int64_t i = 0; i < n; ++i) top = logits[i] > top ? logits[i] : top;
  T sum = 0;
  SYMGRAD_SIMD_SUM(sum)
  for (int64_t i = 0; i < n; ++i) {
    const T e = m_exp(logits[i] - top);
    p[i] = e;
    sum += e;
  }
  const T scale = T(1) / sum;
  SYMGRAD_SIMD
  for (int64_t i = 0; i < n; ++i) p[i] *= scale;
}

template <class T>
void softmax_step(T* logits, const T* p, T* g, T* m, T* v, int64_t n, double share,
                  const Adam& adam) {
  const T pull = T(-2.0 * share / double(n));
  T mean = 0;
  SYMGRAD_SIMD_SUM(mean)
  for (int64_t i = 0; i < n; ++i) {
    const T total = g[i] + pull * (p[i] - T(0.5));
    g[i] = total;
    mean += p[i] * total;
  }
  const T b1 = T(adam.beta1), b2 = T(adam.beta2);
  const T step = T(adam.rate / adam.correction1), floor = T(adam.epsilon);
  const T root = T(1.0 / std::sqrt(adam.correction2));
  SYMGRAD_SIMD
  for (int64_t i = 0; i < n; ++i) {
    const T d = p[i] * (g[i] - mean);
    const T first = b1 * m[i] + (T(1) - b1) * d;
    const T second = b2 * v[i] + (T(1) - b2) * d * d;
    m[i] = first;
    v[i] = second;
    logits[i] -= step * first / (m_sqrt(second) * root + floor);
  }
}

template <class T>
void add_scaled(T w, const T* x, T* out, int n) {
  SYMGRAD_SIMD
  for (int i = 0; i < n; ++i) out[i] += w * x[i];
}

template <class T>
void scaled(T w, const T* x, T* out, int n) {
  SYMGRAD_SIMD
  for (int i = 0; i < n; ++i) out[i] = w * x[i];
}

// Four quarters at a time: a single sum would wait for its own last addition. n is a multiple of
// kVector.
template <class T>
double dot(const T* x, const T* y, int n) {
  const int q = n / 4;
  T a = 0, b = 0, c = 0, d = 0;
  SYMGRAD_SIMD_SUM(a, b, c, d)
  for (int i = 0; i < q; ++i) {
    a += x[i] * y[i];
    b += x[i + q] * y[i + q];
    c += x[i + 2 * q] * y[i + 2 * q];
    d += x[i + 3 * q] * y[i + 3 * q];
  }
  return double(a) + double(b) + double(c) + double(d);
}

// Two halves at a time, for the same reason.
template <class T>
double unmix(const T* v, const T* slope, const T* g, T w, T* ga, int n) {
  const int h = n / 2;
  T a = 0, b = 0;
  SYMGRAD_SIMD_SUM(a, b)
  for (int i = 0; i < h; ++i) {
    a += g[i] * v[i];
    ga[i] += w * g[i] * slope[i];
    b += g[i + h] * v[i + h];
    ga[i + h] += w * g[i + h] * slope[i + h];
  }
  return double(a) + double(b);
}

template <class T>
void scan(const T* x, const T* p, const T* q, const T* r, const T* t, int n, double* out) {
  const int h = n / 2;
  T a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, k = 0;
  SYMGRAD_SIMD_SUM(a, b, c, d, e, f, g, k)
  for (int i = 0; i < h; ++i) {
    const T u = x[i], v = x[i + h];
    a += u * p[i], b += u * q[i], c += u * r[i], d += u * u * t[i];
    e += v * p[i + h], f += v * q[i + h], g += v * r[i + h], k += v * v * t[i + h];
  }
  out[0] = double(a) + double(e), out[1] = double(b) + double(f);
  out[2] = double(c) + double(g), out[3] = double(d) + double(k);
}

template <class T>
void dots(const T* x, const T* p, int stride, int n, double* out) {
  const int h = n / 2;
  const T *q = p + stride, *r = q + stride, *t = r + stride;
  T a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, k = 0;
  SYMGRAD_SIMD_SUM(a, b, c, d, e, f, g, k)
  for (int i = 0; i < h; ++i) {
    const T u = x[i], v = x[i + h];
    a += u * p[i], b += u * q[i], c += u * r[i], d += u * t[i];
    e += v * p[i + h], f += v * q[i + h], g += v * r[i + h], k += v * t[i + h];
  }
  out[0] = double(a) + double(e), out[1] = double(b) + double(f);
  out[2] = double(c) + double(g), out[3] = double(d) + double(k);
}

template <class T>
void fill_rows(RowKernels<T>* k) {
  *k = {softmax<T>, softmax_step<T>, add_scaled<T>, scaled<T>, dot<T>, unmix<T>, scan<T>, dots<T>};
}

template void fill_rows<float>(RowKernels<float>*);
template void fill_rows<double>(RowKernels<double>*);

}  // namespace SYMGRAD_ISA
}  // namespace symgrad
