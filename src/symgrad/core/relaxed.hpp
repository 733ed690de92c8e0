// Relaxed trees in training: their parameters, one forward and backward pass, one Adam step.
//
// Every inner node mixes all functions and `pass` by the softmax of its logits; a leaf mixes the
// features. Each edge multiplies what it carries by a sigmoid. Node by node, for inputs a and b
// (already weighted by their edges) and weights w:
//
//   out = sum of w[f] * f(a, b)   over functions of two arguments
//       + sum of w[f] * f(c)      over functions of one argument and pass
//
// where c is a on a unary node, and on a binary node the input with the stronger edge. A unary
// node's b is an added leaf.
#pragma once

#include "applier.hpp"
#include "rng.hpp"
#include "train.hpp"

namespace symgrad {

// Rows of logits with their probabilities, gradients and moments.
template <class T>
struct Logits {
  int64_t width = 0, rows = 0;
  Scratch<T> memory;
  T* base = nullptr;
  void resize(int64_t n, int64_t w) {
    width = w, rows = n;
    const size_t size = size_t(n * w);
    base = memory.get(5 * size + 1);
    for (size_t i = 0; i < 5 * size; ++i) base[i] = T(0);
  }
  T* value(int64_t r) { return base + r * width; }
  T* p(int64_t r) { return base + (rows + r) * width; }
  T* g(int64_t r) { return base + (2 * rows + r) * width; }
  T* m(int64_t r) { return base + (3 * rows + r) * width; }
  T* v(int64_t r) { return base + (4 * rows + r) * width; }
};

// The function whose value, times the sign, is the slope of another; -1 if there is none.
struct Slope {
  int function = -1, sign = 1;
};

struct Edge {
  double logit = 0, strength = 1, g = 0, m = 0, v = 0;
};

struct RelaxedNode {
  int32_t code;
  double value;                   // of a constant
  int arity;                      // 0, 1, 2
  int32_t left = -1, right = -1;  // nodes of the same tree
  int64_t row = -1;               // of logits: leaf or inner; -1 for constants
  int64_t added = -1;             // leaf row of a unary node's second input
  Edge edge, added_edge;          // to the parent; of the added leaf
};

template <class T>
struct Group;

template <class T>
class RelaxedTree {
 public:
  std::vector<RelaxedNode> nodes;
  int64_t index = 0;  // in the forest
  double first_loss = 0, last_loss = 0;

  // One forward and backward pass. Returns the NRMSE; gradients, without those of the 0-1 loss, are
  // left in the group and the edges.
  double pass(Group<T>& g, const Rows<T>& data, const TrainOptions& options, Applier<T>& applier,
              int64_t row, int rows) {
    const int n = padded(rows);
    const int slots = int(options.functions.size()) + 5;  // see slot()
    buffers_ = g.buffers.get(nodes.size() * size_t(slots) * kRowStride + 2 * kRowStride);
    slots_ = slots;
    for (size_t i = 0; i < nodes.size(); ++i) forward(i, g, options, applier, n);
    T* out = output(nodes.size() - 1);
    T* adjoint = gradient(nodes.size() - 1);  // each other node's is set by its parent
    const double loss = root(out, adjoint, data, options, row, rows);
    for (int k = rows; k < n; ++k) adjoint[k] = T(0);
    finite_ = std::isfinite(loss);
    for (size_t i = nodes.size(); i-- > 0;) backward(i, g, options, applier, rows, n);
    if (!finite_) clear(g);
    return loss;
  }

  int64_t logit_rows() const {
    int64_t rows = 0;
    for (const auto& node : nodes) rows += (node.row >= 0) + (node.added >= 0);
    return rows > 0 ? rows : 1;
  }

  // The weighted 0-1 loss: the mean of -(p - 1/2)^2, averaged over rows.
  double zero_one(Group<T>& g, double lambda) const {
    double sum = 0;
    auto add = [&](Logits<T>& l, int64_t r, int64_t width) {
      if (r < 0) return;
      double row = 0;
      for (int64_t i = 0; i < width; ++i) {
        const double d = double(l.p(r)[i]) - 0.5;
        row -= d * d;
      }
      sum += row / double(width);
    };
    for (const auto& node : nodes) {
      Logits<T>& own = node.arity ? g.inner : g.leaf;
      add(own, node.row, own.width);
      add(g.leaf, node.added, g.features);
    }
    return lambda * sum / double(logit_rows());
  }

