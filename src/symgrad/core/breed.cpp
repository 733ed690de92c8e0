#include "breed.hpp"

#include <algorithm>

#include "genome.hpp"
#include "rng.hpp"

namespace symgrad {

namespace {

int64_t tournament(Rng& rng, const double* loss, int64_t n, int size) {
  int64_t best = rng.below(uint32_t(n));
  for (int k = 1; k < size; ++k) {
    const int64_t other = rng.below(uint32_t(n));
    if (loss[other] < loss[best]) best = other;
  }
  return best;
}

}  // namespace

Brood breed(const Forest& forest, const double* loss, int64_t offspring, const Sprout& sprout,
            const BreedOptions& o) {
  Brood brood;
  brood.trees.offset.push_back(0);
  auto fits = [&](const Genome& t) {
    return int64_t(t.code.size()) <= o.max_size && depth_of(forest, t.code) <= o.max_depth;
  };
  for (int64_t i = 0; i < offspring; ++i) {
    Rng rng(o.seed, uint64_t(i));
    const int64_t mother = tournament(rng, loss, forest.trees(), o.tournament);
    Genome tree(forest.tree(mother));
    bool changed = false;
    if (rng.uniform() < o.crossover) {
      const Genome father(forest.tree(tournament(rng, loss, forest.trees(), o.tournament)));
      const int64_t at = rng.below(uint32_t(tree.code.size()));
      const int64_t from = rng.below(uint32_t(father.code.size()));
      Genome child = splice(forest, tree, at, subtree(forest, father, from));
      if (fits(child)) tree = std::move(child), changed = true;
    }
    if (rng.uniform() < o.mutation) {
      const int64_t at = rng.below(uint32_t(tree.code.size()));
      const int span = o.mutation_max_depth - o.mutation_min_depth + 1;
      const int deep = o.mutation_min_depth + int(rng.below(uint32_t(span)));
      Genome fresh;
      Rng own(rng.next(), 0);
      sprout_tree(own, sprout, deep, true, &fresh);
      Genome child = splice(forest, tree, at, fresh.view());
      if (fits(child)) tree = std::move(child), changed = true;
    }
    brood.trees.code.insert(brood.trees.code.end(), tree.code.begin(), tree.code.end());
    brood.trees.value.insert(brood.trees.value.end(), tree.value.begin(), tree.value.end());
    brood.trees.offset.push_back(int64_t(brood.trees.code.size()));
    brood.parent.push_back(mother);
    brood.changed.push_back(changed);
  }
  return brood;
}

}  // namespace symgrad
