// Parts of other trees with their values on some rows: what has proved its worth there and may
// serve here.
#pragma once

#include <functional>

#include "differentiator.hpp"
#include "genome.hpp"
#include "rng.hpp"

namespace symgrad {

// A tree to take parts of; null if there is none.
using Donor = std::function<const Genome*()>;

template <class T>
class Parts {
 public:
  Parts(const Forest& language, const Columns<T>& X)
      : language_(language), reader_(language, X, false) {}

  // Takes parts of some donors, none a leaf, all defined on these rows.
  void gather(Rng& rng, const Donor& donor, int64_t row, int rows);
  void clear() { trees_.clear(); }

  int64_t count() const { return int64_t(trees_.size()); }
  const T* value(int64_t part) const { return values_ + part * kRowStride; }
  const Genome& tree(int64_t part) const { return trees_[size_t(part)]; }
  double work() const { return work_; }  // of the last gathering, in nodes x rows

 private:
  static constexpr int kDonors = 64, kOfEach = 4;
  static constexpr int64_t kLargest = 25;

  const Forest& language_;
  Differentiator<T> reader_;
  std::vector<Genome> trees_;
  Scratch<T> memory_;
  T* values_ = nullptr;
  double work_ = 0;
};

}  // namespace symgrad