  // One Adam step. A pass that was not finite changes nothing.
  void update(Group<T>& g, const TrainOptions& o) {
    if (!finite_) return;
    ++steps_;
    Adam adam{o.rate,
              o.beta1,
              o.beta2,
              o.epsilon,
              1 - std::pow(o.beta1, steps_),
              1 - std::pow(o.beta2, steps_)};
    const double share = o.lambda / double(logit_rows());
    const RowKernels<T>& k = row_kernels<T>();
    auto step = [&](Logits<T>& l, int64_t r, int64_t width) {
      if (r >= 0) k.softmax_step(l.value(r), l.p(r), l.g(r), l.m(r), l.v(r), width, share, adam);
    };
    for (auto& node : nodes) {
      Logits<T>& own = node.arity ? g.inner : g.leaf;
      step(own, node.row, own.width);
      step(g.leaf, node.added, g.features);
    }
    adam.rate = o.edge_rate;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (i + 1 < nodes.size()) edge_step(nodes[i].edge, adam);
      if (nodes[i].added >= 0) edge_step(nodes[i].added_edge, adam);
    }
  }

 private:
  // Each node has its output, its adjoint, the inputs a and b, scratch, and each function's value.
  T* slot(size_t node, int k) {
    return buffers_ + (node * size_t(slots_) + size_t(k)) * kRowStride;
  }
  T* output(size_t node) { return slot(node, 0); }
  T* gradient(size_t node) { return slot(node, 1); }
  T* input(size_t node, int k) { return slot(node, 2 + k); }  // weighted by the edge
  T* mixed(size_t node, int f) { return slot(node, 5 + f); }  // value of function f
  T* spare(int k) {
    return buffers_ + nodes.size() * size_t(slots_) * kRowStride + size_t(k) * kRowStride;
  }

  const T* child(size_t i, int k, Group<T>& g) {
    const RelaxedNode& node = nodes[i];
    if (k == 0) return output(size_t(node.left));
    return node.arity == 2 ? output(size_t(node.right)) : g.h + node.added * kRowStride;
  }
  Edge& edge(size_t i, int k) {
    RelaxedNode& node = nodes[i];
    if (k == 0) return nodes[size_t(node.left)].edge;
    return node.arity == 2 ? nodes[size_t(node.right)].edge : node.added_edge;
  }
  // The input that functions of one argument take.
  int stronger(size_t i) {
    return nodes[i].arity == 2 && edge(i, 1).strength > edge(i, 0).strength ? 1 : 0;
  }

  void forward(size_t i, Group<T>& g, const TrainOptions& o, Applier<T>& applier, int n) {
    const RowKernels<T>& k = row_kernels<T>();
    const RelaxedNode& node = nodes[i];
    T* out = output(i);
    if (node.arity == 0) return leaf_forward(i, g, o, applier, n);
    for (int s = 0; s < 2; ++s) k.scaled(T(edge(i, s).strength), child(i, s, g), input(i, s), n);
    const T* w = g.inner.p(node.row);
    const T* one = input(i, stronger(i));
    const int functions = int(o.functions.size());
    k.scaled(w[functions], one, out, n);  // pass
    for (int f = 0; f < functions; ++f) {
      const bool two = g.arities[size_t(f)] == 2;
      applier.mix(o.functions[size_t(f)], two ? input(i, 0) : one, input(i, 1), w[f], mixed(i, f),
                  out, n);
    }
  }

  void leaf_forward(size_t i, Group<T>& g, const TrainOptions& o, Applier<T>& applier, int n) {
    const RowKernels<T>& k = row_kernels<T>();
    const RelaxedNode& node = nodes[i];
    T* out = output(i);
    if (node.row < 0) {
      for (int j = 0; j < n; ++j) out[j] = T(node.value);
      return;
    }
    const T* h = g.h + node.row * kRowStride;
    k.scaled(T(1), h, out, n);
    if (!o.leaf_functions) return;
    k.scaled(T(1) / T(mass(node, g)), h, input(i, 0), n);
    for (size_t f = 0; f < o.functions.size(); ++f) {
      applier.forward(o.functions[f], input(i, 0), input(i, 0), mixed(i, int(f)), n);
      k.add_scaled(g.leaf.p(node.row)[g.features + int64_t(f)], mixed(i, int(f)), out, n);
    }
  }

