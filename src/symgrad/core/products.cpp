// The part of Guide that looks for products. A product of two features has no first-order trace;
// its second-order one is the entry of X' diag(g) X, with g = w J r the adjoint times the residual.
#include <algorithm>
#include <cmath>

#include "guide.hpp"

namespace symgrad {

template <class T>
void Guide<T>::measure_columns() {
  const size_t d = size_t(problem_.X.columns);
  if (columns_.size() == d) return;
  columns_.resize(d);
  for (size_t j = 0; j < d; ++j) {
    const T* x = column(int64_t(j));
    double s[4];
    rows_of_.scan(x, w_, w_, w_, w_, n_, s);
    const double mean = s[0] / weight_, spread = s[3] - s[0] * mean;
    double fourth = 0;
    for (int i = 0; i < n_; ++i) {
      const double c = double(x[i]) - mean;
      fourth += double(w_[i]) * c * c * c * c;
    }
    const double spread_of_square = fourth - spread * spread / weight_;
    const bool varies = spread > 1e-9 * s[3];
    columns_[j] = {
        mean, varies ? 1 / std::sqrt(spread) : 0,
        varies && spread_of_square > 1e-9 * fourth ? 1 / std::sqrt(spread_of_square) : 0};
  }
  work_ += 2.0 * double(d) * rows_;
}

// Features that are likely to be part of a product: where one factor is large, residuals are, so
// |g| varies with x^2, even where g does not vary with x. Half of the ranks are passed over. To
// these come some neighbours in the table, taken at random, so that nothing is left out for good.
template <class T>
std::vector<int64_t> Guide<T>::pool(Rng& rng) {
  const int64_t d = problem_.X.columns;
  double total = 0;
  for (int i = 0; i < n_; ++i) {
    p_[i] = w_[i], q_[i] = w_[i] * J_[i] * r_[i];
    total += std::abs(double(q_[i]));
  }
  for (int i = 0; i < n_; ++i)
    s_[i] = t_[i] = T(std::abs(double(q_[i])) - total / weight_ * double(w_[i]));
  std::vector<std::pair<double, int64_t>> traces;
  for (int64_t j = 0; j < d; ++j) {
    const Column& c = columns_[size_t(j)];
    double s[4];
    rows_of_.scan(column(j), p_, q_, s_, t_, n_, s);
    const double first = std::abs(s[1]) * c.norm;
    const double second = std::abs(s[3] - 2 * c.mean * s[2]) * c.norm_of_square;
    traces.push_back({-std::max(first, second), j});
  }
  work_ += 0.25 * double(d) * rows_;
  const size_t ranked = std::min(traces.size(), 2 * kPool);
  std::partial_sort(traces.begin(), traces.begin() + int64_t(ranked), traces.end());
  std::vector<int64_t> out;
  for (size_t k = 0; k < ranked; ++k)
    if (rng.uniform() < 0.5 || ranked < 2 * kPool) out.push_back(traces[k].second);
  int64_t j = rng.below(uint32_t(d));
  for (size_t k = 0; k < kBlock && ranked == 2 * kPool; ++k, j = j + 1 == d ? 0 : j + 1)
    if (std::find(out.begin(), out.end(), j) == out.end()) out.push_back(j);
  return out;
}

// g times a product of centred features, without its mean, and of length 1.
template <class T>
bool Guide<T>::adjoint_times(const Product& left, T* out) {
  for (int i = 0; i < n_; ++i) out[i] = w_[i] * J_[i] * r_[i];
  for (const int64_t j : {left.i, left.j}) {
    if (j < 0) continue;
    const T* x = column(j);
    const T mean = T(columns_[size_t(j)].mean);
    for (int i = 0; i < n_; ++i) out[i] *= x[i] - mean;
  }
  const double squares = rows_of_.less_mean(out, w_, weight_, n_);
  if (!(squares > 0) || !std::isfinite(squares)) return false;
  const T scale = T(1 / std::sqrt(squares));
  for (int i = 0; i < n_; ++i) out[i] *= scale;
  return true;
}

// The products of those on the left and any feature that go best with g.
template <class T>
void Guide<T>::products(const std::vector<Product>& left, std::vector<Product>* top) {
  const int64_t d = problem_.X.columns;
  T* block = left_memory_.get(4 * kRowStride);
  const auto weaker = [](const Product& a, const Product& b) { return a.strength > b.strength; };
  for (size_t first = 0; first < left.size(); first += 4) {
    for (size_t k = 0; k < 4; ++k) {
      T* out = block + k * kRowStride;
      if (first + k >= left.size() || !adjoint_times(left[first + k], out))
        std::fill(out, out + n_, T(0));
    }
    for (int64_t j = 0; j < d; ++j) {
      double s[4];
      rows_of_.dots(column(j), block, kRowStride, n_, s);
      for (size_t k = 0; k < 4; ++k) {
        const double strength = std::abs(s[k]) * columns_[size_t(j)].norm;
        if (!(strength > (top->size() < kProductsKept ? 0 : top->front().strength))) continue;
        if (top->size() == kProductsKept) {
          std::pop_heap(top->begin(), top->end(), weaker);
          top->pop_back();
        }
        const Product& at = left[first + k];
        top->push_back({strength, at.i, at.j < 0 ? j : at.j, at.j < 0 ? -1 : j});
        std::push_heap(top->begin(), top->end(), weaker);
      }
    }
  }
  work_ += 0.1 * double(left.size()) * double(d) * rows_;
}

template <class T>
Genome Guide<T>::grow_by_product(Rng& rng, const Genome& tree) {
  if (!affine_ || !look(rng, tree)) return tree;
  const int64_t node =
      rng.uniform() < 0.5 ? tree.size() - 1 : int64_t(rng.below(uint32_t(tree.size())));
  const Change change = slope_ != 0 && rng.uniform() < 0.3 ? kTimes : kPlus;
  if (slope_ == 0)
    std::fill(J_, J_ + n_, T(1));
  else if (!focus(node, change))
    return tree;
  measure_columns();
  const std::vector<int64_t> features = pool(rng);
  std::vector<Product> left, top;
  if (rng.uniform() < 0.7) {
    for (const int64_t i : features) left.push_back({0, i, -1, -1});
  } else {
    const size_t n = std::min(features.size(), kPoolOfPairs);
    for (size_t a = 0; a < n; ++a)
      for (size_t b = 0; b <= a; ++b) left.push_back({0, features[a], features[b], -1});
  }
  products(left, &top);
  weigh(false);
  double best = 0, coefficient = 0;
  Product chosen{0, -1, -1, -1};
  for (const Product& p : top) {
    if (rng.uniform() < 0.3) continue;
    std::fill(v_, v_ + n_, T(1));
    for (const int64_t j : {p.i, p.j, p.k}) {
      if (j < 0) continue;
      const T* x = column(j);
      for (int r = 0; r < n_; ++r) v_[r] *= x[r];
    }
    double s[4];
    rows_of_.scan(v_, p_, q_, s_, t_, n_, s);
    const double gain = added(s);
    if (!(gain > best) || !std::isfinite(gain)) continue;
    best = gain, chosen = p;
    coefficient = slope_ != 0 ? gain / s[2] / slope_ : 0;
  }
  if (chosen.i < 0 || !std::isfinite(coefficient)) return tree;
  Genome part;
  part.push(~int32_t(chosen.i));
  part.push(~int32_t(chosen.j));
  part.push(k_mul);
  if (chosen.k >= 0) part.push(~int32_t(chosen.k)), part.push(k_mul);
  return coefficient == 0 ? part : grown(tree, node, part, coefficient, change);
}

template class Guide<float>;
template class Guide<double>;

}  // namespace symgrad
