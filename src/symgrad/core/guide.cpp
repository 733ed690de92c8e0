#include "guide.hpp"

#include <algorithm>
#include <cmath>

namespace symgrad {

template <class T>
Guide<T>::Guide(const Problem<T>& problem, const Sprout& sprout, Donor donor)
    : problem_(problem),
      sprout_(sprout),
      kernels_(kernels<T>()),
      rows_of_(row_kernels<T>()),
      differentiator_(problem.language, problem.X, false),
      words_(problem.X, sprout),
      parts_(problem.language, problem.X),
      donor_(std::move(donor)) {
  T** buffers[] = {&w_, &y_, &f_, &r_, &J_, &u_, &p_, &q_, &s_, &t_, &pad_, &v_};
  T* memory = memory_.get(std::size(buffers) * kRowStride);
  for (T** b : buffers) *b = memory, memory += kRowStride;
  const auto& ops = sprout.functions;
  const auto has = [&](int32_t op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); };
  plain_ = has(k_add) && has(k_sub) && has(k_mul);
  affine_ = sprout.p_constant > 0 && !sprout.whole && has(k_add) && has(k_mul);
  divides_ = has(k_div);
  multiplies_ = has(k_mul);
  for (size_t k = 0; k < ops.size(); ++k)
    if (sprout.arities[k] == 1 && ops[k] < kFirstComposed) unary_.push_back(ops[k]);
}

template <class T>
const T* Guide<T>::column(int64_t feature) {
  return load(problem_.X, int32_t(feature), row_, rows_, pad_);
}

// Whether there are parts of other trees, gathered now if they are not yet.
template <class T>
bool Guide<T>::has_parts(Rng& rng) {
  if (donor_ && parts_.count() == 0) {
    parts_.gather(rng, donor_, row_, rows_);
    work_ += parts_.work();
  }
  return parts_.count() > 0;
}

// Parts of other trees half of the time, otherwise mostly features as they are.
template <class T>
int32_t Guide<T>::source(Rng& rng) {
  if (rng.uniform() < 0.5 && has_parts(rng)) return kPart;
  const double kind = rng.uniform();
  if (kind < 0.6) return kPlain;
  if (kind < 0.8) return kWord;
  if (kind < 0.9) return multiplies_ ? kSquare : kPlain;
  return unary_.empty() ? kPlain : unary_[rng.below(uint32_t(unary_.size()))];
}

template <class T>
int64_t Guide<T>::candidates() const {
  const int64_t d = problem_.X.columns;
  if (source_ == kPart) return parts_.count();
  return source_ == kWord ? words_.count() : d <= 512 ? d : std::max<int64_t>(512, d / 4);
}

template <class T>
const T* Guide<T>::candidate(int64_t k) {
  const T* v = plain_candidate(k);
  if (!inverted_) return v;
  for (int i = 0; i < n_; ++i) v_[i] = T(1) / (T(1) + v[i]);
  return v_;
}

template <class T>
const T* Guide<T>::plain_candidate(int64_t k) {
  if (source_ == kWord) return words_.value(k);
  if (source_ == kPart) return parts_.value(k);
  const T* x = column(k);
  if (source_ == kPlain) return x;
  kernels_.map[0][source_ == kSquare ? int32_t(k_mul) : source_](x, x, v_, n_);
  return v_;
}

template <class T>
Genome Guide<T>::written(int64_t candidate) const {
  if (source_ == kPart) return parts_.tree(candidate);
  Genome out;
  if (source_ == kWord) {
    words_.write(candidate, &out);
    return out;
  }
  out.push(~int32_t(candidate));
  if (source_ == kSquare) out.push(~int32_t(candidate)), out.push(k_mul);
  if (source_ >= 0) out.push(source_);
  return out;
}

// Takes some rows, runs the tree forward and backward on them and fits the line.
template <class T>
bool Guide<T>::look(Rng& rng, const Genome& tree) {
  const int64_t n = problem_.X.rows;
  rows_ = int(std::min<int64_t>(n, kRows));
  n_ = padded(rows_);
  if (looks_++ % kLooks == 0) {
    row_ = n > kRows ? rng.below(uint32_t((n - kRows) / kVector + 1)) * int64_t(kVector) : 0;
    words_.build(rng, row_, rows_);
    work_ += words_.work();
    parts_.clear();
    columns_.clear();
    aimed_ = false;
  }
  differentiator_.select(tree.view());
  adjoints_ = differentiator_.run(row_, rows_);
  const T* f = differentiator_.result();
  work_ += 3.0 * double(tree.size()) * rows_;
  for (int i = 0; i < rows_; ++i)
    if (!std::isfinite(f[i])) return false;
  if (!aimed_) aim(f);
  aimed_ = problem_.loss.plain();
  double sums[3];
  rows_of_.centred(f, w_, y_, weight_, n_, f_, sums);
  const double f1 = sums[0];
  ff_ = sums[1];
  if (!(weight_ > 0) || !std::isfinite(f1)) return false;
  slope_ = ff_ > 1e-20 * f1 * f1 * weight_ && ff_ > 0 ? sums[2] / ff_ : 0;
  for (int i = 0; i < n_; ++i) r_[i] = T(double(y_[i]) - slope_ * double(f_[i]));
  return yy_ > 0;
}

