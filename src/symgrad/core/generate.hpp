// Random trees.
#pragma once

#include "genome.hpp"
#include "rng.hpp"

namespace symgrad {

struct Sprout {
  std::vector<int32_t> functions;  // codes to draw from
  std::vector<int32_t> arities;
  int64_t features = 0;
  std::vector<double> cumulative;  // of the feature weights; empty for uniform
  double p_constant = 0, constant_scale = 1, p_leaf = 0;
  bool whole = false;  // constants are small whole numbers, which no one fits
};

struct Postorder {
  std::vector<int32_t> code;
  std::vector<double> value;
  std::vector<int64_t> offset;
};

// A random feature, by the weights.
int32_t random_feature(Rng& rng, const Sprout& sprout);

// Appends one random tree no deeper than `depth`.
void sprout_tree(Rng& rng, const Sprout& sprout, int depth, bool full, Genome* out);

// Tree i is full if full[i], and no deeper than depth[i]; a grown tree has leaves at any level
// below `min_depth` with probability p_leaf, whatever the number of features.
Postorder generate(const Sprout& sprout, uint64_t seed, const std::vector<int32_t>& depth,
                   const std::vector<uint8_t>& full, int min_depth);

}  // namespace symgrad
