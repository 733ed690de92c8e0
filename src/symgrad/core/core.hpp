// The batch functions that the Python module offers. All take a checked forest, release nothing
// and know nothing of Python; each returns false when it was interrupted.
#pragma once

#include "machine.hpp"
#include "parallel.hpp"

namespace symgrad {

// Predictions, row-major (trees, rows).
template <class T>
bool evaluate(const Forest& forest, const Columns<T>& X, T* out, bool smooth, int jobs,
              const Poll& poll);

// Derivative of each tree's value with respect to each of its nodes, (nodes of all trees, rows).
template <class T>
bool gradient(const Forest& forest, const Columns<T>& X, T* out, bool smooth, int jobs,
              const Poll& poll);

enum Status : int8_t { kValid = 0, kNaN = 1, kInfinite = 2 };

struct Score {
  double mse, r2, slope, intercept;
  Status status;
};

// Error of each tree as it is (scale = false) or of the best intercept + slope * tree.
template <class T>
bool score(const Forest& forest, const Columns<T>& X, const double* y, const double* weight,
           bool scale, Score* out, int jobs, const Poll& poll);

}  // namespace symgrad
