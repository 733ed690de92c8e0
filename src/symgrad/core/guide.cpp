#include "guide.hpp"

#include <algorithm>
#include <cmath>

namespace symgrad {

template <class T>
Guide<T>::Guide(const Problem<T>& problem, const Sprout& sprout)
    : problem_(problem),
      sprout_(sprout),
      kernels_(kernels<T>()),
      rows_of_(row_kernels<T>()),
      differentiator_(problem.language, problem.X, false) {
  T** buffers[] = {&w_, &y_, &f_, &r_, &J_, &u_, &p_, &q_, &s_, &t_, &pad_, &v_};
  T* memory = memory_.get(std::size(buffers) * kRowStride);
  for (T** b : buffers) *b = memory, memory += kRowStride;
  const auto& ops = sprout.functions;
  const auto has = [&](int32_t op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); };
  affine_ = sprout.p_constant > 0 && has(k_add) && has(k_mul);
  divides_ = has(k_div);
  multiplies_ = has(k_mul);
  for (size_t k = 0; k < ops.size(); ++k)
    if (sprout.arities[k] == 1 && ops[k] < kFirstComposed) unary_.push_back(ops[k]);
}

template <class T>
const T* Guide<T>::column(int64_t feature) {
  return load(problem_.X, int32_t(feature), row_, rows_, pad_);
}

// Mostly none: a feature as it is, its square, or a function of it.
template <class T>
int32_t Guide<T>::transform(Rng& rng) {
  const double kind = rng.uniform();
  if (kind < 0.7) return kPlain;
  if (kind < 0.85) return multiplies_ ? kSquare : kPlain;
  return unary_.empty() ? kPlain : unary_[rng.below(uint32_t(unary_.size()))];
}

template <class T>
const T* Guide<T>::transformed(int64_t feature) {
  const T* x = column(feature);
  if (transform_ == kPlain) return x;
  const int32_t op = transform_ == kSquare ? int32_t(k_mul) : transform_;
  kernels_.map[0][op](x, x, v_, n_);
  return v_;
}

template <class T>
void Guide<T>::write(const Best& best, Genome* out) const {
  out->push(~int32_t(best.feature));
  if (best.transform == kSquare) {
    out->push(~int32_t(best.feature));
    out->push(k_mul);
  } else if (best.transform != kPlain) {
    out->push(best.transform);
  }
}

// Takes some rows, runs the tree forward and backward on them and fits the line.
template <class T>
bool Guide<T>::look(Rng& rng, const Genome& tree) {
  const int64_t n = problem_.X.rows;
  rows_ = int(std::min<int64_t>(n, kRows));
  row_ = n > kRows ? rng.below(uint32_t((n - kRows) / kVector + 1)) * int64_t(kVector) : 0;
  n_ = padded(rows_);
  differentiator_.select(tree.view());
  adjoints_ = differentiator_.run(row_, rows_);
  const T* f = differentiator_.result();
  work_ += 3.0 * double(tree.size()) * rows_;
  const double* y = problem_.y + row_;
  const double* w = problem_.weight ? problem_.weight + row_ : nullptr;
  for (int i = 0; i < rows_; ++i)
    if (!std::isfinite(f[i])) return false;
  std::vector<double> target(y, y + rows_), weight(size_t(rows_), 1.0);
  if (w) weight.assign(w, w + rows_);
  if (problem_.loss.kind != kLoss_squared) {  // the parabola that touches the loss here
    const Line line = best_line(problem_.loss, f, y, w, rows_, false);
    for (int i = 0; i < rows_; ++i) {
      const double p = line.intercept + line.slope * double(f[i]);
      const Loss::Point at = problem_.loss.at(y[i], p);
      target[size_t(i)] = p - at.gradient / at.curvature;
      weight[size_t(i)] *= at.curvature;
    }
  }
  double y1 = 0, f1 = 0;
  weight_ = 0;
  for (int i = 0; i < n_; ++i) {
    const double wi = i < rows_ ? weight[size_t(i)] : 0.0;
    w_[i] = T(wi);
    if (wi == 0) continue;
    weight_ += wi, y1 += wi * target[size_t(i)], f1 += wi * double(f[i]);
  }
  if (!(weight_ > 0) || !std::isfinite(f1)) return false;
  y1 /= weight_, f1 /= weight_;
  double fy = 0;
  yy_ = ff_ = 0;
  for (int i = 0; i < n_; ++i) {
    const double w = double(w_[i]);
    const double v = w > 0 ? target[size_t(i)] - y1 : 0, c = w > 0 ? double(f[i]) - f1 : 0;
    y_[i] = T(v), f_[i] = T(c);
    yy_ += w * v * v, ff_ += w * c * c, fy += w * c * v;
  }
  slope_ = ff_ > 1e-20 * f1 * f1 * weight_ && ff_ > 0 ? fy / ff_ : 0;
  for (int i = 0; i < n_; ++i) r_[i] = T(double(y_[i]) - slope_ * double(f_[i]));
  return yy_ > 0;
}

