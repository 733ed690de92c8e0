#include "relaxed.hpp"

#include <algorithm>

namespace symgrad {

namespace {

// The first logit of a row's own primitive among `width`, the others being 0.
double start_logit(const TrainOptions& o, int64_t width) {
  if (!(o.start > 0) || width < 2) return o.start_logit;
  return std::log(o.start * double(width - 1) / (1 - o.start));
}

Edge start_edge(const TrainOptions& o) {
  Edge e;
  e.strength = o.edge;
  e.logit = std::log(o.edge / (1 - o.edge));
  return e;
}

template <class T>
int64_t choose(Rng& rng, const T* p, int64_t n, bool random) {
  if (!random) return std::max_element(p, p + n) - p;
  double left = rng.uniform();
  for (int64_t i = 0; i < n; ++i)
    if ((left -= double(p[i])) < 0) return i;
  return std::max_element(p, p + n) - p;
}

}  // namespace

template <class T>
void Group<T>::build(const Forest& forest, int64_t begin, int64_t end, int64_t d,
                     const TrainOptions& o) {
  const int64_t functions = int64_t(o.functions.size());
  features = d;
  arities.clear();
  for (const int32_t f : o.functions) arities.push_back(forest.arity(f));
  slopes.assign(o.functions.size(), {});
  const auto sine = std::find(o.functions.begin(), o.functions.end(), int32_t(k_sin));
  const auto cosine = std::find(o.functions.begin(), o.functions.end(), int32_t(k_cos));
  if (sine != o.functions.end() && cosine != o.functions.end()) {
    slopes[size_t(sine - o.functions.begin())] = {int(cosine - o.functions.begin()), 1};
    slopes[size_t(cosine - o.functions.begin())] = {int(sine - o.functions.begin()), -1};
  }
  trees.assign(size_t(end - begin), {});
  leaf_rows = inner_rows = 0;
  leaf_width.clear();
  for (int64_t t = begin; t < end; ++t) {
    RelaxedTree<T>& tree = trees[size_t(t - begin)];
    tree.index = t;
    const Postfix postfix = forest.tree(t);
    std::vector<int32_t> stack;
    for (int64_t i = 0; i < postfix.size; ++i) {
      RelaxedNode node;
      node.code = postfix.code[i], node.value = postfix.value[i];
      node.arity = forest.arity(node.code);
      node.edge = node.added_edge = start_edge(o);
      if (node.arity == 2) node.right = stack.back(), stack.pop_back();
      if (node.arity >= 1) node.left = stack.back(), stack.pop_back();
      if (node.arity) node.row = inner_rows++;
      if (!node.arity && node.code != kConstant) {
        node.row = leaf_rows++;
        leaf_width.push_back(d + (o.leaf_functions ? functions : 0));
      }
      if (node.arity == 1) {
        node.added = leaf_rows++;
        leaf_width.push_back(d);
      }
      stack.push_back(int32_t(i));
      tree.nodes.push_back(node);
    }
  }
  leaf.resize(leaf_rows, d + (o.leaf_functions ? functions : 0));
  inner.resize(inner_rows, functions + 1);
  leaf_shift.assign(size_t(leaf_rows), T(0));
  leaf_function_g.assign(size_t(leaf_rows * functions), T(0));
  h = h_memory.get(size_t(leaf_rows + 1) * kRowStride);
  gh = gh_memory.get(size_t(leaf_rows + 1) * kRowStride);
  std::fill(gh, gh + leaf_rows * kRowStride, T(0));
  for (auto& tree : trees) {
    Rng rng(o.seed, uint64_t(tree.index));
    for (auto& node : tree.nodes) {
      const auto own = std::find(o.functions.begin(), o.functions.end(), node.code);
      if (node.arity && own != o.functions.end())
        inner.value(node.row)[own - o.functions.begin()] = T(start_logit(o, inner.width));
      if (!node.arity && node.row >= 0)
        leaf.value(node.row)[~node.code] = T(start_logit(o, leaf.width));
      if (node.added >= 0 && o.sharp_added)
        leaf.value(node.added)[rng.below(uint32_t(d))] = T(start_logit(o, d));
    }
  }
}

template <class T>
void Group<T>::report(const Forest& forest, const TrainOptions& o, const Trained<T>& out) {
  const RowKernels<T>& k = row_kernels<T>();
  for (auto& tree : trees) {
    const int64_t first = forest.first_node(tree.index);
    Rng rng(o.seed + 1, uint64_t(tree.index));
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
      const RelaxedNode& node = tree.nodes[i];
      const int64_t at = first + int64_t(i);
      out.pick[at] = out.added[at] = -1;
      out.edge[at] = T(node.edge.strength);
      out.probability[at] = T(1);
      if (node.row >= 0) {
        Logits<T>& l = node.arity ? inner : leaf;
        k.softmax(l.value(node.row), l.p(node.row), l.width);
        const int64_t pick = choose(rng, l.p(node.row), l.width, o.random);
        out.pick[at] = int32_t(pick);
        out.probability[at] = l.p(node.row)[pick];
        if (out.logits) std::copy_n(l.value(node.row), l.width, out.logits + at * out.width);
      }
      if (node.added >= 0) {
        k.softmax(leaf.value(node.added), leaf.p(node.added), features);
        out.added[at] = int32_t(choose(rng, leaf.p(node.added), features, o.random));
        if (out.added_logits)
          std::copy_n(leaf.value(node.added), leaf.width, out.added_logits + at * out.width);
      }
    }
    out.first_loss[tree.index] = tree.first_loss;
    out.last_loss[tree.index] = tree.last_loss;
  }
}

template <class T>
void Group<T>::report_gradients(const Forest& forest, const Trained<T>& out) {
  // Derivatives by the probabilities; the softmax and the 0-1 loss are the caller's to add.
  for (auto& tree : trees) {
    const int64_t first = forest.first_node(tree.index);
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
      const RelaxedNode& node = tree.nodes[i];
      const int64_t at = first + int64_t(i);
      Logits<T>& l = node.arity ? inner : leaf;
      if (node.row >= 0) std::copy_n(l.g(node.row), l.width, out.gradients + at * out.width);
      if (node.added >= 0)
        std::copy_n(leaf.g(node.added), leaf.width, out.added_gradients + at * out.width);
      out.edge_gradients[at] = T(node.edge.g);
      out.added_edge_gradients[at] = T(node.added_edge.g);
    }
  }
}

template struct Group<float>;
template struct Group<double>;

}  // namespace symgrad
