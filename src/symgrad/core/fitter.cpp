#include "fitter.hpp"

#include <algorithm>
#include <cmath>

namespace symgrad {

namespace {

// Part of a slope's square that must be left when the line is projected out.
template <class T>
constexpr double kLeft = sizeof(T) == 4 ? 1e-6 : 1e-12;

// Solves A x = b for a symmetric positive definite A (row-major, overwritten); false if it is not.
bool solve(std::vector<double>* A, std::vector<double>* b, int n) {
  double* a = A->data();
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k) {
      for (int i = j; i < n; ++i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
    }
    if (!(a[j * n + j] > 0)) return false;
    const double root = std::sqrt(a[j * n + j]);
    for (int i = j; i < n; ++i) a[i * n + j] /= root;
  }
  double* x = b->data();
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= a[i * n + k] * x[k];
    x[i] /= a[i * n + i];
  }
  for (int i = n; i-- > 0;) {
    for (int k = i + 1; k < n; ++k) x[i] -= a[k * n + i] * x[k];
    x[i] /= a[i * n + i];
  }
  return true;
}

// A line through the first rows fits them better than the line through all does, by chance worse.
double chance(int64_t rows) { return 1 + 3 * std::sqrt(2.0 / double(rows)); }

}  // namespace

template <class T>
Fitter<T>::Fitter(const Problem<T>& problem)
    : problem_(problem),
      machine_(problem.language, problem.X, false),
      differentiator_(problem.language, problem.X, false) {
  const std::vector<T> nothing(static_cast<size_t>(problem.X.rows));
  const auto constant = [&](int64_t rows) {
    return best_line(problem.loss, nothing.data(), problem.y, problem.weight, rows, true).loss;
  };
  total_ = constant(problem.X.rows);
  total_of_first_ = constant(std::min(problem.X.rows, kFirstRows));
}

// The tree at hand under another loss than plain squares: all predictions, then the line.
template <class T>
Judged Fitter<T>::judge_by_loss(double bound, Line near) {
  const int64_t n = problem_.X.rows;
  const bool limited = problem_.loss.limited();
  const bool bounded = limited && std::isfinite(bound) && n > kFirstRows;
  T* f = predictions_.get(size_t(n));
  for (int64_t row = 0, rows = 0; row < n; row += rows) {
    rows = std::min<int64_t>(n - row, bounded && row == 0 ? kFirstRows : kBlock);
    const T* values = machine_.run(row, int(rows));
    std::copy(values, values + rows, f + row);
    if (bounded && row == 0) {
      near = best_line(problem_.loss, f, problem_.y, problem_.weight, rows, false);
      if (!(near.loss <= chance(rows) * bound * total_of_first_)) return {HUGE_VAL, 0, 0};
    }
    for (int64_t i = 0; i < rows && !limited; ++i)
      if (!std::isfinite(values[i])) return {HUGE_VAL, 0, 0};
  }
  const Line line = best_line(problem_.loss, f, problem_.y, problem_.weight, n, false, &near);
  if (!std::isfinite(line.loss)) return {HUGE_VAL, 0, 0};
  return {line.loss / total_, line.slope, line.intercept};
}

template <class T>
Judged Fitter<T>::judge(const Genome& tree, double bound, const Judged& near) {
  ++evaluations_;
  machine_.select(tree.view());
  if (!problem_.loss.plain()) return judge_by_loss(bound, {near.slope, near.intercept});
  Moments m;
  const int64_t n = problem_.X.rows;
  const bool bounded = problem_.scaled && std::isfinite(bound);
  for (int64_t row = 0, rows = 0; row < n; row += rows) {
    // Most trees are known to be too bad after the first rows.
    rows = std::min<int64_t>(n - row, bounded && row == 0 ? kFirstRows : kBlock);
    const T* f = machine_.run(row, int(rows));
    Moments block;
    const double* w = problem_.weight ? problem_.weight + row : nullptr;
    if (!kernels<T>().moments(f, problem_.y + row, w, int(rows), &block)) return {HUGE_VAL, 0, 0};
    m.merge(block);
    if (bounded && row + rows < n && m.m2_y > 0 && m.m2_f > 0) {
      const double part = 1 - m.c_fy * m.c_fy / (m.m2_f * m.m2_y);
      if (part > chance(row + rows) * bound) return {HUGE_VAL, 0, 0};
    }
  }
  if (!std::isfinite(m.m2_f) || !std::isfinite(m.squared_error)) return {HUGE_VAL, 0, 0};
  if (!problem_.scaled) return {m.squared_error / total_, 1, 0};
  // A tree that varies by rounding alone, or next to nothing, is a constant.
  const double noise = kRounding<T> * m.mean_f * m.mean_f * m.weight;
  if (!(m.m2_f > noise) || m.m2_f < 1e-60) return {1, 0, m.mean_y};
  const double slope = m.c_fy / m.m2_f;
  const double left = m.m2_y - slope * m.c_fy;
  return {std::max(left, 0.0) / total_, slope, m.mean_y - slope * m.mean_f};
}

