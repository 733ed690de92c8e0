// Chooses the kernels for the machine at hand, once.
#include <cstdlib>
#include <cstring>
#include <limits>

#include "kernels.hpp"

namespace symgrad {

const Bounds<float> float_bounds = {-105.0f, 90.0f, std::numeric_limits<float>::min(),
                                    std::numeric_limits<float>::infinity()};
const Bounds<double> double_bounds = {-746.0, 710.0, std::numeric_limits<double>::min(),
                                      std::numeric_limits<double>::infinity()};

#define SYMGRAD_DECLARE(isa) \
  namespace isa {            \
  template <class T>         \
  void fill(Kernels<T>*);    \
  }
SYMGRAD_DECLARE(baseline)
#ifdef SYMGRAD_HAS_AVX2
SYMGRAD_DECLARE(avx2)
SYMGRAD_DECLARE(avx512)
#endif

template <class T>
static Kernels<T> choose() {
  Kernels<T> k{};
#ifdef SYMGRAD_HAS_AVX2
  // SYMGRAD_ISA in the environment lowers the choice, for tests and comparisons.
  const char* limit = std::getenv("SYMGRAD_ISA");
  const bool plain = limit && !std::strcmp(limit, "baseline");
  const bool no512 = limit && !std::strcmp(limit, "avx2");
  __builtin_cpu_init();
  if (!plain && !no512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    avx512::fill(&k);
    return k;
  }
  if (!plain && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    avx2::fill(&k);
    return k;
  }
#endif
  baseline::fill(&k);
  return k;
}

template <class T>
const Kernels<T>& kernels() {
  static const Kernels<T> k = choose<T>();
  return k;
}

template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

}  // namespace symgrad
