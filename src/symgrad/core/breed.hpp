// Genetic operators: tournament selection, one-point crossover, uniform mutation.
#pragma once

#include "forest.hpp"
#include "generate.hpp"

namespace symgrad {

struct BreedOptions {
  double crossover = 0.5, mutation = 0.5;
  int tournament = 3;
  int mutation_min_depth = 0, mutation_max_depth = 2;  // of the new subtrees
  int max_depth = 17, max_size = 100;
  uint64_t seed = 0;
};

struct Brood {
  Postorder trees;
  std::vector<int64_t> parent;   // the first parent of each
  std::vector<uint8_t> changed;  // whether it may differ from that parent
};

// Offspring i depends on the seed and on i only. Each is a tournament's winner, crossed with
// another one's and then mutated, each with its probability; an offspring beyond the limits is
// replaced by what it was made from.
Brood breed(const Forest& forest, const double* loss, int64_t offspring, const Sprout& sprout,
            const BreedOptions& options);

}  // namespace symgrad
