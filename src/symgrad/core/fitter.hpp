// One tree at a time against the data: its error under the best line, and its constants fitted.
#pragma once

#include "differentiator.hpp"
#include "genome.hpp"
#include "losses.hpp"
#include "rows.hpp"

namespace symgrad {

// What is searched: rows in random order, so that the first ones stand for all.
template <class T>
struct Problem {
  const Forest& language;
  Columns<T> X;
  const double* y;
  const double* weight;  // null for equal weights
  bool scaled;           // trees are judged by the best intercept + slope * tree
  Loss loss;             // other than squared only where trees are scaled
};

// Error is the loss relative to that of the best constant (1 - R2 for squares), infinite for a tree
// that is not finite on some row.
struct Judged {
  double error = 0, slope = 0, intercept = 0;
};

template <class T>
class Fitter {
 public:
  explicit Fitter(const Problem<T>& problem);

  // Gives up, with an infinite error, when the first rows show that `bound` is out of reach.
  // With limits, the line is looked for from that of a similar tree.
  Judged judge(const Genome& tree, double bound, const Judged& near = {});

  // Levenberg-Marquardt on the constants, the line projected out (Kaufman's variable projection).
  // `now` is the tree's judgement; returns that of the tree with its new constants. Steps are found
  // on at most the given number of rows, and taken if they help on all.
  Judged fit(Genome* tree, const Judged& now, int steps, int64_t most = INT64_MAX);

  int64_t evaluations() const { return evaluations_; }

 private:
  static constexpr int kMaxConstants = 64;
  static constexpr int64_t kFirstRows = 256;
  Judged judge_by_loss(double bound, Line near);
  void normal_equations(const Genome& tree, const std::vector<int64_t>& at, const Judged& now,
                        int64_t n_rows);

  const Problem<T>& problem_;
  Machine<T> machine_;
  Differentiator<T> differentiator_;
  double total_ = 0, total_of_first_ = 0;  // weighted loss of the best constant, on the first rows
  int64_t evaluations_ = 0;
  std::vector<double> hessian_, descent_;
  Scratch<T> residual_, weighted_, predictions_;
};

}  // namespace symgrad
