#include "parts.hpp"

#include <algorithm>
#include <cmath>

namespace symgrad {

template <class T>
void Parts<T>::gather(Rng& rng, const Donor& donor, int64_t row, int rows) {
  trees_.clear();
  work_ = 0;
  values_ = memory_.get(size_t(kDonors * kOfEach) * kRowStride);
  for (int k = 0; k < kDonors; ++k) {
    const Genome* tree = donor();
    if (!tree) return;
    reader_.select(tree->view());
    const int n = reader_.forward(row, rows);
    work_ += double(tree->size()) * rows;
    for (int part = 0; part < kOfEach; ++part) {
      int64_t node = rng.below(uint32_t(tree->size()));
      while (node + 1 < tree->size() && tree->code[size_t(node)] < 0) ++node;
      if (tree->code[size_t(node)] < 0) continue;
      const Postfix found = subtree(language_, *tree, node);
      const T* v = reader_.value(node);
      if (found.size > kLargest || !std::all_of(v, v + rows, [](T x) { return std::isfinite(x); }))
        continue;
      std::copy(v, v + n, values_ + count() * kRowStride);
      trees_.emplace_back(found);
    }
  }
}

template class Parts<float>;
template class Parts<double>;

}  // namespace symgrad
