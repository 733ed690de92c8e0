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

  struct Point {
    double value, gradient, curvature;
  };
  Point at(double y, double p) const;
  double value(double y, double p) const { return at(y, p).value; }
};

const std::vector<const char*>& loss_names();

struct Line {
  double slope = 0, intercept = 0, loss = HUGE_VAL;  // loss: weighted sum
};

// The best line by reweighted least squares, damped by halving. With `flat` the slope stays 0.
template <class T>
Line best_line(const Loss& loss, const T* f, const double* y, const double* weight, int64_t n,
               bool flat);

}  // namespace symgrad
