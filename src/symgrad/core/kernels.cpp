#include "kernels.hpp"

#include "math.hpp"

// One object file of these per instruction set, each in a namespace of its own. Nothing here may
// use the standard library's templates: the linker could keep the AVX version for every machine.
namespace symgrad {
namespace SYMGRAD_ISA {

// One struct per primitive and form, made from the table's line.
#define UNARY(name, VALUE, DA) UNARY_SMOOTH(name, VALUE, DA, VALUE, DA)
#define BINARY(name, VALUE, DA, DB) BINARY_SMOOTH(name, VALUE, DA, DB, VALUE, DA, DB)
#define UNARY_SMOOTH(name, VALUE, DA, SMOOTH, SDA) \
  UNARY_FORM(name##_exact, VALUE, DA)              \
  UNARY_FORM(name##_smooth, SMOOTH, SDA)
#define BINARY_SMOOTH(name, VALUE, DA, DB, SMOOTH, SDA, SDB) \
  BINARY_FORM(name##_exact, VALUE, DA, DB)                   \
  BINARY_FORM(name##_smooth, SMOOTH, SDA, SDB)
#define UNARY_FORM(name, VALUE, DA)           \
  struct name {                               \
    template <class M, class T>               \
    static SYMGRAD_INLINE T value(T a) {      \
      return VALUE;                           \
    }                                         \
    template <class M, class T>               \
    static SYMGRAD_INLINE T slope(T a, T v) { \
      (void)a, (void)v;                       \
      return DA;                              \
    }                                         \
  };
#define BINARY_FORM(name, VALUE, DA, DB)           \
  struct name {                                    \
    template <class T>                             \
    static SYMGRAD_INLINE T value(T a, T b) {      \
      return VALUE;                                \
    }                                              \
    template <class T>                             \
    static SYMGRAD_INLINE T left(T a, T b, T v) {  \
      (void)a, (void)b, (void)v;                   \
      return DA;                                   \
    }                                              \
    template <class T>                             \
    static SYMGRAD_INLINE T right(T a, T b, T v) { \
      (void)a, (void)b, (void)v;                   \
      return DB;                                   \
    }                                              \
  };
#include "primitives.inc"
#undef UNARY
#undef UNARY_SMOOTH
#undef BINARY
#undef BINARY_SMOOTH

// The primitives that use M.
template <class Op>
constexpr bool kTrigonometric = false;
#define TRIGONOMETRIC(name)                           \
  template <>                                         \
  constexpr bool kTrigonometric<name##_exact> = true; \
  template <>                                         \
  constexpr bool kTrigonometric<name##_smooth> = true;
TRIGONOMETRIC(sin)
TRIGONOMETRIC(cos)
TRIGONOMETRIC(tan)

template <class T>
constexpr T kFastAngle = T(sizeof(T) == 4 ? kFloatAngle : kDoubleAngle);

template <class T>
SYMGRAD_INLINE T largest_angle(const T* a, int n) {
  T largest = 0;
  SYMGRAD_SIMD_MAX(largest)
  for (int i = 0; i < n; ++i) {
    const T size = a[i] < T(0) ? -a[i] : a[i];
    const T finite = size - size == T(0) ? size : T(0);
    largest = finite > largest ? finite : largest;
  }
  return largest;
}

// Calls f(i) for all i below n, a line of the cache at a time, and asks for one that lies ahead.
template <class T, class F>
SYMGRAD_INLINE void by_lines(int n, const T* ahead, F f) {
  constexpr int kLine = 64 / int(sizeof(T));
  for (int first = 0; first < n; first += kLine) {
    SYMGRAD_ASK(ahead + first);
    SYMGRAD_SIMD
    for (int i = first; i < first + kLine; ++i) f(i);
  }
  SYMGRAD_ASK(ahead + n - 1);  // a line more, if the first one was shared with what is before
}

template <class T, class Op, class M>
SYMGRAD_INLINE void unary_with(const T* a, T* out, int n, const T* ahead) {
  by_lines(n, ahead, [=](int i) SYMGRAD_LAMBDA { out[i] = Op::template value<M, T>(a[i]); });
}

template <class T, class Op, class M>
SYMGRAD_INLINE void unary_backward_with(const T* a, const T* v, const T* g, T* ga, int n) {
  SYMGRAD_SIMD
  for (int i = 0; i < n; ++i) ga[i] += g[i] * Op::template slope<M, T>(a[i], v[i]);
}

// Whether a closer look is due; NaN is no angle.
template <class T>
SYMGRAD_INLINE bool any_above(const T* a, int n, T bound) {
  int found = 0;
  SYMGRAD_SIMD_OR(found)
  for (int i = 0; i < n; ++i) found |= (a[i] < T(0) ? -a[i] : a[i]) > bound;
  return found != 0;
}

template <class T>
SYMGRAD_INLINE bool beyond(T a) {
  return (a < T(0) ? -a : a) > T(kDoubleAngle);
}

template <class T, class Op>
void unary(const T* a, const T*, T* out, int n, const T* ahead) {
  if (!kTrigonometric<Op> || !any_above(a, n, kFastAngle<T>))
    return unary_with<T, Op, Fast>(a, out, n, ahead);
  const T angle = largest_angle(a, n);
  T result[kBlock];  // out may be a, which is looked at once more
  unary_with<T, Op, Wide>(a, result, n, ahead);
  if (angle > T(kDoubleAngle))
    for (int i = 0; i < n; ++i)
      if (beyond(a[i])) result[i] = Op::template value<Library, T>(a[i]);
  std::memcpy(out, result, size_t(n) * sizeof(T));
}

template <class T, class Op>
void unary_backward(const T* a, const T*, const T* v, const T* g, T* ga, T*, int n) {
  if (!kTrigonometric<Op> || !any_above(a, n, kFastAngle<T>))
    return unary_backward_with<T, Op, Fast>(a, v, g, ga, n);
  const T angle = largest_angle(a, n);
  if (angle <= T(kDoubleAngle)) return unary_backward_with<T, Op, Wide>(a, v, g, ga, n);
  unary_backward_with<T, Op, Library>(a, v, g, ga, n);
}

template <class T, class Op>
void binary(const T* a, const T* b, T* out, int n, const T* ahead) {
  by_lines(n, ahead, [=](int i) SYMGRAD_LAMBDA { out[i] = Op::value(a[i], b[i]); });
}

template <class T, class Op>
void binary_left(const T* a, const T* b, T* out, int n, const T* ahead) {
  const T c = a[0];
  by_lines(n, ahead, [=](int i) SYMGRAD_LAMBDA { out[i] = Op::value(c, b[i]); });
}

template <class T, class Op>
void binary_right(const T* a, const T* b, T* out, int n, const T* ahead) {
  const T c = b[0];
  by_lines(n, ahead, [=](int i) SYMGRAD_LAMBDA { out[i] = Op::value(a[i], c); });
}

// ga and gb may be the same buffer (both arguments the same value), so they are added in turn.
template <class T, class Op>
void binary_backward(const T* a, const T* b, const T* v, const T* g, T* ga, T* gb, int n) {
  SYMGRAD_SIMD
  for (int i = 0; i < n; ++i) ga[i] += g[i] * Op::left(a[i], b[i], v[i]);
  SYMGRAD_SIMD
  for (int i = 0; i < n; ++i) gb[i] += g[i] * Op::right(a[i], b[i], v[i]);
}

template <class T, class Op>
void mix_unary(const T* a, const T*, T w, T* v, T* out, int n) {
  if (kTrigonometric<Op> && any_above(a, n, kFastAngle<T>)) {
    unary<T, Op>(a, nullptr, v, n, v);
    SYMGRAD_SIMD
    for (int i = 0; i < n; ++i) out[i] += w * v[i];
    return;
  }
  SYMGRAD_SIMD
  for (int i = 0; i < n; ++i) {
    const T x = Op::template value<Fast, T>(a[i]);
    v[i] = x;
    out[i] += w * x;
  }
}

template <class T, class Op>
double unmix_unary(const T* a, const T*, const T* v, const T* g, T w, T* ga, T*, int n) {
  T sum = 0;
  if (kTrigonometric<Op> && any_above(a, n, kFastAngle<T>)) {
    T weighted[kMaxBatch];
    SYMGRAD_SIMD_SUM(sum)
    for (int i = 0; i < n; ++i) {
      sum += g[i] * v[i];
      weighted[i] = w * g[i];
    }
    unary_backward<T, Op>(a, nullptr, v, weighted, ga, nullptr, n);
    return double(sum);
  }
  SYMGRAD_SIMD_SUM(sum)
  for (int i = 0; i < n; ++i) {
    sum += g[i] * v[i];
    ga[i] += w * g[i] * Op::template slope<Fast, T>(a[i], v[i]);
  }
  return double(sum);
}

template <class T, class Op>
void mix_binary(const T* a, const T* b, T w, T* v, T* out, int n) {
  SYMGRAD_SIMD
  for (int i = 0; i < n; ++i) {
    const T x = Op::value(a[i], b[i]);
    v[i] = x;
    out[i] += w * x;
  }
}

template <class T, class Op>
double unmix_binary(const T* a, const T* b, const T* v, const T* g, T w, T* ga, T* gb, int n) {
  T sum = 0;
  SYMGRAD_SIMD_SUM(sum)
  for (int i = 0; i < n; ++i) {
    const T weighted = w * g[i];
    sum += g[i] * v[i];
    ga[i] += weighted * Op::left(a[i], b[i], v[i]);
    gb[i] += weighted * Op::right(a[i], b[i], v[i]);
  }
  return double(sum);
}

template <class T>
bool block_moments(const T* f, const double* y, const double* w, int n, Moments* out) {
  double sw = 0, sf = 0, sy = 0;
  if (w) {
    SYMGRAD_SIMD_SUM(sw, sf, sy)
    for (int i = 0; i < n; ++i) sw += w[i], sf += w[i] * double(f[i]), sy += w[i] * y[i];
  } else {
    SYMGRAD_SIMD_SUM(sf, sy)
    for (int i = 0; i < n; ++i) sf += double(f[i]), sy += y[i];
    sw = n;
  }
  double check = 0;  // NaN if any row is not finite, also a row of weight 0
  SYMGRAD_SIMD_SUM(check)
  for (int i = 0; i < n; ++i) check += double(f[i] - f[i]);
  if (!(check == 0)) return false;
  Moments m;
  m.weight = sw;
  if (!(sw > 0)) {
    *out = m;
    return true;
  }
  const double mf = sf / sw, my = sy / sw;
  double ff = 0, yy = 0, fy = 0, rr = 0;
  if (w) {
    SYMGRAD_SIMD_SUM(ff, yy, fy, rr)
    for (int i = 0; i < n; ++i) {
      const double df = double(f[i]) - mf, dy = y[i] - my, r = y[i] - double(f[i]);
      ff += w[i] * df * df, yy += w[i] * dy * dy, fy += w[i] * df * dy, rr += w[i] * r * r;
    }
  } else {
    SYMGRAD_SIMD_SUM(ff, yy, fy, rr)
    for (int i = 0; i < n; ++i) {
      const double df = double(f[i]) - mf, dy = y[i] - my, r = y[i] - double(f[i]);
      ff += df * df, yy += dy * dy, fy += df * dy, rr += r * r;
    }
  }
  m.mean_f = mf, m.mean_y = my, m.m2_f = ff, m.m2_y = yy, m.c_fy = fy, m.squared_error = rr;
  *out = m;
  return true;
}

#define SYMGRAD_TEXT_(x) #x
#define SYMGRAD_TEXT(x) SYMGRAD_TEXT_(x)

template <class T>
void fill(Kernels<T>* k) {
#define UNARY(name, ...)                                      \
  k->map[0][k_##name] = {unary<T, name##_exact>};             \
  k->map[1][k_##name] = {unary<T, name##_smooth>};            \
  k->backward[0][k_##name] = unary_backward<T, name##_exact>; \
  k->mix[k_##name] = mix_unary<T, name##_smooth>;             \
  k->unmix[k_##name] = unmix_unary<T, name##_smooth>;         \
  k->backward[1][k_##name] = unary_backward<T, name##_smooth>;
#define BINARY(name, ...)                                          \
  k->map[0][k_##name] = {binary<T, name##_exact>};                 \
  k->map[1][k_##name] = {binary<T, name##_smooth>};                \
  k->scalar_left[0][k_##name] = {binary_left<T, name##_exact>};    \
  k->scalar_left[1][k_##name] = {binary_left<T, name##_smooth>};   \
  k->scalar_right[0][k_##name] = {binary_right<T, name##_exact>};  \
  k->scalar_right[1][k_##name] = {binary_right<T, name##_smooth>}; \
  k->backward[0][k_##name] = binary_backward<T, name##_exact>;     \
  k->mix[k_##name] = mix_binary<T, name##_smooth>;                 \
  k->unmix[k_##name] = unmix_binary<T, name##_smooth>;             \
  k->backward[1][k_##name] = binary_backward<T, name##_smooth>;
#define UNARY_SMOOTH UNARY
#define BINARY_SMOOTH BINARY
#include "primitives.inc"
  k->moments = block_moments<T>;
  k->isa = SYMGRAD_TEXT(SYMGRAD_ISA);
}

template void fill<float>(Kernels<float>*);
template void fill<double>(Kernels<double>*);

}  // namespace SYMGRAD_ISA
}  // namespace symgrad
