// Random streams by counter: a stream is a seed and an index, so tree i draws the same numbers
// whichever thread makes it.
#pragma once

#include <cmath>
#include <cstdint>

namespace symgrad {

class Rng {
 public:
  Rng(uint64_t seed, uint64_t stream) : state_(mix(seed + mix(stream ^ 0x6a09e667f3bcc909u))) {}

  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  double uniform() { return double(next() >> 11) * 0x1.0p-53; }  // [0, 1)
  // Uniform in [0, n); the bias of the multiplication is below n / 2^32.
  uint32_t below(uint32_t n) { return uint32_t((uint64_t(uint32_t(next() >> 32)) * n) >> 32); }
  double normal() {
    const double u = 1.0 - uniform(), v = uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

 private:
  static uint64_t mix(uint64_t z) {  // SplitMix64 (Steele, Lea, Flood 2014)
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

}  // namespace symgrad
