// Chooses the kernels for the machine at hand, once.
#include <cstdlib>
#include <cstring>
#include <limits>

#include "kernels.hpp"
#include "rows.hpp"

namespace symgrad {

const Bounds<float> float_bounds = {-105.0f, 90.0f, std::numeric_limits<float>::min(),
                                    std::numeric_limits<float>::infinity()};
const Bounds<double> double_bounds = {-746.0, 710.0, std::numeric_limits<double>::min(),
                                      std::numeric_limits<double>::infinity()};

#define SYMGRAD_DECLARE(isa)      \
  namespace isa {                 \
  template <class T>              \
  void fill(Kernels<T>*);         \
  template <class T>              \
  void fill_rows(RowKernels<T>*); \
  }
SYMGRAD_DECLARE(baseline)
#ifdef SYMGRAD_HAS_AVX2
SYMGRAD_DECLARE(avx2)
SYMGRAD_DECLARE(avx512)
#endif

#ifdef SYMGRAD_HAS_AVX2
// 0 for the baseline, 1 for AVX2, 2 for AVX-512. SYMGRAD_ISA in the environment lowers the choice,
// for tests and comparisons.
static int level() {
  const char* limit = std::getenv("SYMGRAD_ISA");
  const int most = limit && !std::strcmp(limit, "baseline") ? 0
                   : limit && !std::strcmp(limit, "avx2")   ? 1
                                                            : 2;
  __builtin_cpu_init();
  if (most == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return 2;
  if (most >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 1;
  return 0;
}

#define SYMGRAD_CHOOSE(function, target) \
  switch (level()) {                     \
    case 2:                              \
      avx512::function(target);          \
      break;                             \
    case 1:                              \
      avx2::function(target);            \
      break;                             \
    default:                             \
      baseline::function(target);        \
  }
#else
#define SYMGRAD_CHOOSE(function, target) baseline::function(target);
#endif

template <class T>
const Kernels<T>& kernels() {
  static const Kernels<T> chosen = [] {
    Kernels<T> k{};
    SYMGRAD_CHOOSE(fill, &k)
    return k;
  }();
  return chosen;
}

template <class T>
const RowKernels<T>& row_kernels() {
  static const RowKernels<T> chosen = [] {
    RowKernels<T> k{};
    SYMGRAD_CHOOSE(fill_rows, &k)
    return k;
  }();
  return chosen;
}

template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();
template const RowKernels<float>& row_kernels<float>();
template const RowKernels<double>& row_kernels<double>();

}  // namespace symgrad
