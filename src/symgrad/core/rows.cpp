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
void line(const T* u, const T* J, const T* v, const T* w, const T* y, int n, double* out) {
  double a = 0, b = 0, c = 0;
  SYMGRAD_SIMD_SUM(a, b, c)
  for (int i = 0; i < n; ++i) {
    const double z = w[i] > T(0) ? double(u[i]) + double(J[i]) * double(v[i]) : 0.0;
    const double wz = double(w[i]) * z;
    a += wz, b += wz * double(y[i]), c += wz * z;
  }
  out[0] = a, out[1] = b, out[2] = c;
}

template <class T>
void split(const T* g, const T* h, const T* f, const T* w, const T* y, bool times, T sign,
           bool keeps, int n, T* J, T* u, double* out) {
  double a = 0, b = 0, c = 0, d = 0;
  SYMGRAD_SIMD_SUM(a, b, c, d)
  for (int i = 0; i < n; ++i) {
    const T gh = g[i] * h[i], j = times ? gh : sign * g[i], rest = keeps ? f[i] : f[i] - gh;
    const T own = w[i] > T(0) ? j : T(0), other = w[i] > T(0) ? rest : T(0);
    J[i] = own;
    u[i] = other;
    const double v = double(other), wv = double(w[i]) * v;
    a += wv, b += wv * double(y[i]), c += wv * v, d += double(own) * double(own);
  }
  out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

template <class T>
void centred(const T* f, const T* w, const T* y, double total, int n, T* to, double* out) {
  double sum = 0, ff = 0, fy = 0;
  SYMGRAD_SIMD_SUM(sum)
  for (int i = 0; i < n; ++i) sum += w[i] > T(0) ? double(w[i]) * double(f[i]) : 0.0;
  const double mean = sum / total;
  SYMGRAD_SIMD_SUM(ff, fy)
  for (int i = 0; i < n; ++i) {
    const double c = w[i] > T(0) ? double(f[i]) - mean : 0.0, wc = double(w[i]) * c;
    to[i] = T(c);
    ff += wc * c, fy += wc * double(y[i]);
  }
  out[0] = mean, out[1] = ff, out[2] = fy;
}

template <class T>
double less_mean(T* x, const T* w, double total, int n) {
  double sum = 0, squares = 0;
  SYMGRAD_SIMD_SUM(sum)
  for (int i = 0; i < n; ++i) sum += w[i] > T(0) ? double(x[i]) : 0.0;
  const double share = sum / total;
  SYMGRAD_SIMD_SUM(squares)
  for (int i = 0; i < n; ++i) {
    const T value = w[i] > T(0) ? x[i] - T(double(w[i]) * share) : T(0);
    x[i] = value;
    squares += double(value) * double(value);
  }
  return squares;
}

// 0 where y is at a limit and the prediction p beyond it, else 1.
SYMGRAD_INLINE double counts(double y, double p, double low, double high) {
  const bool below = (y <= low) & (p < low), above = (y >= high) & (p > high);
  return below | above ? 0.0 : 1.0;
}

template <class T, class Weight>
SYMGRAD_INLINE void residuals_with(const T* f, const double* y, Weight w, double slope,
                                   double intercept, double low, double high, int n, T* residual,
                                   T* f_weighted, T* weighted, double* out) {
  double a = 0, b = 0, c = 0, d = 0, e = 0;
  SYMGRAD_SIMD_SUM(a, b, c, d, e)
  for (int i = 0; i < n; ++i) {
    const double v = double(f[i]), p = intercept + slope * v;
    const double wi = w(i) * counts(y[i], p, low, high), wf = wi * v;
    const T r = T(wi * (y[i] - p));
    residual[i] = r;
    f_weighted[i] = T(wf);
    weighted[i] = T(wi);
    a += wi, b += wf, c += wf * v, d += double(r), e += double(r) * v;
  }
  out[0] += a, out[1] += b, out[2] += c, out[3] += d, out[4] += e;
}

template <class T>
void residuals(const T* f, const double* y, const double* w, double slope, double intercept,
               double low, double high, int n, T* residual, T* f_weighted, T* weighted,
               double* out) {
  if (w)
    residuals_with(
        f, y, [w](int i) SYMGRAD_LAMBDA { return w[i]; }, slope, intercept, low, high, n, residual,
        f_weighted, weighted, out);
  else
    residuals_with(
        f, y, [](int) SYMGRAD_LAMBDA { return 1.0; }, slope, intercept, low, high, n, residual,
        f_weighted, weighted, out);
}

template <class T, class Weight>
SYMGRAD_INLINE void limited_with(const T* f, const double* y, Weight w, double slope,
                                 double intercept, double centre, double low, double high,
                                 int64_t n, double* out) {
  double a = 0, b = 0, c = 0, d = 0, e = 0, g = 0;
  SYMGRAD_SIMD_SUM(a, b, c, d, e, g)
  for (int64_t i = 0; i < n; ++i) {
    const double p = intercept + slope * double(f[i]), v = double(f[i]) - centre, r = y[i] - p;
    const double wi = w(i) * counts(y[i], p, low, high), wv = wi * v, wr = wi * r;
    a += wi, b += wv, c += wv * v, d += wr, e += wr * v, g += wr * r;
  }
  out[0] += a, out[1] += b, out[2] += c, out[3] += d, out[4] += e, out[5] += g;
}

template <class T>
void limited(const T* f, const double* y, const double* w, double slope, double intercept,
             double centre, double low, double high, int64_t n, double* out) {
  if (w)
    limited_with(
        f, y, [w](int64_t i) SYMGRAD_LAMBDA { return w[i]; }, slope, intercept, centre, low, high,
        n, out);
  else
    limited_with(
        f, y, [](int64_t) SYMGRAD_LAMBDA { return 1.0; }, slope, intercept, centre, low, high, n,
        out);
}

template <class T>
void fill_rows(RowKernels<T>* k) {
  *k = {softmax<T>, softmax_step<T>, add_scaled<T>, scaled<T>, dot<T>,
        unmix<T>,   scan<T>,         dots<T>,       line<T>,   split<T>,
        centred<T>, less_mean<T>,    residuals<T>,  limited<T>};
}

template void fill_rows<float>(RowKernels<float>*);
template void fill_rows<double>(RowKernels<double>*);

}  // namespace SYMGRAD_ISA
}  // namespace symgrad