// Sets J and u for a node: for other values of it, or (times_value) for factors of its value.
template <class T>
bool Guide<T>::focus(int64_t node, bool times_value) {
  const T* J = adjoints_ + node * kStride;
  const T *h = differentiator_.value(node), *f = differentiator_.result();
  double u1 = 0, uy = 0, uu = 0, jj = 0;
  for (int i = 0; i < n_; ++i) {
    const bool used = w_[i] > T(0);
    const T j = !used ? T(0) : times_value ? J[i] * h[i] : J[i];
    const T u = !used ? T(0) : times_value ? f[i] : f[i] - J[i] * h[i];
    J_[i] = j, u_[i] = u;
    const double w = double(w_[i]);
    u1 += w * double(u), uy += w * double(u) * double(y_[i]), uu += w * double(u) * double(u);
    jj += double(j) * double(j);
  }
  u1_ = u1, uy_ = uy, uu_ = uu;
  return std::isfinite(uu) && std::isfinite(jj) && jj > 0;
}

// R2 of the line through u + J v.
template <class T>
double Guide<T>::judge(const T* v) {
  double z1 = 0, zy = 0, zz = 0;
  for (int i = 0; i < n_; ++i) {
    if (!(w_[i] > T(0))) continue;
    const double z = double(u_[i]) + double(J_[i]) * double(v[i]), w = double(w_[i]);
    z1 += w * z, zy += w * z * double(y_[i]), zz += w * z * z;
  }
  work_ += 2.0 * rows_;
  const double spread = zz - z1 * z1 / weight_;
  if (!(spread > 1e-9 * zz)) return 0;
  const double r2 = zy * zy / (spread * yy_);
  return std::isfinite(r2) ? r2 : 0;
}

// Gain in explained squares when v is added to [1, f], from the sums of v, v f, v r, v v.
template <class T>
double Guide<T>::added(const double* s) const {
  const double spread = s[3] - s[0] * s[0] / weight_ - (ff_ > 0 ? s[1] * s[1] / ff_ : 0);
  return spread > 1e-6 * s[3] ? s[2] * s[2] / spread : 0;
}

// The best feature x for u + J x (swap) or f + a J x, among a random half of those looked at: a
// search that always takes the first choice soon sees nothing else.
template <class T>
typename Guide<T>::Best Guide<T>::scan(Rng& rng, bool swap) {
  for (int i = 0; i < n_; ++i) {
    const T j = w_[i] * J_[i];
    p_[i] = j, t_[i] = j * J_[i];
    q_[i] = swap ? j * y_[i] : j * f_[i];
    s_[i] = swap ? j * u_[i] : j * r_[i];
  }
  const int64_t d = problem_.X.columns, count = d <= 512 ? d : std::max<int64_t>(512, d / 4);
  int64_t feature = d == count ? 0 : rng.below(uint32_t(d));
  Best best;
  uint64_t coin = 0;
  for (int64_t k = 0; k < count; ++k, feature = feature + 1 == d ? 0 : feature + 1) {
    if (k % 64 == 0) coin = rng.next();
    if ((coin >> (k % 64)) & 1) continue;
    double s[4];
    rows_of_.scan(transformed(feature), p_, q_, s_, t_, n_, s);
    double gain = 0;
    if (swap) {
      const double z1 = u1_ + s[0], zy = uy_ + s[1], zz = uu_ + 2 * s[2] + s[3];
      const double spread = zz - z1 * z1 / weight_;
      gain = spread > 1e-6 * zz ? zy * zy / spread : 0;
    } else {
      gain = added(s);
    }
    if (!(gain > best.gain) || !std::isfinite(gain)) continue;
    best = {gain, feature, transform_, 0};
    if (!swap && slope_ != 0) {
      const double spread = s[3] - s[0] * s[0] / weight_ - s[1] * s[1] / ff_;
      best.coefficient = s[2] / spread / slope_;
    }
  }
  work_ += (transform_ == kPlain ? 0.25 : 1.0) * double(count) * rows_;
  return best;
}

