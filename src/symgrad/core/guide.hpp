// Edits chosen by the gradient at the discrete tree. With h a node's value, J the derivative of
// the tree f by it and u = f - J h, the tree with another value v there is about u + J v; the R2
// of that under the best line needs a few sums over the rows for each candidate v.
#pragma once

#include "differentiator.hpp"
#include "fitter.hpp"
#include "parts.hpp"
#include "words.hpp"

namespace symgrad {

template <class T>
class Guide {
 public:
  // Without a donor no parts of other trees are put in.
  Guide(const Problem<T>& problem, const Sprout& sprout, Donor donor);

  // The tree after one edit, or as it is if none was found.
  Genome edit(Rng& rng, const Genome& tree);

  // The tree with a node replaced by the best part of other trees.
  Genome cross(Rng& rng, const Genome& tree);

  // The tree with the best term or factor put in: a feature, a function of one, or a word.
  Genome grow(Rng& rng, const Genome& tree);

  // The same with a product of two or three features.
  Genome grow_by_product(Rng& rng, const Genome& tree);

  // What edits have cost so far, in nodes x rows of plain evaluation.
  double work() const { return work_; }

 private:
  // Where candidates come from: features, their squares, functions of them (the function's code),
  // words, or parts of other trees.
  static constexpr int32_t kPlain = -1, kSquare = -2, kWord = -3, kPart = -4;
  struct Best {
    double gain = 0;
    int64_t candidate = -1;
    double coefficient = 0;
  };
  // What becomes of a node's value h: v, h + v, h - v, h v or h / v.
  enum Change { kReplace, kPlus, kMinus, kTimes, kOver };
  struct Product {
    double strength;
    int64_t i, j, k;  // k is -1 for a product of two
  };
  struct Column {
    double mean, norm, norm_of_square;
  };
  static constexpr int kRows = 512, kLooks = 64;
  static constexpr size_t kProductsKept = 16, kPool = 64, kBlock = 64, kPoolOfPairs = 16;

  bool look(Rng& rng, const Genome& tree);
  void aim(const T* f);
  bool focus(int64_t node, Change change);
  void weigh(bool swap);
  double judge(const T* v);
  double added(const double* sums) const;
  double swapped(const double* sums) const;
  bool has_parts(Rng& rng);
  int32_t source(Rng& rng);
  int64_t candidates() const;
  const T* candidate(int64_t k);
  const T* plain_candidate(int64_t k);
  Genome written(int64_t candidate) const;
  Best scan(Rng& rng, bool swap, int32_t source);
  Genome replaced(Rng& rng, const Genome& tree, int64_t node, int32_t source);
  Genome swap(Rng& rng, const Genome& tree);
  Genome expand(Rng& rng, const Genome& tree);
  Genome expand_plainly(Rng& rng, const Genome& tree, int64_t node);
  Genome rename(Rng& rng, const Genome& tree);
  Genome shrink(Rng& rng, const Genome& tree);
  Genome grown(const Genome& tree, int64_t node, const Genome& part, double coefficient,
               Change change) const;
  const T* column(int64_t feature);

  void measure_columns();
  std::vector<int64_t> pool(Rng& rng);
  bool adjoint_times(const Product& left, T* out);
  void products(const std::vector<Product>& left, std::vector<Product>* top);

  const Problem<T>& problem_;
  const Sprout& sprout_;
  const Kernels<T>& kernels_;
  const RowKernels<T>& rows_of_;
  Differentiator<T> differentiator_;
  Words<T> words_;
  Parts<T> parts_;
  const Donor donor_;
  bool affine_, plain_;  // whether terms and factors may be added, with or without coefficients
  bool divides_, multiplies_;
  std::vector<int32_t> unary_;
  int32_t source_ = kPlain;
  bool inverted_ = false;  // candidates are 1 / (1 + v)
  double work_ = 0;
  // The rows at hand, and sums over them; weights are zero in the padding.
  int64_t row_ = 0;
  int rows_ = 0, n_ = 0, looks_ = 0;
  bool aimed_ = false;  // whether weights and targets are those of the rows
  double weight_ = 0, yy_ = 0, ff_ = 0, slope_ = 0, u1_ = 0, uy_ = 0, uu_ = 0;
  const T* adjoints_ = nullptr;
  std::vector<Column> columns_;
  Scratch<T> memory_, left_memory_;
  T *w_, *y_, *f_, *r_, *J_, *u_, *p_, *q_, *s_, *t_, *pad_, *v_;
};

}  // namespace symgrad
