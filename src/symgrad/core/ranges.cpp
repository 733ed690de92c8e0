#include "ranges.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "kernels.hpp"

namespace symgrad {

namespace {

constexpr double kPi = 3.141592653589793, kLargest = 1e300;

struct Range {
  double low, high;
  bool holds(double x) const { return low <= x && x <= high; }
  // Whether x + k * period lies inside for a whole k.
  bool holds(double x, double period) const {
    return std::floor((high - x) / period) != std::floor((low - x) / period);
  }
};

template <class F>
Range corners(const Range& a, const Range& b, F f) {
  const double v[] = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
  return {*std::min_element(v, v + 4), *std::max_element(v, v + 4)};
}

// Of a function that falls to its least value at 0 and rises from there.
template <class F>
Range valley(const Range& a, F f) {
  const double left = f(a.low), right = f(a.high);
  return {a.holds(0) ? f(0.0) : std::min(left, right), std::max(left, right)};
}

// Of a sine or cosine with its greatest value at `top`.
template <class F>
Range wave(const Range& a, double top, F f) {
  if (!(a.high - a.low < 2 * kPi)) return {-1, 1};
  const double left = f(a.low), right = f(a.high);
  return {a.holds(top + kPi, 2 * kPi) ? -1 : std::min(left, right),
          a.holds(top, 2 * kPi) ? 1 : std::max(left, right)};
}

bool power(const Range& a, const Range& b, Range* out) {
  const auto pow = [](double x, double y) { return std::pow(x, y); };
  const double k = b.low;
  if (k != b.high || k != std::floor(k)) {
    if (a.low < 0 || (a.low == 0 && b.low < 0)) return false;
    *out = corners(a, b, pow);
    return true;
  }
  if (k < 0 && a.holds(0)) return false;
  if (k > 0 && std::fmod(k, 2) == 0) {
    *out = valley(a, [&](double x) { return std::pow(x, k); });
  } else {
    *out = corners(a, b, pow);
  }
  return true;
}

// False where the function may be undefined. `same` says that both arguments are one.
bool apply(int op, const Range& a, const Range& b, bool same, Range* out) {
  const auto square = [](double x) { return x * x; };
  switch (op) {
    case k_add:
      *out = {a.low + b.low, a.high + b.high};
      return true;
    case k_sub:
      *out = same ? Range{0, 0} : Range{a.low - b.high, a.high - b.low};
      return true;
    case k_mul:
      *out = same ? valley(a, square) : corners(a, b, [](double x, double y) { return x * y; });
      return true;
    case k_div:
      if (b.holds(0)) return false;
      *out = same ? Range{1, 1} : corners(a, b, [](double x, double y) { return x / y; });
      return true;
    case k_sin:
      *out = wave(a, kPi / 2, [](double x) { return std::sin(x); });
      return true;
    case k_cos:
      *out = wave(a, 0, [](double x) { return std::cos(x); });
      return true;
    case k_exp:
      *out = {std::exp(a.low), std::exp(a.high)};
      return true;
    case k_log:
      *out = {std::log(a.low), std::log(a.high)};
      return a.low > 0;
    case k_neg:
      *out = {-a.high, -a.low};
      return true;
    case k_inv:
      *out = {1 / a.high, 1 / a.low};
      return !a.holds(0);
    case k_square:
      *out = valley(a, square);
      return true;
    case k_cube:
      *out = {a.low * a.low * a.low, a.high * a.high * a.high};
      return true;
    case k_sqrt:
      *out = {std::sqrt(a.low), std::sqrt(a.high)};
      return a.low >= 0;
    case k_abs:
      *out = valley(a, [](double x) { return std::abs(x); });
      return true;
    case k_tanh:
      *out = {std::tanh(a.low), std::tanh(a.high)};
      return true;
    case k_sigmoid:
      *out = {1 / (1 + std::exp(-a.low)), 1 / (1 + std::exp(-a.high))};
      return true;
    case k_pow:
      return power(a, b, out);
    case k_min:
      *out = {std::min(a.low, b.low), std::min(a.high, b.high)};
      return true;
    case k_max:
      *out = {std::max(a.low, b.low), std::max(a.high, b.high)};
      return true;
    case k_tan:
      *out = {std::tan(a.low), std::tan(a.high)};
      return a.high - a.low < kPi && !a.holds(kPi / 2, kPi);
    case k_asin:
      *out = {std::asin(a.low), std::asin(a.high)};
      return a.low >= -1 && a.high <= 1;
    case k_acos:
      *out = {std::acos(a.high), std::acos(a.low)};
      return a.low >= -1 && a.high <= 1;
    case k_atan:
      *out = {std::atan(a.low), std::atan(a.high)};
      return true;
    case k_sinh:
      *out = {std::sinh(a.low), std::sinh(a.high)};
      return true;
    case k_cosh:
      *out = valley(a, [](double x) { return std::cosh(x); });
      return true;
  }
  return false;
}

// Variables are features, or the arguments of a composed primitive.
bool fold(const Forest& language, const Postfix& tree, const double* low, const double* high,
          Range* out) {
  std::vector<std::pair<Range, int64_t>> stack;  // and the first node of its subtree
  stack.reserve(size_t(tree.size));
  for (int64_t i = 0; i < tree.size; ++i) {
    const int32_t c = tree.code[i];
    if (c < 0) {
      const double v = tree.value[i];
      stack.push_back({c == kConstant ? Range{v, v} : Range{low[~c], high[~c]}, i});
      continue;
    }
    Range b{0, 0}, r{0, 0};
    int64_t second = i;
    if (language.arity(c) == 2) {
      std::tie(b, second) = stack.back();
      stack.pop_back();
    }
    const auto [a, first] = stack.back();
    const bool same = second - first == i - second &&
                      std::equal(tree.code + first, tree.code + second, tree.code + second) &&
                      std::equal(tree.value + first, tree.value + second, tree.value + second);
    if (c >= kFirstComposed) {
      const double lows[] = {a.low, b.low}, highs[] = {a.high, b.high};
      if (!fold(language, language.body(c), lows, highs, &r)) return false;
    } else if (!apply(c, a, b, same, &r)) {
      return false;
    }
    if (!(r.low >= -kLargest && r.high <= kLargest)) return false;
    stack.back().first = r;
  }
  *out = stack.back().first;
  return true;
}

}  // namespace

bool defined(const Forest& language, const Postfix& tree, const double* low, const double* high) {
  const auto risky = [](int32_t c) {
    return !(c < 0 || c == k_add || c == k_sub || c == k_mul || c == k_sin || c == k_cos);
  };
  if (std::none_of(tree.code, tree.code + tree.size, risky)) return true;
  Range all;
  return fold(language, tree, low, high, &all);
}

}  // namespace symgrad
