// How long a formula is when it is written down in the user's units.
#pragma once

#include "forest.hpp"

namespace symgrad {

// What was done to the columns before the search.
struct Units {
  std::vector<double> scale;   // what each was divided by; empty if nothing was done
  std::vector<uint8_t> moved;  // whether something was taken off first

  bool cover(int64_t features) const {
    return scale.size() == moved.size() && (scale.empty() || int64_t(scale.size()) >= features);
  }
};

// Nodes of the formula with its outer line, as SymPy counts them: a sum or product is one node,
// however many terms or factors it has, a number before a sum stands before each of its terms,
// -x is a product with a number, and 1/x a power. Features come with the numbers of their units.
int64_t written_size(const Forest& language, const Postfix& tree, const Units& units);

}  // namespace symgrad