  // Probability that a leaf is a feature, not a function.
  double mass(const RelaxedNode& node, Group<T>& g) const {
    double sum = 0;
    for (int64_t j = 0; j < g.features; ++j) sum += double(g.leaf.p(node.row)[j]);
    return sum;
  }

  // NRMSE of the root, plain or after the best line, and its derivative.
  double root(const T* f, T* adjoint, const Rows<T>& data, const TrainOptions& o, int64_t row,
              int rows) {
    const T* y = data.y + row;
    const T* w = data.weight ? data.weight + row : nullptr;
    double slope = 1, intercept = 0, total = 0;
    for (int i = 0; i < rows; ++i) total += w ? double(w[i]) : 1.0;
    if (!(total > 0)) return 0;
    if (o.scale) {
      double mf = 0, my = 0, ff = 0, fy = 0;
      for (int i = 0; i < rows; ++i) {
        const double wi = w ? double(w[i]) : 1.0;
        mf += wi * double(f[i]) / total, my += wi * double(y[i]) / total;
      }
      for (int i = 0; i < rows; ++i) {
        const double wi = w ? double(w[i]) : 1.0, df = double(f[i]) - mf;
        ff += wi * df * df, fy += wi * df * (double(y[i]) - my);
      }
      slope = ff > 1e-12 * mf * mf * total ? fy / ff : 0;
      intercept = my - slope * mf;
    }
    double sse = 0;
    for (int i = 0; i < rows; ++i) {
      const double r = double(y[i]) - intercept - slope * double(f[i]);
      sse += (w ? double(w[i]) : 1.0) * r * r;
    }
    const double rmse = std::sqrt(sse / total);
    const double scale = rmse > 0 ? slope / (total * rmse * data.deviation) : 0;
    for (int i = 0; i < rows; ++i) {
      const double r = double(y[i]) - intercept - slope * double(f[i]);
      adjoint[i] = T(-(w ? double(w[i]) : 1.0) * r * scale);
    }
    return rmse / data.deviation;
  }

  void backward(size_t i, Group<T>& g, const TrainOptions& o, Applier<T>& applier, int rows,
                int n) {
    const RowKernels<T>& k = row_kernels<T>();
    RelaxedNode& node = nodes[i];
    const T* go = gradient(i);
    if (node.arity == 0) return leaf_backward(i, g, o, applier, rows, n);
    T *gi[2] = {spare(0), spare(1)}, *unused = slot(i, 4);
    const T* w = g.inner.p(node.row);
    T* gw = g.inner.g(node.row);
    const int functions = int(o.functions.size()), one = stronger(i);
    gw[functions] = T(k.dot(go, input(i, one), n));
    k.scaled(w[functions], go, gi[one], n);
    std::fill_n(gi[1 - one], n, T(0));
    for (int f = 0; f < functions; ++f) {
      const bool two = g.arities[size_t(f)] == 2;
      const int a = two ? 0 : one;
      const Slope& slope = g.slopes[size_t(f)];
      if (slope.function >= 0) {
        gw[f] =
            T(k.unmix(mixed(i, f), mixed(i, slope.function), go, T(slope.sign) * w[f], gi[a], n));
        continue;
      }
      gw[f] = applier.unmix(o.functions[size_t(f)], input(i, a), input(i, 1), mixed(i, f), go, w[f],
                            gi[a], two ? gi[1] : unused, n);
    }
    for (int f = 0; f <= functions; ++f) finite_ = finite_ && std::isfinite(gw[f]);
    for (int s = 0; s < 2; ++s) {
      Edge& e = edge(i, s);
      e.g = k.dot(gi[s], child(i, s, g), n) * e.strength * (1 - e.strength);
      finite_ = finite_ && std::isfinite(e.g);
      if (s == 1 && node.arity == 1) {
        send(g, node.added, e.strength, gi[s], rows);
        g.leaf_shift[size_t(node.added)] = T(0);
        continue;
      }
      k.scaled(T(e.strength), gi[s], gradient(size_t(s == 0 ? node.left : node.right)), n);
    }
  }