// Sets the rows' weights and targets, less their mean. Only with losses other than squares do they
// depend on the tree's values.
template <class T>
void Guide<T>::aim(const T* f) {
  const double* y = problem_.y + row_;
  const double* w = problem_.weight ? problem_.weight + row_ : nullptr;
  std::vector<double> target(y, y + rows_), weight(size_t(rows_), 1.0);
  if (w) weight.assign(w, w + rows_);
  if (!problem_.loss.plain()) {  // the parabola that touches the loss here
    const Line line = best_line(problem_.loss, f, y, w, rows_, false);
    for (int i = 0; i < rows_; ++i) {
      const double p = line.intercept + line.slope * double(f[i]);
      const Loss::Point at = problem_.loss.at(y[i], p);
      target[size_t(i)] = p - at.gradient / at.curvature;
      weight[size_t(i)] *= at.curvature;
    }
  }
  double y1 = 0;
  weight_ = yy_ = 0;
  for (int i = 0; i < n_; ++i) {
    const double wi = i < rows_ ? weight[size_t(i)] : 0.0;
    w_[i] = T(wi);
    weight_ += wi;
    if (wi != 0) y1 += wi * target[size_t(i)];
  }
  y1 /= weight_;
  for (int i = 0; i < n_; ++i) {
    const double v = w_[i] > T(0) ? target[size_t(i)] - y1 : 0;
    y_[i] = T(v);
    yy_ += double(w_[i]) * v * v;
  }
}

// Sets J and u for a change of a node by v, so that the tree becomes u + J v.
template <class T>
bool Guide<T>::focus(int64_t node, Change change) {
  const T* J = adjoints_ + node * kStride;
  const T *h = differentiator_.value(node), *f = differentiator_.result();
  const bool keeps = change == kPlus || change == kMinus;
  double sums[4];
  rows_of_.split(J, h, f, w_, y_, change == kTimes, change == kMinus ? T(-1) : T(1), keeps, n_, J_,
                 u_, sums);
  u1_ = sums[0], uy_ = sums[1], uu_ = sums[2];
  return std::isfinite(sums[2]) && std::isfinite(sums[3]) && sums[3] > 0;
}

