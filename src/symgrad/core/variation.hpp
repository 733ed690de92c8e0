// Blind edits of one tree: crossover and mutations.
#pragma once

#include "generate.hpp"

namespace symgrad {

class Variation {
 public:
  Variation(const Forest& language, const Sprout& sprout);

  // A random subtree of `tree` replaced by one of `donor`.
  Genome cross(Rng& rng, const Genome& tree, const Genome& donor) const;

  // One of: a new subtree, a node put in, a node left out, a node or a constant changed. Leaves
  // come half the time from `donor`, a tree that has proved its worth.
  Genome mutate(Rng& rng, const Genome& tree, const Genome& donor) const;

 private:
  void leaf(Rng& rng, const Genome& donor, Genome* out) const;
  Genome insert(Rng& rng, const Genome& tree, const Genome& donor) const;
  Genome remove(Rng& rng, const Genome& tree) const;
  Genome point(Rng& rng, const Genome& tree, const Genome& donor) const;
  Genome shake(Rng& rng, const Genome& tree) const;

  const Forest& language_;
  const Sprout& sprout_;
  std::vector<int32_t> unary_, binary_;
  bool affine_;  // whether + and * are allowed
};

}  // namespace symgrad