template <class T>
Genome Guide<T>::swap(Rng& rng, const Genome& tree) {
  int64_t node = rng.below(uint32_t(tree.size()));
  if (rng.uniform() < 0.7)  // mostly a leaf
    while (tree.code[size_t(node)] >= 0) --node;
  if (!focus(node, false)) return tree;
  transform_ = transform(rng);
  const Best best = scan(rng, true);
  if (best.feature < 0) return tree;
  Genome leaf;
  write(best, &leaf);
  return splice(problem_.language, tree, node, leaf.view());
}

template <class T>
Genome Guide<T>::expand(Rng& rng, const Genome& tree) {
  const int64_t node =
      rng.uniform() < 0.3 ? tree.size() - 1 : int64_t(rng.below(uint32_t(tree.size())));
  // h + a x, h * (1 + a x), or what is the same to first order, h / (1 - a x).
  const double kind = rng.uniform();
  const bool quotient = divides_ && kind > 0.8, product = kind > 0.55;
  if (slope_ == 0 || !focus(node, product)) return swap(rng, tree);
  transform_ = transform(rng);
  const Best best = scan(rng, false);
  if (best.feature < 0 || !std::isfinite(best.coefficient)) return tree;
  Genome fresh(subtree(problem_.language, tree, node));
  write(best, &fresh);
  fresh.push(kConstant, quotient ? -best.coefficient : best.coefficient);
  fresh.push(k_mul);
  if (product) fresh.push(kConstant, 1), fresh.push(k_add);
  fresh.push(quotient ? k_div : product ? k_mul : k_add);
  return splice(problem_.language, tree, node, fresh.view());
}

// The best other function at a node, or the best function around it.
template <class T>
Genome Guide<T>::rename(Rng& rng, const Genome& tree) {
  const int64_t node = rng.below(uint32_t(tree.size()));
  if (!focus(node, false)) return tree;
  const int32_t c = tree.code[size_t(node)];
  const int n = problem_.language.arity(c);
  const bool wrap = n == 0 || rng.uniform() < 0.5;
  const int64_t second = node - 1;
  const int64_t first = n == 2 ? subtree_begin(problem_.language, tree.code, second) - 1 : second;
  double best = 0;
  int32_t chosen = -1;
  for (size_t k = 0; k < sprout_.functions.size(); ++k) {
    const int32_t op = sprout_.functions[k];
    if (op >= kFirstComposed || sprout_.arities[k] != (wrap ? 1 : n) || (!wrap && op == c))
      continue;
    if (rng.uniform() < 0.3) continue;
    const T* a = differentiator_.value(wrap ? node : first);
    const T* b = differentiator_.value(wrap ? node : second);
    kernels_.map[0][op](a, b, v_, n_);
    const double r2 = judge(v_);
    if (r2 > best) best = r2, chosen = op;
  }
  if (chosen < 0) return tree;
  Genome out = tree;
  if (!wrap) {
    out.code[size_t(node)] = chosen;
    return out;
  }
  out.code.insert(out.code.begin() + node + 1, chosen);
  out.value.insert(out.value.begin() + node + 1, 0.0);
  return out;
}

// The node whose replacement by one of its arguments costs least.
template <class T>
Genome Guide<T>::shrink(Rng& rng, const Genome& tree) {
  double best = 0;
  int64_t at = -1, kept = -1;
  for (int64_t node = 0; node < tree.size(); ++node) {
    const int n = problem_.language.arity(tree.code[size_t(node)]);
    if (n == 0 || rng.uniform() < 0.5 || !focus(node, false)) continue;
    for (int k = 0; k < n; ++k) {
      const int64_t child =
          k == 0 ? node - 1 : subtree_begin(problem_.language, tree.code, node - 1) - 1;
      const double r2 = judge(differentiator_.value(child));
      if (r2 > best) best = r2, at = node, kept = child;
    }
  }
  if (at < 0) return tree;
  const Genome part(subtree(problem_.language, tree, kept));
  return splice(problem_.language, tree, at, part.view());
}

template <class T>
Genome Guide<T>::edit(Rng& rng, const Genome& tree) {
  if (!look(rng, tree)) return tree;
  const double kind = rng.uniform();
  if (kind < 0.4) return swap(rng, tree);
  if (kind < 0.7 && affine_) return expand(rng, tree);
  if (kind < 0.85) return rename(rng, tree);
  return shrink(rng, tree);
}