// R2 of the line through u + J v.
template <class T>
double Guide<T>::judge(const T* v) {
  double sums[3];
  rows_of_.line(u_, J_, v, w_, y_, n_, sums);
  const double z1 = sums[0], zy = sums[1], zz = sums[2];
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

// Explained squares of u + J v, from the sums of J v, J v y, J v u, (J v)^2.
template <class T>
double Guide<T>::swapped(const double* s) const {
  const double z1 = u1_ + s[0], zy = uy_ + s[1], zz = uu_ + 2 * s[2] + s[3];
  const double spread = zz - z1 * z1 / weight_;
  return spread > 1e-6 * zz ? zy * zy / spread : 0;
}

// What v is multiplied with for these sums, or those of `added`.
template <class T>
void Guide<T>::weigh(bool swap) {
  for (int i = 0; i < n_; ++i) {
    const T j = w_[i] * J_[i];
    p_[i] = j, t_[i] = j * J_[i];
    q_[i] = swap ? j * y_[i] : j * f_[i];
    s_[i] = swap ? j * u_[i] : j * r_[i];
  }
}

// The best candidate v for u + J v (swap) or f + a J v, among a random half of those looked at: a
// search that always takes the first choice soon sees nothing else.
template <class T>
typename Guide<T>::Best Guide<T>::scan(Rng& rng, bool swap, int32_t source) {
  source_ = source;
  weigh(swap);
  const bool some = source != kWord && source != kPart;  // of many features
  const int64_t count = candidates(), all = some ? problem_.X.columns : count;
  int64_t k = all == count ? 0 : rng.below(uint32_t(all));
  Best best;
  uint64_t coin = 0;
  for (int64_t tried = 0; tried < count; ++tried, k = k + 1 == all ? 0 : k + 1) {
    if (tried % 64 == 0) coin = rng.next();
    if ((coin >> (tried % 64)) & 1) continue;
    double s[4];
    rows_of_.scan(candidate(k), p_, q_, s_, t_, n_, s);
    const double gain = swap ? swapped(s) : added(s);
    if (!(gain > best.gain) || !std::isfinite(gain)) continue;
    best = {gain, k, swap || slope_ == 0 ? 0 : gain / s[2] / slope_};
  }
  work_ += (source == kPlain || !some ? 0.25 : 1.0) * double(count) * rows_;
  return best;
}

template <class T>
Genome Guide<T>::swap(Rng& rng, const Genome& tree) {
  int64_t node = rng.below(uint32_t(tree.size()));
  if (rng.uniform() < 0.7)  // mostly a leaf
    while (tree.code[size_t(node)] >= 0) --node;
  return replaced(rng, tree, node, source(rng));
}

template <class T>
Genome Guide<T>::replaced(Rng& rng, const Genome& tree, int64_t node, int32_t source) {
  if (!focus(node, kReplace)) return tree;
  const Best best = scan(rng, true, source);
  if (best.candidate < 0) return tree;
  return splice(problem_.language, tree, node, written(best.candidate).view());
}

// The tree with h + a v, h * (1 + a v), or what is the same to first order, h / (1 - a v), at a
// node; with a = 0 for h + v, h - v, h * v or h / v as they are.
template <class T>
Genome Guide<T>::grown(const Genome& tree, int64_t node, const Genome& part, double coefficient,
                       Change change) const {
  Genome fresh(subtree(problem_.language, tree, node));
  fresh.append(part.view());
  if (coefficient != 0) {
    fresh.push(kConstant, change == kOver ? -coefficient : coefficient);
    fresh.push(k_mul);
    if (change != kPlus) fresh.push(kConstant, 1), fresh.push(k_add);
  }
  const int32_t op[] = {k_add, k_add, k_sub, k_mul, k_div};
  fresh.push(op[change]);
  return splice(problem_.language, tree, node, fresh.view());
}

template <class T>
Genome Guide<T>::expand(Rng& rng, const Genome& tree) {
  const int64_t node =
      rng.uniform() < 0.3 ? tree.size() - 1 : int64_t(rng.below(uint32_t(tree.size())));
  if (!affine_) return expand_plainly(rng, tree, node);
  const double kind = rng.uniform();
  const Change change = divides_ && kind > 0.8 ? kOver : kind > 0.55 ? kTimes : kPlus;
  if (slope_ == 0 || !focus(node, change == kPlus ? kPlus : kTimes)) return swap(rng, tree);
  const Best best = scan(rng, false, source(rng));
  if (best.candidate < 0 || !std::isfinite(best.coefficient) || best.coefficient == 0) return tree;
  return grown(tree, node, written(best.candidate), best.coefficient, change);
}

template <class T>
Genome Guide<T>::expand_plainly(Rng& rng, const Genome& tree, int64_t node) {
  const Change changes[] = {kPlus, kMinus, kTimes, kOver};
  const Change change = changes[rng.below(divides_ && sprout_.p_constant > 0 ? 4 : 3)];
  if (!plain_ || !focus(node, change == kOver ? kTimes : change)) return swap(rng, tree);
  inverted_ = change == kOver;
  const Best best = scan(rng, true, source(rng));
  inverted_ = false;
  if (best.candidate < 0) return tree;
  Genome part = written(best.candidate);
  if (change == kOver) part.push(kConstant, 1), part.push(k_add);
  return grown(tree, node, part, 0, change);
}

// The best other function at a node, or the best function around it.
template <class T>
Genome Guide<T>::rename(Rng& rng, const Genome& tree) {
  const int64_t node = rng.below(uint32_t(tree.size()));
  if (!focus(node, kReplace)) return tree;
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
    if (n == 0 || rng.uniform() < 0.5 || !focus(node, kReplace)) continue;
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
Genome Guide<T>::grow(Rng& rng, const Genome& tree) {
  return look(rng, tree) ? expand(rng, tree) : tree;
}

template <class T>
Genome Guide<T>::cross(Rng& rng, const Genome& tree) {
  if (!look(rng, tree) || !has_parts(rng)) return tree;
  return replaced(rng, tree, rng.below(uint32_t(tree.size())), kPart);
}

template <class T>
Genome Guide<T>::edit(Rng& rng, const Genome& tree) {
  if (!look(rng, tree)) return tree;
  const double kind = rng.uniform();
  if (kind < 0.4) return swap(rng, tree);
  if (kind < 0.7) return expand(rng, tree);
  if (kind < 0.85) return rename(rng, tree);
  return shrink(rng, tree);
}

template class Guide<float>;
template class Guide<double>;

}  // namespace symgrad
