// Scalar functions the kernels are made of, written without branches so that the compiler turns a
// loop over them into vector code on any machine. Accurate to a few units in the last place; NaN,
// infinities, zeros and subnormal numbers come out as in the C library.
//
// Method: reduce the argument exactly to where a short polynomial suffices (Cody and Waite, 1980).
// The coefficients interpolate the function at Chebyshev nodes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels.hpp"

#if defined(_MSC_VER)
#define SYMGRAD_INLINE __forceinline
#define SYMGRAD_LAMBDA
#define SYMGRAD_SIMD
#define SYMGRAD_SIMD_SUM(...)
#define SYMGRAD_SIMD_MAX(...)
#define SYMGRAD_SIMD_OR(...)
#define SYMGRAD_ASK(address) ((void)(address))
#else
#define SYMGRAD_INLINE inline __attribute__((always_inline))
#define SYMGRAD_LAMBDA __attribute__((always_inline))
#define SYMGRAD_PRAGMA(text) _Pragma(#text)
#define SYMGRAD_SIMD SYMGRAD_PRAGMA(omp simd)
#define SYMGRAD_SIMD_SUM(...) SYMGRAD_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define SYMGRAD_SIMD_MAX(...) SYMGRAD_PRAGMA(omp simd reduction(max : __VA_ARGS__))
#define SYMGRAD_SIMD_OR(...) SYMGRAD_PRAGMA(omp simd reduction(| : __VA_ARGS__))
#define SYMGRAD_ASK(address) __builtin_prefetch(address, 0, 2)  // into the second cache
#endif

