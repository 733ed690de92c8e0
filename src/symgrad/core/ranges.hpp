// Where the values of a tree lie when features lie in ranges: intervals, rounding left aside.
#pragma once

#include "genome.hpp"

namespace symgrad {

// Whether a tree is defined wherever feature j lies between low[j] and high[j], as far as
// intervals show: no pole, no logarithm of what may be negative.
bool defined(const Forest& language, const Postfix& tree, const double* low, const double* high);

}  // namespace symgrad
