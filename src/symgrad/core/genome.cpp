#include "genome.hpp"

#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace symgrad {

int64_t subtree_begin(const Forest& language, const std::vector<int32_t>& code, int64_t node) {
  int64_t missing = 1;
  for (int64_t i = node;; --i) {
    missing += language.arity(code[size_t(i)]) - 1;
    if (missing == 0) return i;
  }
}

Postfix subtree(const Forest& language, const Genome& tree, int64_t node) {
  const int64_t begin = subtree_begin(language, tree.code, node);
  return {&tree.code[size_t(begin)], &tree.value[size_t(begin)], node + 1 - begin};
}

int depth_of(const Forest& language, const std::vector<int32_t>& code) {
  std::vector<int> stack;
  stack.reserve(code.size());
  for (const int32_t c : code) {
    int below = -1;
    for (int k = language.arity(c); k > 0; --k) {
      below = std::max(below, stack.back());
      stack.pop_back();
    }
    stack.push_back(below + 1);
  }
  return stack.back();
}

Genome splice(const Forest& language, const Genome& tree, int64_t node, const Postfix& part) {
  const int64_t begin = subtree_begin(language, tree.code, node);
  Genome out;
  out.code.reserve(size_t(tree.size() + part.size));
  out.value.reserve(size_t(tree.size() + part.size));
  out.append({tree.code.data(), tree.value.data(), begin});
  out.append(part);
  out.append({tree.code.data() + node + 1, tree.value.data() + node + 1, tree.size() - node - 1});
  return out;
}

namespace {

double apply(int32_t op, double a, double b) {
  double x[kVector], y[kVector], out[kVector];
  std::fill(x, x + kVector, a);
  std::fill(y, y + kVector, b);
  kernels<double>().map[0][op](x, y, out, kVector);
  return out[0];
}

class Tidier {
 public:
  explicit Tidier(const Forest& language) : language_(language) {}

  Genome run(const Genome& tree) {
    for (int64_t i = 0; i < tree.size(); ++i) {
      const int32_t c = tree.code[size_t(i)];
      const int n = language_.arity(c);
      const size_t start = n == 0 ? out_.code.size() : starts_[starts_.size() - size_t(n)];
      const size_t second = n == 2 ? starts_.back() : start;
      starts_.resize(starts_.size() - size_t(n));
      out_.push(c, tree.value[size_t(i)]);
      starts_.push_back(start);
      if (n > 0 && c < kFirstComposed) reduce(c, n, start, second);
    }
    return std::move(out_);
  }

 private:
  bool constant(size_t at, size_t end) const { return end == at + 1 && out_.code[at] == kConstant; }
  void cut(size_t size) {
    out_.code.resize(size);
    out_.value.resize(size);
  }

  // The node just written is c; its arguments begin at `start` and `second`.
  void reduce(int32_t c, int n, size_t start, size_t second) {
    const size_t root = out_.code.size() - 1;
    const bool left = constant(start, n == 2 ? second : root);
    const bool right = n == 2 && constant(second, root);
    if (left && (right || n == 1)) {
      const double v = apply(c, out_.value[start], out_.value[root - 1]);
      if (!std::isfinite(v)) return;
      cut(start);
      out_.push(kConstant, v);
    } else if (right && (c == k_sub || c == k_add)) {
      join(k_add, start, c == k_sub ? -out_.value[second] : out_.value[second]);
    } else if (right && (c == k_mul || (c == k_div && out_.value[second] != 0))) {
      join(k_mul, start, c == k_div ? 1 / out_.value[second] : out_.value[second]);
    } else if (left && (c == k_add || c == k_mul)) {
      const double v = out_.value[start];
      out_.code.erase(out_.code.begin() + int64_t(start));
      out_.value.erase(out_.value.begin() + int64_t(start));
      out_.code.insert(out_.code.end() - 1, kConstant);
      out_.value.insert(out_.value.end() - 1, v);
      join(c, start, v);
    }
  }

  // The arrays end with (argument, constant, node): write argument `op` v, as shortly as can be.
  void join(int32_t op, size_t start, double v) {
    cut(out_.code.size() - 2);
    const size_t end = out_.code.size();
    if (end > start + 2 && out_.code[end - 1] == op && out_.code[end - 2] == kConstant) {
      v = op == k_add ? v + out_.value[end - 2] : v * out_.value[end - 2];
      cut(end - 2);
    }
    if (!std::isfinite(v)) v = 1;
    if (v == (op == k_add ? 0.0 : 1.0)) return;
    if (op == k_mul && v == 0) {
      cut(start);
      return out_.push(kConstant, 0);
    }
    out_.push(kConstant, v);
    out_.push(op);
  }

  const Forest& language_;
  Genome out_;
  std::vector<size_t> starts_;
};

void strip(const Forest& language, Genome* g) {
  for (;;) {
    const int64_t n = g->size();
    const int32_t root = g->code.back();
    if (n > 2 && (root == k_add || root == k_mul) && g->code[size_t(n - 2)] == kConstant) {
      g->code.resize(size_t(n - 2));
      g->value.resize(size_t(n - 2));
    } else if (n > 1 && root == k_neg) {
      g->code.pop_back();
      g->value.pop_back();
    } else if (n > 2 && root == k_sub && g->code[0] == kConstant &&
               subtree_begin(language, g->code, n - 2) == 1) {
      g->code = std::vector<int32_t>(g->code.begin() + 1, g->code.end() - 1);
      g->value = std::vector<double>(g->value.begin() + 1, g->value.end() - 1);
    } else {
      return;
    }
  }
}

}  // namespace

void tidy(const Forest& language, Genome* tree) {
  *tree = Tidier(language).run(*tree);
  strip(language, tree);
}

}  // namespace symgrad
