// Small trees with their values on some rows: what an edit may put into a tree beside features.
#pragma once

#include "generate.hpp"
#include "machine.hpp"

namespace symgrad {

template <class T>
class Words {
 public:
  Words(const Columns<T>& X, const Sprout& sprout);

  // Makes the smallest trees there are, of the largest size that fits a random part; all defined,
  // none constant, none equal to another on these rows.
  void build(Rng& rng, int64_t row, int rows);

  int64_t count() const { return int64_t(words_.size()); }
  const T* value(int64_t word) const { return values_ + word * stride_; }
  void write(int64_t word, Genome* out) const;
  double work() const { return work_; }  // of the last build, in nodes x rows

 private:
  struct Word {
    int32_t code;  // of a leaf, or of a function of words a and b
    int32_t a, b;
  };
  static constexpr int kLargest = 6;
  static constexpr int64_t kMost = 2048, kMostValues = 1 << 16;

  void leaves(Rng& rng, int64_t row, int rows);
  void grow(Rng& rng, int size);
  void add(const Word& word, bool may_be_constant = false);
  template <class F>
  void each(int size, F f) const;

  const Columns<T> X_;
  const Sprout& sprout_;
  const Kernels<T>& kernels_;
  std::vector<int32_t> unary_, binary_;
  std::vector<Word> words_;
  std::vector<size_t> first_;  // word of each size, from size 1 on
  std::vector<uint64_t> seen_;
  int64_t limit_ = 0, stride_ = 0;
  int rows_ = 0, n_ = 0;
  double work_ = 0;
  Scratch<T> memory_;
  T* values_ = nullptr;
};

}  // namespace symgrad
