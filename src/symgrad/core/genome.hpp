// A tree that can be edited, and what editing needs to know of trees.
#pragma once

#include "forest.hpp"

namespace symgrad {

struct Genome {
  std::vector<int32_t> code;
  std::vector<double> value;

  Genome() = default;
  explicit Genome(const Postfix& tree)
      : code(tree.code, tree.code + tree.size), value(tree.value, tree.value + tree.size) {}
  int64_t size() const { return int64_t(code.size()); }
  Postfix view() const { return {code.data(), value.data(), size()}; }
  void push(int32_t c, double v = 0) {
    code.push_back(c);
    value.push_back(v);
  }
  void append(const Postfix& part) {
    code.insert(code.end(), part.code, part.code + part.size);
    value.insert(value.end(), part.value, part.value + part.size);
  }
};

// First node of the subtree whose root is `node`.
int64_t subtree_begin(const Forest& language, const std::vector<int32_t>& code, int64_t node);

// The subtree whose root is `node`.
Postfix subtree(const Forest& language, const Genome& tree, int64_t node);

int depth_of(const Forest& language, const std::vector<int32_t>& code);

// The tree with the subtree at `node` replaced. `part` must not lie in `tree`.
Genome splice(const Forest& language, const Genome& tree, int64_t node, const Postfix& part);

// Folds constants, puts them behind what they are added to or multiplied with, joins nested ones
// and drops neutral ones. The outer affine map goes too: scoring gives it back.
void tidy(const Forest& language, Genome* tree);

}  // namespace symgrad