namespace symgrad {

namespace SYMGRAD_ISA {

// Angles up to these are reduced exactly enough in float and in double arithmetic.
constexpr double kFloatAngle = 1e4, kDoubleAngle = 1e6;

template <class To, class From>
SYMGRAD_INLINE To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

// Nearest integer for |a| < 2^51 (2^22): adding this leaves no room for a fraction.
SYMGRAD_INLINE double nearest(double a) { return (a + 6755399441055744.0) - 6755399441055744.0; }
SYMGRAD_INLINE float nearest(float a) { return (a + 12582912.0f) - 12582912.0f; }

// sin(r) for |r| <= pi/2.
SYMGRAD_INLINE float sin_series(float r) {
  const float s = r * r;
  float p = -2.408009508712208e-08f;
  p = p * s + 2.753645944364609e-06f;
  p = p * s - 0.0001984108650700057f;
  p = p * s + 0.008333332768529359f;
  p = p * s - 0.1666666666387985f;
  return r + r * s * p;
}
SYMGRAD_INLINE double sin_series(double r) {
  const double s = r * r;
  double p = -8.006048703469621e-18;
  p = p * s + 2.810468581681568e-15;
  p = p * s - 7.647139114646649e-13;
  p = p * s + 1.605904347927675e-10;
  p = p * s - 2.5052108382389887e-08;
  p = p * s + 2.7557319223971256e-06;
  p = p * s - 0.00019841269841269806;
  p = p * s + 0.008333333333333333;
  p = p * s - 0.16666666666666666;
  return r + r * s * p;
}

// a - n*pi, with pi in pieces so short that their products with n are exact.
SYMGRAD_INLINE float without_turns(float a, float n) {
  const float r = (a - n * 3.140625f) - n * 0.0009675025939941406f;
  return (r - n * 1.5099067240953445e-07f) - n * 5.126688303189038e-12f;
}
SYMGRAD_INLINE double without_turns(double a, double n) {
  const double r = a - n * 3.1415926534682512;
  return (r - n * 1.2154201012607932e-10) - n * 4.044532497591901e-21;
}

// sin(r + n*pi) = (-1)^n sin(r); the parity of n is the lowest bit of n plus the rounding constant.
SYMGRAD_INLINE float with_parity(float v, float n) {
  return bits<float>(bits<int32_t>(v) ^ int32_t(bits<uint32_t>(n + 12582912.0f) << 31));
}
SYMGRAD_INLINE double with_parity(double v, double n) {
  return bits<double>(bits<int64_t>(v) ^ int64_t(bits<uint64_t>(n + 6755399441055744.0) << 63));
}

template <class T>
SYMGRAD_INLINE T fast_sin(T a) {
  const T n = nearest(a * T(0.31830988618379067));
  return with_parity(sin_series(without_turns(a, n)), n);
}
template <class T>
SYMGRAD_INLINE T fast_cos(T a) {
  const T n = nearest(a * T(0.31830988618379067) - T(0.5));
  return with_parity(sin_series(without_turns(a, n + T(0.5))), n + T(1));
}

// exp(r) for |r| <= ln(2)/2.
SYMGRAD_INLINE float exp_series(float r) {
  float p = 0.0013926183587713494f;
  p = p * r + 0.008363179052722578f;
  p = p * r + 0.041666554617204574f;
  p = p * r + 0.16666576989698775f;
  p = p * r + 0.5f;
  return 1.0f + (r + r * r * p);
}
SYMGRAD_INLINE double exp_series(double r) {
  double p = 2.510038549551032e-08;
  p = p * r + 2.7620088445409746e-07;
  p = p * r + 2.7557268459997064e-06;
  p = p * r + 2.4801521295954376e-05;
  p = p * r + 0.00019841269863053618;
  p = p * r + 0.0013888888917213717;
  p = p * r + 0.008333333333330062;
  p = p * r + 0.04166666666662413;
  p = p * r + 0.16666666666666669;
  p = p * r + 0.5000000000000001;
  return 1.0 + (r + r * r * p);
}

// The comparisons let NaN through.
template <class T>
SYMGRAD_INLINE T clamp(T a, T low, T high) {
  const T upper = high < a ? high : a;
  return low > upper ? low : upper;
}

// The integer n is read off the low bits of n plus the rounding constant. The power of two comes in
// two factors, so that results reach down to the subnormal numbers and up to infinity.
SYMGRAD_INLINE float fast_exp(float a) {
  const float x = clamp(a, float_bounds.exp_low, float_bounds.exp_high), round = 12582912.0f;
  const float t = x * 1.44269504f + round, n = t - round;
  const float r = (x - n * 0.693145752f) - n * 1.42860682e-6f;
  const uint32_t whole = bits<uint32_t>(t) - bits<uint32_t>(round);
  const uint32_t half = uint32_t(int32_t(whole) >> 1);
  return exp_series(r) * bits<float>((half + 127) << 23) * bits<float>((whole - half + 127) << 23);
}
SYMGRAD_INLINE double fast_exp(double a) {
  const double x = clamp(a, double_bounds.exp_low, double_bounds.exp_high);
  const double round = 6755399441055744.0;
  const double t = x * 1.4426950408889634 + round, n = t - round;
  const double r = (x - n * 0.69314718036912382) - n * 1.9082149292705877e-10;
  const uint64_t whole = bits<uint64_t>(t) - bits<uint64_t>(round);
  const uint64_t half = bits<uint64_t>(n * 0.5 + round) - bits<uint64_t>(round);
  return exp_series(r) * bits<double>((half + 1023) << 52) *
         bits<double>((whole - half + 1023) << 52);
}

// log(m) = 2 atanh((m-1)/(m+1)) on sqrt(1/2) .. sqrt(2).
SYMGRAD_INLINE float log_series(float m) {
  const float f = m - 1.0f, s = f / (2.0f + f), z = s * s;
  float p = 0.29580985929974424f;
  p = p * z + 0.39988757716604845f;
  p = p * z + 0.6666668509542907f;
  return f - s * (f - z * p);  // 2*s would have lost a bit to rounding
}
SYMGRAD_INLINE double log_series(double m) {
  const double f = m - 1.0, s = f / (2.0 + f), z = s * s;
  double p = 0.14617807153417325;
  p = p * z + 0.15331611722055008;
  p = p * z + 0.1818289243253687;
  p = p * z + 0.22222211089379496;
  p = p * z + 0.28571428626253836;
  p = p * z + 0.3999999999989889;
  p = p * z + 0.666666666666667;
  return f - s * (f - z * p);
}

// The argument is m * 2^n with m from sqrt(1/2) to sqrt(2).
SYMGRAD_INLINE float fast_log(float a) {
  const float tiny = float_bounds.tiny, inf = float_bounds.infinity;
  const float x = a < tiny ? a * 8388608.0f : a;
  const float extra = a < tiny ? -23.0f : 0.0f;
  const int32_t i = int32_t(bits<uint32_t>(x) - 0x3f3504f3u);  // sqrt(1/2)
  const int32_t e = i >> 23;
  const float m = bits<float>(bits<uint32_t>(x) - (uint32_t(e) << 23));
  const float n = float(e) + extra;
  const float y = (log_series(m) + n * 1.42860682e-6f) + n * 0.693145752f;
  const float top = a < inf ? y : a;
  const float low = a < 0.0f ? inf - inf : a - inf;  // NaN, or -inf at zero
  return a > 0.0f ? top : low;
}
SYMGRAD_INLINE double fast_log(double a) {
  const double tiny = double_bounds.tiny, inf = double_bounds.infinity;
  const double x = a < tiny ? a * 4503599627370496.0 : a;
  const double extra = a < tiny ? -52.0 : 0.0;
  const uint64_t i = bits<uint64_t>(x) - 0x3fe6a09e667f3bcdu;
  // The exponent by way of an offset that keeps it positive: vectors have no arithmetic shift.
  const uint64_t e = (i + (uint64_t(2048) << 52)) >> 52;
  const double m = bits<double>(bits<uint64_t>(x) - ((e - 2048) << 52));
  const double n = (bits<double>(e | 0x4330000000000000u) - (4503599627370496.0 + 2048.0)) + extra;
  const double y = (log_series(m) + n * 1.9082149292705877e-10) + n * 0.69314718036912382;
  const double top = a < inf ? y : a;
  const double low = a < 0.0 ? inf - inf : a - inf;
  return a > 0.0 ? top : low;
}

// By way of double, with the sign and the special cases of the C library.
SYMGRAD_INLINE float fast_pow(float base, float exponent) {
  const double a = base, y = exponent, x = a < 0 ? -a : a, size = y < 0 ? -y : y;
  const double power = fast_exp(y * fast_log(x));
  const double base_one = x == 1 ? 1.0 : power, one = y == 0 ? 1.0 : base_one;
  const double half = y * 0.5, nan = bits<double>(int64_t(0x7ff8000000000000));
  const double fraction = size < 8388608.0 ? y - nearest(y) : 0.0;
  const double odd = size < 16777216.0 ? half - nearest(half) : 0.0;  // 1/2 for odd numbers
  const double turned = odd * odd == 0.25 ? -one : one;
  const double strict = fraction == 0 ? turned : nan;
  const double negative = a < 0 ? strict : turned;
  return float(a + 1.0 / a < 0 ? negative : one);  // also for negative zero
}
SYMGRAD_INLINE double fast_pow(double a, double b) { return ::pow(a, b); }

// Where kernels take sine and cosine from, by the largest angle at hand.
struct Fast {  // up to kFloatAngle or kDoubleAngle
  template <class T>
  static SYMGRAD_INLINE T sin(T a) {
    return fast_sin(a);
  }
  template <class T>
  static SYMGRAD_INLINE T cos(T a) {
    return fast_cos(a);
  }
};
struct Wide {  // up to kDoubleAngle
  template <class T>
  static SYMGRAD_INLINE T sin(T a) {
    return T(fast_sin(double(a)));
  }
  template <class T>
  static SYMGRAD_INLINE T cos(T a) {
    return T(fast_cos(double(a)));
  }
};
struct Library {
  static SYMGRAD_INLINE float sin(float a) { return ::sinf(a); }
  static SYMGRAD_INLINE float cos(float a) { return ::cosf(a); }
  static SYMGRAD_INLINE double sin(double a) { return ::sin(a); }
  static SYMGRAD_INLINE double cos(double a) { return ::cos(a); }
};

#define SYMGRAD_LIBM(name)                                        \
  SYMGRAD_INLINE float m_##name(float a) { return ::name##f(a); } \
  SYMGRAD_INLINE double m_##name(double a) { return ::name(a); }
SYMGRAD_LIBM(sqrt)
SYMGRAD_LIBM(asin)
SYMGRAD_LIBM(acos)
SYMGRAD_LIBM(atan)
SYMGRAD_LIBM(sinh)
SYMGRAD_LIBM(cosh)
#undef SYMGRAD_LIBM

template <class T>
SYMGRAD_INLINE T m_exp(T a) {
  return fast_exp(a);
}
template <class T>
SYMGRAD_INLINE T m_log(T a) {
  return fast_log(a);
}
template <class T>
SYMGRAD_INLINE T m_pow(T a, T b) {
  return fast_pow(a, b);
}
template <class T>
SYMGRAD_INLINE T m_abs(T a) {
  return a < T(0) ? -a : (a == T(0) ? T(0) : a);
}
template <class T>
SYMGRAD_INLINE T sign(T a) {
  return a > T(0) ? T(1) : (a < T(0) ? T(-1) : a);
}

// Comparisons are written so that NaN comes through from either side.
template <class T>
SYMGRAD_INLINE T lesser(T a, T b) {
  return (a < b || a != a) ? a : b;
}
template <class T>
SYMGRAD_INLINE T greater(T a, T b) {
  return (a > b || a != a) ? a : b;
}

// A rational function near zero, where the exponential form would cancel.
template <class T>
SYMGRAD_INLINE T m_tanh(T a) {
  const T s = a * a;
  const T p = a * (T(135135) + s * (T(17325) + s * (T(378) + s)));
  const T q = T(135135) + s * (T(62370) + s * (T(3150) + s * T(28)));
  const T e = m_exp(T(-2) * m_abs(a));
  const T far = (T(1) - e) / (T(1) + e);
  return s < T(0.0625) ? p / q : (a < T(0) ? -far : far);
}

template <class T>
constexpr T kEps = T(1e-4);
template <class T>
constexpr T kCap = T(10);
template <class T>
constexpr T kSteepest = T(22026.465794806718);  // exp(kCap)

template <class T>
SYMGRAD_INLINE T bump(T a) {
  return a * a + kEps<T>;
}
template <class T>
SYMGRAD_INLINE T smooth_exp_slope(T a) {
  return m_exp(lesser(a, kCap<T>));
}
template <class T>
SYMGRAD_INLINE T smooth_exp(T a) {
  return smooth_exp_slope(a) * (T(1) + greater(a - kCap<T>, T(0)));
}
template <class T>
SYMGRAD_INLINE T smooth_log(T a) {
  return T(0.5) * m_log(bump(a));
}
template <class T>
SYMGRAD_INLINE T smooth_tan_slope(T s, T c) {
  const T q = bump(c);
  return ((c * c - s * s) * q + T(2) * s * s * c * c) / (q * q);
}
template <class T>
SYMGRAD_INLINE T smooth_asin(T a) {
  return m_atan(a / m_sqrt(greater(T(1) - a * a, T(0)) + kEps<T>));
}
template <class T>
SYMGRAD_INLINE T smooth_asin_slope(T a) {
  const T q = greater(T(1) - a * a, T(0)) + kEps<T>;
  const T s = m_sqrt(q);
  const T du = T(1) / s + (a * a < T(1) ? a * a / (q * s) : T(0));
  return du * (q / (q + a * a));
}

}  // namespace SYMGRAD_ISA
}  // namespace symgrad
