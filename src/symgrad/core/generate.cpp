#include "generate.hpp"

#include <algorithm>

namespace symgrad {

int32_t random_feature(Rng& rng, const Sprout& s) {
  if (s.cumulative.empty()) return int32_t(rng.below(uint32_t(s.features)));
  const auto& c = s.cumulative;
  return int32_t(std::upper_bound(c.begin(), c.end() - 1, rng.uniform() * c.back()) - c.begin());
}

static void leaf(Rng& rng, const Sprout& s, Genome* out) {
  double value = 0;
  int32_t code = kConstant;
  if (s.p_constant > 0 && rng.uniform() < s.p_constant) {
    value = s.whole ? 1 + (rng.uniform() < 0.25) : s.constant_scale * rng.normal();
  } else {
    code = ~random_feature(rng, s);
  }
  out->push(code, value);
}

static void grow(Rng& rng, const Sprout& s, int level, int min_depth, int max_depth, bool full,
                 Genome* out) {
  const bool may_stop = !full && level >= min_depth;
  if (level >= max_depth || (may_stop && rng.uniform() < s.p_leaf)) {
    leaf(rng, s, out);
    return;
  }
  const uint32_t k = rng.below(uint32_t(s.functions.size()));
  for (int a = 0; a < s.arities[k]; ++a) grow(rng, s, level + 1, min_depth, max_depth, full, out);
  out->push(s.functions[k]);
}

void sprout_tree(Rng& rng, const Sprout& sprout, int depth, bool full, Genome* out) {
  grow(rng, sprout, 0, 0, depth, full, out);
}

Postorder generate(const Sprout& sprout, uint64_t seed, const std::vector<int32_t>& depth,
                   const std::vector<uint8_t>& full, int min_depth) {
  Genome all;
  std::vector<int64_t> offset{0};
  for (size_t i = 0; i < depth.size(); ++i) {
    Rng rng(seed, i);
    grow(rng, sprout, 0, min_depth, depth[i], full[i] != 0, &all);
    offset.push_back(all.size());
  }
  return {std::move(all.code), std::move(all.value), std::move(offset)};
}

}  // namespace symgrad
