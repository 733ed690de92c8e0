// Edits chosen by the gradient at the discrete tree. With h a node's value, J the derivative of
// the tree f by it and u = f - J h, the tree with another value v there is about u + J v; the R2
// of that under the best line needs a few sums over the rows for each candidate v.
#pragma once

#include "differentiator.hpp"
#include "fitter.hpp"
#include "generate.hpp"

namespace symgrad {

template <class T>
class Guide {
 public:
  Guide(const Problem<T>& problem, const Sprout& sprout);

  // The tree after one edit, or as it is if none was found.
  Genome edit(Rng& rng, const Genome& tree);

  // The same with the best product of two features added at some node: |X' diag(J r) X|.
  Genome edit_pair(Rng& rng, const Genome& tree);

  // What edits have cost so far, in nodes x rows of plain evaluation.
  double work() const { return work_; }

 private:
  static constexpr int32_t kPlain = -1, kSquare = -2;
  struct Best {
    double gain = 0;
    int64_t feature = -1;
    int32_t transform = kPlain;
    double coefficient = 0;
  };
  struct Pair {
    double strength;
    int64_t i, j;
  };
  static constexpr int kRows = 512, kPairRows = 128;
  static constexpr size_t kPairsKept = 16;

  bool look(Rng& rng, const Genome& tree);
  bool focus(int64_t node, bool times_value);
  double judge(const T* v);
  Best scan(Rng& rng, bool swap);
  int32_t transform(Rng& rng);
  const T* transformed(int64_t feature);
  void write(const Best& best, Genome* out) const;
  std::vector<Pair> pairs(Rng& rng);
  Genome swap(Rng& rng, const Genome& tree);
  Genome expand(Rng& rng, const Genome& tree);
  Genome rename(Rng& rng, const Genome& tree);
  Genome shrink(Rng& rng, const Genome& tree);
  double added(const double* sums) const;
  const T* column(int64_t feature);

  const Problem<T>& problem_;
  const Sprout& sprout_;
  const Kernels<T>& kernels_;
  const RowKernels<T>& rows_of_;
  Differentiator<T> differentiator_;
  bool affine_, divides_, multiplies_;
  std::vector<int32_t> unary_;
  int32_t transform_ = kPlain;  // of the features that are scanned
  double work_ = 0;
  // The rows at hand, and sums over them; weights are zero in the padding.
  int64_t row_ = 0;
  int rows_ = 0, n_ = 0;
  double weight_ = 0, yy_ = 0, ff_ = 0, slope_ = 0, u1_ = 0, uy_ = 0, uu_ = 0;
  const T* adjoints_ = nullptr;
  Scratch<T> memory_, pair_memory_;
  T *w_, *y_, *f_, *r_, *J_, *u_, *p_, *q_, *s_, *t_, *pad_, *v_;
};

}  // namespace symgrad
