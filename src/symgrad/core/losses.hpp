// Losses, and the line through a tree that they like best.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace symgrad {

enum LossKind : int {
#define LOSS(name, ...) kLoss_##name,
#include "losses.inc"
#undef LOSS
  kLosses
};

struct Loss {
  LossKind kind = kLoss_squared;
  double number = 1;  // huber: where squares end; quantile: which
  double tiny = 1e-9;
  // Squares only: a target at a limit stands for all that lies beyond it, so that a prediction
  // there is as good as the limit.
  double low = -HUGE_VAL, high = HUGE_VAL;

  struct Point {
    double value, gradient, curvature;
  };
  Point at(double y, double p) const;
  double value(double y, double p) const { return at(y, p).value; }
  bool limited() const { return low > -HUGE_VAL || high < HUGE_VAL; }
  bool plain() const { return kind == kLoss_squared && !limited(); }
};

const std::vector<const char*>& loss_names();

struct Line {
  double slope = 0, intercept = 0, loss = HUGE_VAL;  // loss: weighted sum
};

// The best line by reweighted least squares, damped by halving. With `flat` the slope stays 0.
// Where a target has limits, `near` is a line to start from, and the loss is infinite if f is not
// finite.
template <class T>
Line best_line(const Loss& loss, const T* f, const double* y, const double* weight, int64_t n,
               bool flat, const Line* near = nullptr);

}  // namespace symgrad
