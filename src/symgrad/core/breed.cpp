#include "breed.hpp"

#include <algorithm>

#include "rng.hpp"

namespace symgrad {

namespace {

struct Flat {
  std::vector<int32_t> code;
  std::vector<double> value;
};

Flat flat(const Postfix& tree) {
  return {{tree.code, tree.code + tree.size}, {tree.value, tree.value + tree.size}};
}

// First node of the subtree whose root is `node`.
int64_t first(const Forest& forest, const std::vector<int32_t>& code, int64_t node) {
  int64_t missing = 1;
  for (int64_t i = node;; --i) {
    missing += forest.arity(code[size_t(i)]) - 1;
    if (missing == 0) return i;
  }
}

int depth(const Forest& forest, const std::vector<int32_t>& code) {
  std::vector<int> stack;
  for (const int32_t c : code) {
    int below = -1;
    for (int k = forest.arity(c); k > 0; --k) {
      below = std::max(below, stack.back());
      stack.pop_back();
    }
    stack.push_back(below + 1);
  }
  return stack.back();
}

// The tree with the subtree at `node` replaced.
Flat splice(const Forest& forest, const Flat& tree, int64_t node, const int32_t* code,
            const double* value, int64_t size) {
  const int64_t begin = first(forest, tree.code, node);
  Flat out;
  out.code.assign(tree.code.begin(), tree.code.begin() + begin);
  out.value.assign(tree.value.begin(), tree.value.begin() + begin);
  out.code.insert(out.code.end(), code, code + size);
  out.value.insert(out.value.end(), value, value + size);
  out.code.insert(out.code.end(), tree.code.begin() + node + 1, tree.code.end());
  out.value.insert(out.value.end(), tree.value.begin() + node + 1, tree.value.end());
  return out;
}

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
  auto fits = [&](const Flat& t) {
    return int64_t(t.code.size()) <= o.max_size && depth(forest, t.code) <= o.max_depth;
  };
  for (int64_t i = 0; i < offspring; ++i) {
    Rng rng(o.seed, uint64_t(i));
    const int64_t mother = tournament(rng, loss, forest.trees(), o.tournament);
    Flat tree = flat(forest.tree(mother));
    bool changed = false;
    if (rng.uniform() < o.crossover) {
      const Flat father = flat(forest.tree(tournament(rng, loss, forest.trees(), o.tournament)));
      const int64_t at = rng.below(uint32_t(tree.code.size()));
      const int64_t from = rng.below(uint32_t(father.code.size()));
      const int64_t begin = first(forest, father.code, from);
      Flat child = splice(forest, tree, at, &father.code[size_t(begin)],
                          &father.value[size_t(begin)], from + 1 - begin);
      if (fits(child)) tree = std::move(child), changed = true;
    }
    if (rng.uniform() < o.mutation) {
      const int64_t at = rng.below(uint32_t(tree.code.size()));
      const int span = o.mutation_max_depth - o.mutation_min_depth + 1;
      const int deep = o.mutation_min_depth + int(rng.below(uint32_t(span)));
      const Postorder fresh = generate(sprout, rng.next(), {deep}, {1}, 0);
      Flat child = splice(forest, tree, at, fresh.code.data(), fresh.value.data(),
                          int64_t(fresh.code.size()));
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