  // The derivative by a leaf's value, for the matrix product.
  void send(Group<T>& g, int64_t leaf, double strength, const T* from, int rows) {
    const RowKernels<T>& k = row_kernels<T>();
    T* to = g.gh + leaf * kRowStride;
    k.scaled(T(strength), from, to, padded(rows));
    finite_ = finite_ && std::isfinite(k.dot(to, to, padded(rows)));
  }

  void leaf_backward(size_t i, Group<T>& g, const TrainOptions& o, Applier<T>& applier, int rows,
                     int n) {
    const RowKernels<T>& k = row_kernels<T>();
    const RelaxedNode& node = nodes[i];
    if (node.row < 0) return;
    const T* go = gradient(i);
    g.leaf_shift[size_t(node.row)] = T(0);
    if (!o.leaf_functions) return send(g, node.row, 1.0, go, rows);
    T *gh = spare(0), *weighted = slot(i, 4);
    for (int j = 0; j < n; ++j) gh[j] = T(0);
    const int64_t functions = int64_t(o.functions.size());
    for (int64_t f = 0; f < functions; ++f) {
      const T* v = mixed(i, int(f));
      T* gw = &g.leaf_function_g[size_t(node.row * functions + f)];
      const T w = g.leaf.p(node.row)[g.features + f];
      const Slope& slope = g.slopes[size_t(f)];
      if (slope.function >= 0) {
        *gw = T(k.unmix(v, mixed(i, slope.function), go, T(slope.sign) * w, gh, n));
        continue;
      }
      *gw = T(k.dot(go, v, n));
      k.scaled(w, go, weighted, n);
      applier.backward(o.functions[size_t(f)], input(i, 0), input(i, 0), v, weighted, gh, gh, n);
    }
    // h = s / mass: part of the derivative goes to s, part to the mass.
    const double m = mass(node, g);
    g.leaf_shift[size_t(node.row)] = T(-k.dot(gh, input(i, 0), n) / m);
    k.scaled(T(1 / m), gh, weighted, n);
    k.add_scaled(T(1), go, weighted, n);
    send(g, node.row, 1.0, weighted, rows);
  }

  void clear(Group<T>& g) {
    for (const auto& node : nodes)
      for (const int64_t r : {node.arity ? int64_t(-1) : node.row, node.added})
        if (r >= 0)
          for (int i = 0; i < kRowStride; ++i) g.gh[r * kRowStride + i] = T(0);
  }

  static void edge_step(Edge& e, const Adam& a) {
    e.m = a.beta1 * e.m + (1 - a.beta1) * e.g;
    e.v = a.beta2 * e.v + (1 - a.beta2) * e.g * e.g;
    e.logit -= a.rate * (e.m / a.correction1) / (std::sqrt(e.v / a.correction2) + a.epsilon);
    e.strength = 1 / (1 + std::exp(-e.logit));
  }

  T* buffers_ = nullptr;
  int slots_ = 0;
  int steps_ = 0;
  bool finite_ = true;
};

// The trees that share matrix products.
template <class T>
struct Group {
  std::vector<RelaxedTree<T>> trees;
  Logits<T> leaf, inner;
  int64_t leaf_rows = 0, inner_rows = 0, features = 0;
  std::vector<int> arities;         // of the functions
  std::vector<Slope> slopes;        // of the functions
  std::vector<int64_t> leaf_width;  // of each leaf row: added leaves mix features only
  std::vector<T> leaf_shift;        // added to all features' gradients of a leaf
  std::vector<T> leaf_function_g;   // gradients of the functions' weights in leaves
  Scratch<T> buffers, h_memory, gh_memory;
  T *h = nullptr, *gh = nullptr;  // leaf values and their derivatives, a block per row

  void build(const Forest& forest, int64_t begin, int64_t end, int64_t d, const TrainOptions& o);
  void report(const Forest& forest, const TrainOptions& o, const Trained<T>& out);
  void report_gradients(const Forest& forest, const Trained<T>& out);
};

}  // namespace symgrad
