// Elementwise loops over blocks of rows, one per primitive, compiled once per instruction set.
#pragma once

namespace symgrad {

enum Primitive : int {
#define UNARY(name, ...) k_##name,
#define UNARY_SMOOTH(name, ...) k_##name,
#define BINARY(name, ...) k_##name,
#define BINARY_SMOOTH(name, ...) k_##name,
#include "primitives.inc"
#undef UNARY
#undef UNARY_SMOOTH
#undef BINARY
#undef BINARY_SMOOTH
  kPrimitives
};

struct PrimitiveInfo {
  const char* name;
  int arity;
};

inline const PrimitiveInfo* primitive_table() {
  static const PrimitiveInfo table[] = {
#define UNARY(name, ...) {#name, 1},
#define UNARY_SMOOTH(name, ...) {#name, 1},
#define BINARY(name, ...) {#name, 2},
#define BINARY_SMOOTH(name, ...) {#name, 2},
#include "primitives.inc"
#undef UNARY
#undef UNARY_SMOOTH
#undef BINARY
#undef BINARY_SMOOTH
  };
  return table;
}

// Bounds on arguments: where exp is 0 or infinite, and the smallest normal number. Defined in
// another file: if the compiler knew the numbers it would split loops into cases and mix them
// again, where a plain minimum, maximum or choice does.
template <class T>
struct Bounds {
  T exp_low, exp_high, tiny, infinity;
};
extern const Bounds<float> float_bounds;
extern const Bounds<double> double_bounds;

// Kernels always work on whole vectors: n is a multiple of this, buffers are padded to it, so a
// row's value does not depend on where in the table it stands.
constexpr int kVector = 16;
constexpr int kBlock = 1024;  // rows that are worked on at a time
// Distance of registers: blocks a power of two apart would compete for the same lines of the cache.
constexpr int kStride = kBlock + 3 * kVector;
// The same for training, which keeps many more of them.
constexpr int kMaxBatch = 512;
constexpr int kRowStride = kMaxBatch + 3 * kVector;

// A tree that varies by less, squared and relative to its mean, varies by rounding alone.
template <class T>
constexpr double kRounding = sizeof(T) == 4 ? 1e-12 : 1e-24;

// Sums of a block about its own means; blocks are merged in a fixed order.
struct Moments {
  double weight = 0, mean_f = 0, mean_y = 0, m2_f = 0, m2_y = 0, c_fy = 0, squared_error = 0;

  void merge(const Moments& o) {
    const double total = weight + o.weight;
    if (!(total > 0)) return;
    const double df = o.mean_f - mean_f, dy = o.mean_y - mean_y;
    const double share = o.weight / total, cross = weight * share;
    m2_f += o.m2_f + df * df * cross;
    m2_y += o.m2_y + dy * dy * cross;
    c_fy += o.c_fy + df * dy * cross;
    mean_f += df * share;
    mean_y += dy * share;
    squared_error += o.squared_error;
    weight = total;
  }
};

template <class T>
struct Kernels {
  // out = f(a, b). On the way it asks for `ahead`, n numbers that are wanted soon, line by line:
  // memory is far away, and asked for all at once it would keep the loop waiting.
  struct Map {
    void (*f)(const T* a, const T* b, T* out, int n, const T* ahead);
    void operator()(const T* a, const T* b, T* out, int n) const { f(a, b, out, n, out); }
  };
  using Backward = void (*)(const T* a, const T* b, const T* v, const T* g, T* ga, T* gb, int n);
  // The first index is 1 for the smooth closures.
  Map map[2][kPrimitives];           // both arguments are rows
  Map scalar_left[2][kPrimitives];   // a[0] for every row
  Map scalar_right[2][kPrimitives];  // b[0] for every row
  Backward backward[2][kPrimitives];
  // For training, smooth closures, in one loop each: v = f(a, b), out += w * v; and backward from
  // g, the derivative by out: ga += w * g * df/da, gb likewise, returning the sum of g * v, which
  // is the derivative by w. ga and gb must not be the same.
  void (*mix[kPrimitives])(const T* a, const T* b, T w, T* v, T* out, int n);
  double (*unmix[kPrimitives])(const T* a, const T* b, const T* v, const T* g, T w, T* ga, T* gb,
                               int n);
  // False if a prediction is not finite (then `out` is not filled).
  bool (*moments)(const T* f, const double* y, const double* w, int n, Moments* out);
  const char* isa;
};

template <class T>
const Kernels<T>& kernels();

}  // namespace symgrad