// Sums over all rows: the Jacobian's Gram matrix with [1, f] projected out, and its product with
// the residual.
template <class T>
void Fitter<T>::normal_equations(const Genome& tree, const std::vector<int64_t>& at,
                                 const Judged& now, int64_t n_rows) {
  const int c = int(at.size());
  const auto& rows_of = row_kernels<T>();
  std::vector<double> sum(size_t(c), 0), with_f(size_t(c), 0);
  hessian_.assign(size_t(c * c), 0);
  descent_.assign(size_t(c), 0);
  const bool squared = problem_.loss.kind == kLoss_squared;
  double sums[5] = {};
  double &weight = sums[0], &f1 = sums[1], &f2 = sums[2], &r1 = sums[3], &rf = sums[4];
  differentiator_.select(tree.view(), true);
  T* residual = residual_.get(3 * kStride);
  T *weights = residual + kStride, *f_weighted = residual + 2 * kStride;
  for (int64_t row = 0; row < n_rows; row += kBlock) {
    const int rows = int(std::min<int64_t>(n_rows - row, kBlock)), n = padded(rows);
    T* adjoint = differentiator_.run(row, rows);
    const T* f = differentiator_.result();
    const double* w = problem_.weight ? problem_.weight + row : nullptr;
    if (squared) {
      rows_of.residuals(f, problem_.y + row, w, now.slope, now.intercept, problem_.loss.low,
                        problem_.loss.high, rows, residual, f_weighted, weights, sums);
    }
    for (int i = 0; i < rows && !squared; ++i) {  // the parabola that touches the loss here
      const double v = double(f[i]);
      const Loss::Point at = problem_.loss.at(problem_.y[row + i], now.intercept + now.slope * v);
      const double wi = (w ? w[i] : 1.0) * at.curvature;
      residual[i] = T(-(w ? w[i] : 1.0) * at.gradient);
      f_weighted[i] = T(wi * v);
      weights[i] = T(wi);
      weight += wi, f1 += wi * v, f2 += wi * v * v;
      r1 += double(residual[i]), rf += double(residual[i]) * v;
    }
    for (int i = rows; i < n; ++i) residual[i] = f_weighted[i] = weights[i] = T(0);
    for (const int64_t slot : at)
      for (int i = rows; i < n; ++i) adjoint[slot * kStride + i] = T(0);
    for (int k = 0; k < c; ++k) {
      const T* g = adjoint + at[size_t(k)] * kStride;
      sum[size_t(k)] += rows_of.dot(g, weights, n);
      with_f[size_t(k)] += rows_of.dot(g, f_weighted, n);
      descent_[size_t(k)] += rows_of.dot(g, residual, n);
      if (w || !problem_.loss.plain()) {
        T* weighted = weighted_.get(kStride);
        for (int i = 0; i < n; ++i) weighted[i] = g[i] * weights[i];
        g = weighted;
      }
      for (int l = 0; l <= k; ++l)
        hessian_[size_t(k * c + l)] += rows_of.dot(g, adjoint + at[size_t(l)] * kStride, n);
    }
  }
  if (!problem_.scaled) return;
  const double spread = f2 - f1 * f1 / weight;
  for (int k = 0; k < c; ++k) with_f[size_t(k)] -= sum[size_t(k)] * f1 / weight;
  rf -= r1 * f1 / weight;  // both are zero on all rows, not on some
  for (int k = 0; k < c; ++k) {
    descent_[size_t(k)] -= sum[size_t(k)] * r1 / weight;
    if (spread > 0) descent_[size_t(k)] -= with_f[size_t(k)] * rf / spread;
  }
  std::vector<bool> idle(size_t(c), false);
  for (int k = 0; k < c; ++k) {
    double& own = hessian_[size_t(k * c + k)];
    const double before = own;
    for (int l = 0; l <= k; ++l) {
      double& h = hessian_[size_t(k * c + l)];
      h -= sum[size_t(k)] * sum[size_t(l)] / weight;
      if (spread > 0) h -= with_f[size_t(k)] * with_f[size_t(l)] / spread;
    }
    idle[size_t(k)] = !(own > kLeft<T> * before);
  }
  // A constant that only the line could tell stays; what is left of it is rounding.
  for (int k = 0; k < c; ++k) {
    if (idle[size_t(k)]) descent_[size_t(k)] = 0;
    for (int l = 0; l <= k; ++l)
      if (idle[size_t(k)] || idle[size_t(l)]) hessian_[size_t(k * c + l)] = k == l;
  }
}

template <class T>
Judged Fitter<T>::fit(Genome* tree, const Judged& start, int steps, int64_t most) {
  std::vector<int64_t> at;
  for (int64_t i = 0; i < tree->size() && at.size() < kMaxConstants; ++i)
    if (tree->code[size_t(i)] == kConstant) at.push_back(i);
  if (at.empty() || start.slope == 0 || !std::isfinite(start.error)) return start;
  const int c = int(at.size());
  Judged now = start;
  double damping = 1e-3;
  bool fresh = false;
  for (int step = 0; step < steps; ++step) {
    if (!fresh) normal_equations(*tree, at, now, std::min(most, problem_.X.rows));
    fresh = true;
    std::vector<double> A(hessian_), delta(descent_);
    for (int k = 0; k < c; ++k) {
      double& d = A[size_t(k * c + k)];
      if (!std::isfinite(d) || !std::isfinite(delta[size_t(k)])) return now;
      d += damping * std::max(d, 0.0) + 1e-30;
    }
    Genome trial = *tree;
    Judged judged{HUGE_VAL, 0, 0};
    if (solve(&A, &delta, c)) {
      for (int k = 0; k < c; ++k)
        trial.value[size_t(at[size_t(k)])] += delta[size_t(k)] / now.slope;
      bool finite = true;
      for (const int64_t i : at) finite = finite && std::isfinite(trial.value[size_t(i)]);
      if (finite) judged = judge(trial, HUGE_VAL, now);
    }
    if (judged.error < now.error) {
      const bool little = judged.error > now.error * (1 - 1e-6);
      now = judged;
      *tree = std::move(trial);
      damping *= 0.1;
      fresh = false;
      if (little) break;
    } else {
      damping *= 30;
      if (damping > 1e6) break;
    }
  }
  return now;
}

template class Fitter<float>;
template class Fitter<double>;

}  // namespace symgrad