// |X' diag(w J r) X| on some rows of it: for feature i the vector c = w J r (x_i - mean), without
// its mean, so that only the joint variation of the two features counts, against every x_j.
template <class T>
std::vector<typename Guide<T>::Pair> Guide<T>::pairs(Rng& rng) {
  const int64_t d = problem_.X.columns;
  std::vector<double> norm(size_t(d), 0), mean(size_t(d), 0);
  for (int64_t j = 0; j < d; ++j) {
    double s[4];
    rows_of_.scan(column(j), w_, w_, w_, w_, n_, s);
    mean[size_t(j)] = s[0] / weight_;
    const double spread = s[3] - s[0] * s[0] / weight_;
    norm[size_t(j)] = spread > 1e-9 * s[3] ? 1 / std::sqrt(spread) : 0;
  }
  const int64_t height = std::min<int64_t>((d + 3) / 4, kPairRows / 4);
  T* left = pair_memory_.get(4 * kRowStride);
  std::vector<Pair> top;
  const auto weaker = [](const Pair& a, const Pair& b) { return a.strength > b.strength; };
  int64_t i = rng.below(uint32_t(d));
  for (int64_t block = 0; block < height; ++block) {
    int64_t feature[4];
    double scale[4];
    for (int k = 0; k < 4; ++k, i = i + 1 == d ? 0 : i + 1) {
      feature[k] = i;
      const T* x = column(i);
      T* c = left + k * kRowStride;
      double sum = 0, squares = 0;
      for (int r = 0; r < n_; ++r) {
        c[r] = w_[r] * J_[r] * r_[r] * (x[r] - T(mean[size_t(i)]));
        sum += double(c[r]);
      }
      for (int r = 0; r < n_; ++r) {
        if (w_[r] > T(0)) c[r] -= T(double(w_[r]) * sum / weight_);
        squares += double(c[r]) * double(c[r]);
      }
      scale[k] = squares > 0 && norm[size_t(i)] > 0 ? 1 / std::sqrt(squares) : 0;
    }
    for (int64_t j = 0; j < d; ++j) {
      double s[4];
      rows_of_.dots(column(j), left, kRowStride, n_, s);
      for (int k = 0; k < 4; ++k) {
        const double strength = std::abs(s[k]) * scale[k] * norm[size_t(j)];
        if (!(strength > (top.size() < kPairsKept ? 0 : top.front().strength))) continue;
        if (top.size() == kPairsKept) {
          std::pop_heap(top.begin(), top.end(), weaker);
          top.pop_back();
        }
        top.push_back({strength, feature[k], j});
        std::push_heap(top.begin(), top.end(), weaker);
      }
    }
  }
  work_ += (0.25 + 0.4 * double(height)) * double(d) * rows_;
  return top;
}

template <class T>
Genome Guide<T>::edit_pair(Rng& rng, const Genome& tree) {
  if (!affine_ || !look(rng, tree)) return tree;
  const int64_t node =
      rng.uniform() < 0.5 ? tree.size() - 1 : int64_t(rng.below(uint32_t(tree.size())));
  const bool product = slope_ != 0 && rng.uniform() < 0.3;
  if (slope_ == 0)
    std::fill(J_, J_ + n_, T(1));
  else if (!focus(node, product))
    return tree;
  double best = 0, coefficient = 0;
  Pair chosen{0, -1, -1};
  for (int i = 0; i < n_; ++i) {
    const T j = w_[i] * J_[i];
    p_[i] = j, q_[i] = j * f_[i], s_[i] = j * r_[i], t_[i] = j * J_[i];
  }
  for (const Pair& pair : pairs(rng)) {
    if (rng.uniform() < 0.3) continue;
    std::memcpy(v_, column(pair.i), size_t(n_) * sizeof(T));
    const T* x = column(pair.j);
    for (int r = 0; r < n_; ++r) v_[r] *= x[r];
    double s[4];
    rows_of_.scan(v_, p_, q_, s_, t_, n_, s);
    const double gain = added(s);
    if (!(gain > best)) continue;
    best = gain, chosen = pair;
    coefficient = slope_ != 0 ? gain / s[2] / slope_ : 0;
  }
  if (chosen.i < 0 || !std::isfinite(coefficient)) return tree;
  Genome fresh;
  if (slope_ != 0) fresh.append(subtree(problem_.language, tree, node));
  fresh.push(~int32_t(chosen.i));
  fresh.push(~int32_t(chosen.j));
  fresh.push(k_mul);
  if (slope_ == 0) return fresh;
  fresh.push(kConstant, coefficient);
  fresh.push(k_mul);
  if (product) fresh.push(kConstant, 1), fresh.push(k_add);
  fresh.push(product ? k_mul : k_add);
  return splice(problem_.language, tree, node, fresh.view());
}

template class Guide<float>;
template class Guide<double>;

}  // namespace symgrad
