#include "losses.hpp"

#include <algorithm>

namespace symgrad {

Loss::Point Loss::at(double y, double p) const {
  const double r = y - p, t = number;
  (void)r, (void)t;
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

}  // namespace

template <class T>
Line best_line(const Loss& loss, const T* f, const double* y, const double* w, int64_t n,
               bool flat) {
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

template Line best_line(const Loss&, const float*, const double*, const double*, int64_t, bool);
template Line best_line(const Loss&, const double*, const double*, const double*, int64_t, bool);

}  // namespace symgrad
