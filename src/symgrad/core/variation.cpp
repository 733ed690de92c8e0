#include "variation.hpp"

#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace symgrad {

Variation::Variation(const Forest& language, const Sprout& sprout)
    : language_(language), sprout_(sprout) {
  for (size_t i = 0; i < sprout.functions.size(); ++i)
    (sprout.arities[i] == 1 ? unary_ : binary_).push_back(sprout.functions[i]);
  const auto has = [&](int32_t op) {
    return std::find(binary_.begin(), binary_.end(), op) != binary_.end();
  };
  affine_ = has(k_add) && has(k_mul) && sprout.p_constant > 0 && !sprout.whole;
}

Genome Variation::cross(Rng& rng, const Genome& tree, const Genome& donor) const {
  const int64_t at = rng.below(uint32_t(tree.size())), from = rng.below(uint32_t(donor.size()));
  return splice(language_, tree, at, subtree(language_, donor, from));
}

void Variation::leaf(Rng& rng, const Genome& donor, Genome* out) const {
  if (rng.uniform() < 0.5) {
    const int64_t at = rng.below(uint32_t(donor.size()));
    const int32_t c = donor.code[size_t(at)];
    if (c < 0 && c != kConstant) return out->push(c);
  }
  sprout_tree(rng, sprout_, 0, true, out);
}

Genome Variation::mutate(Rng& rng, const Genome& tree, const Genome& donor) const {
  const double kind = rng.uniform();
  if (kind < 0.25) {
    Genome fresh;
    const int depth = int(rng.below(3));
    if (depth == 0) {
      leaf(rng, donor, &fresh);
    } else {
      sprout_tree(rng, sprout_, depth, false, &fresh);
    }
    return splice(language_, tree, rng.below(uint32_t(tree.size())), fresh.view());
  }
  if (kind < 0.5) return insert(rng, tree, donor);
  if (kind < 0.65) return remove(rng, tree);
  if (kind < 0.85) return point(rng, tree, donor);
  return shake(rng, tree);
}

Genome Variation::insert(Rng& rng, const Genome& tree, const Genome& donor) const {
  const int64_t at = rng.below(uint32_t(tree.size()));
  const Postfix old = subtree(language_, tree, at);
  const bool one = binary_.empty() || (!unary_.empty() && rng.uniform() < 0.3);
  const std::vector<int32_t>& from = one ? unary_ : binary_;
  Genome fresh;
  const bool first = !one && rng.uniform() < 0.5;
  if (first) leaf(rng, donor, &fresh);
  fresh.append(old);
  if (!one && !first) leaf(rng, donor, &fresh);
  fresh.push(from[rng.below(uint32_t(from.size()))]);
  return splice(language_, tree, at, fresh.view());
}

Genome Variation::remove(Rng& rng, const Genome& tree) const {
  if (tree.size() == 1) return tree;
  int64_t at;
  do {
    at = rng.below(uint32_t(tree.size()));
  } while (tree.code[size_t(at)] < 0);
  int64_t child = at - 1;
  if (language_.arity(tree.code[size_t(at)]) == 2 && rng.uniform() < 0.5)
    child = subtree_begin(language_, tree.code, child) - 1;
  const Genome kept(subtree(language_, tree, child));
  return splice(language_, tree, at, kept.view());
}

Genome Variation::point(Rng& rng, const Genome& tree, const Genome& donor) const {
  const int64_t at = rng.below(uint32_t(tree.size()));
  Genome out = tree;
  const int n = language_.arity(tree.code[size_t(at)]);
  if (n == 0) {
    Genome fresh;
    leaf(rng, donor, &fresh);
    out.code[size_t(at)] = fresh.code[0];
    out.value[size_t(at)] = fresh.value[0];
  } else {
    const std::vector<int32_t>& from = n == 1 ? unary_ : binary_;
    if (!from.empty()) out.code[size_t(at)] = from[rng.below(uint32_t(from.size()))];
  }
  return out;
}

// A constant moved, or a new one put in: h * (1 + small) or h + small.
Genome Variation::shake(Rng& rng, const Genome& tree) const {
  Genome out = tree;
  const int64_t count = std::count(tree.code.begin(), tree.code.end(), kConstant);
  if (count > 0 && (!affine_ || rng.uniform() < 0.5)) {
    int64_t which = rng.below(uint32_t(count));
    for (size_t i = 0;; ++i) {
      if (tree.code[i] != kConstant || which-- > 0) continue;
      if (sprout_.whole) {
        out.value[i] += rng.uniform() < 0.5 ? 1 : -1;
        return out;
      }
      out.value[i] =
          rng.uniform() < 0.5 ? out.value[i] * std::exp(rng.normal()) : out.value[i] + rng.normal();
      return out;
    }
  }
  if (!affine_) return out;
  const int64_t at = rng.below(uint32_t(tree.size()));
  Genome fresh(subtree(language_, tree, at));
  const bool product = rng.uniform() < 0.5;
  fresh.push(kConstant, product ? 1 + 0.3 * rng.normal() : rng.normal());
  fresh.push(product ? k_mul : k_add);
  return splice(language_, tree, at, fresh.view());
}

}  // namespace symgrad
