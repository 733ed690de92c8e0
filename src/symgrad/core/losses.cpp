#include "losses.hpp"

#include <algorithm>

#include "kernels.hpp"
#include "rows.hpp"

namespace symgrad {

Loss::Point Loss::at(double y, double p) const {
  const double r = y - p, t = number;
  const bool beyond = (y <= low && p < low) || (y >= high && p > high);
  (void)r, (void)t, (void)beyond;
  switch (kind) {
#define LOSS(name, VALUE, GRADIENT, CURVATURE) \
  case kLoss_##name:                           \
    return {VALUE, GRADIENT, CURVATURE};
#include "losses.inc"
#undef LOSS
    default:
      return {HUGE_VAL, 0, 1};
  }
}

const std::vector<const char*>& loss_names() {
  static const std::vector<const char*> names = {
#define LOSS(name, ...) #name,
#include "losses.inc"
#undef LOSS
  };
  return names;
}

namespace {

template <class T>
double total(const Loss& loss, const T* f, const double* y, const double* w, int64_t n,
             const Line& line) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += (w ? w[i] : 1) * loss.value(y[i], line.intercept + line.slope * double(f[i]));
  return sum;
}

// The line by plain squares. False if it has no slope.
template <class T>
bool plain_line(const T* f, const double* y, const double* w, int64_t n, Line* line) {
  Moments m;
  for (int64_t row = 0; row < n; row += kBlock) {
    Moments block;
    const int rows = int(std::min<int64_t>(n - row, kBlock));
    if (!kernels<T>().moments(f + row, y + row, w ? w + row : nullptr, rows, &block)) return false;
    m.merge(block);
  }
  *line = {0, m.mean_y, m.m2_y};
  const double noise = kRounding<T> * m.mean_f * m.mean_f * m.weight;
  if (!(m.m2_f > noise) || m.m2_f < 1e-60 || !std::isfinite(m.m2_f)) return false;
  line->slope = m.c_fy / m.m2_f;
  line->intercept = m.mean_y - line->slope * m.mean_f;
  return line->slope != 0;
}

// The loss is a parabola as long as the same rows are beyond the limits, so each step goes to the
// bottom of the one at hand.
template <class T>
Line limited_line(const Loss& loss, const T* f, const double* y, const double* w, int64_t n,
                  const Line* near) {
  constexpr int kSteps = 20;
  constexpr double kLittle = 1e-5;
  Line line, best;
  if (near && near->slope != 0)
    line = *near;
  else if (!plain_line(f, y, w, n, &line))
    return line;
  const double centre = -line.intercept / line.slope;
  for (int step = 0; step < kSteps; ++step) {
    double s[6] = {};
    row_kernels<T>().limited(f, y, w, line.slope, line.intercept, centre, loss.low, loss.high, n,
                             s);
    line.loss = s[5];
    if (!std::isfinite(s[2] + s[5])) return {};
    if (!(line.loss < best.loss)) {  // too far: half the way
      line.slope = (line.slope + best.slope) / 2;
      line.intercept = (line.intercept + best.intercept) / 2;
      continue;
    }
    best = line;
    const double determinant = s[0] * s[2] - s[1] * s[1];
    if (!(determinant > 1e-12 * s[0] * s[2])) break;
    const double up = (s[2] * s[3] - s[1] * s[4]) / determinant;
    const double tilt = (s[0] * s[4] - s[1] * s[3]) / determinant;
    const double gain = up * s[3] + tilt * s[4];
    line.slope += tilt, line.intercept += up - tilt * centre;
    if (gain > kLittle * best.loss) continue;
    line.loss = std::max(best.loss - gain, 0.0);
    return line;
  }
  return best;
}

}  // namespace

template <class T>
Line best_line(const Loss& loss, const T* f, const double* y, const double* w, int64_t n, bool flat,
               const Line* near) {
  if (loss.limited() && !flat) return limited_line(loss, f, y, w, n, near);
  constexpr int kSteps = 25, kHalvings = 6;
  double weight = 0, mean = 0, mean_f = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double wi = w ? w[i] : 1;
    weight += wi, mean += wi * y[i], mean_f += flat ? 0 : wi * double(f[i]);
  }
  mean /= weight, mean_f /= weight;
  Line line;
  line.intercept = loss.kind == kLoss_poisson ? std::log(std::max(mean, 1e-9)) : mean;
  line.loss = total(loss, f, y, w, n, line);
  for (int step = 0; step < kSteps; ++step) {
    double s0 = 0, s1 = 0, s2 = 0, g0 = 0, g1 = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double wi = w ? w[i] : 1, x = flat ? 0 : double(f[i]) - mean_f;
      const Loss::Point at = loss.at(y[i], line.intercept + line.slope * (flat ? 0 : double(f[i])));
      s0 += wi * at.curvature, s1 += wi * at.curvature * x, s2 += wi * at.curvature * x * x;
      g0 += wi * at.gradient, g1 += wi * at.gradient * x;
    }
    const double determinant = s0 * s2 - s1 * s1;
    const bool tilts = !flat && determinant > 1e-12 * s0 * s2;
    double up = tilts ? -(s2 * g0 - s1 * g1) / determinant : -g0 / s0;
    double tilt = tilts ? -(s0 * g1 - s1 * g0) / determinant : 0;
    Line best = line;
    for (int k = 0; k < kHalvings; ++k, up /= 2, tilt /= 2) {
      Line trial{line.slope + tilt, line.intercept + up - tilt * mean_f, 0};
      trial.loss = total(loss, f, y, w, n, trial);
      if (!(trial.loss < line.loss)) continue;
      best = trial;
      break;
    }
    const bool done = !(best.loss < line.loss * (1 - 1e-7));
    line = best;
    if (done) break;
  }
  return line;
}

template Line best_line(const Loss&, const float*, const double*, const double*, int64_t, bool,
                        const Line*);
template Line best_line(const Loss&, const double*, const double*, const double*, int64_t, bool,
                        const Line*);

}  // namespace symgrad
