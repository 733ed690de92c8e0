#include "words.hpp"

#include <algorithm>
#include <cmath>

namespace symgrad {

template <class T>
Words<T>::Words(const Columns<T>& X, const Sprout& sprout)
    : X_(X), sprout_(sprout), kernels_(kernels<T>()) {
  for (size_t k = 0; k < sprout.functions.size(); ++k)
    if (sprout.functions[k] < kFirstComposed)
      (sprout.arities[k] == 1 ? unary_ : binary_).push_back(sprout.functions[k]);
}

template <class T>
void Words<T>::build(Rng& rng, int64_t row, int rows) {
  rows_ = rows, n_ = padded(rows), stride_ = n_ + kVector;
  limit_ = std::min(kMost, kMostValues / n_);
  values_ = memory_.get(size_t((limit_ + 1) * stride_));
  words_.clear(), seen_.clear();
  work_ = 0;
  first_ = {0};
  leaves(rng, row, rows);
  for (int size = 2; size <= kLargest && count() < limit_; ++size) {
    first_.push_back(words_.size());
    grow(rng, size);
  }
  first_.push_back(words_.size());
}

// All features, or so many that there is room for what is made of them, drawn as for random trees;
// and the number 1.
template <class T>
void Words<T>::leaves(Rng& rng, int64_t row, int rows) {
  const int64_t d = X_.columns, count = std::min(d, limit_ / 8);
  for (int64_t k = 0; k < count; ++k) {
    const int32_t feature = count == d ? int32_t(k) : random_feature(rng, sprout_);
    T* to = values_ + this->count() * stride_;
    const T* x = load(X_, feature, row, rows, to);
    if (x != to) std::copy(x, x + n_, to);
    add({~feature, -1, -1});
  }
  if (!(sprout_.p_constant > 0)) return;
  std::fill_n(values_ + this->count() * stride_, n_, T(1));
  add({kConstant, -1, -1}, true);
}

// Calls f with every tree of a size, made of smaller words.
template <class T>
template <class F>
void Words<T>::each(int size, F f) const {
  const auto range = [&](int s) {
    return std::pair<int32_t, int32_t>(int32_t(first_[size_t(s - 1)]), int32_t(first_[size_t(s)]));
  };
  const auto [begin, end] = range(size - 1);
  for (int32_t a = begin; a < end; ++a)
    for (const int32_t op : unary_) f(Word{op, a, a});
  for (int left = 1; left < size - 1; ++left) {
    const auto [a0, a1] = range(left);
    const auto [b0, b1] = range(size - 1 - left);
    for (int32_t a = a0; a < a1; ++a)
      for (int32_t b = b0; b < b1; ++b)
        for (const int32_t op : binary_)
          if (a <= b || (op != k_add && op != k_mul)) f(Word{op, a, b});
  }
}

template <class T>
void Words<T>::grow(Rng& rng, int size) {
  int64_t all = 0;
  each(size, [&](const Word&) { ++all; });
  const double share = 1.2 * double(limit_ - count()) / double(std::max<int64_t>(1, all));
  // Gaps between those taken are drawn instead of a coin for each.
  const double gap = share < 1 ? std::log(1 - share) : 0;
  int64_t skip = share < 1 ? int64_t(std::log(1 - rng.uniform()) / gap) : 0;
  std::vector<Word> taken;
  each(size, [&](const Word& word) {
    if (skip-- > 0) return;
    skip = share < 1 ? int64_t(std::log(1 - rng.uniform()) / gap) : 0;
    taken.push_back(word);
  });
  for (const Word& word : taken) {
    if (count() >= limit_) return;
    kernels_.map[0][word.code](value(word.a), value(word.b), values_ + count() * stride_, n_);
    work_ += rows_;
    add(word);
  }
}

// Keeps the word whose values stand behind the others', if it is defined, varies and is new.
template <class T>
void Words<T>::add(const Word& word, bool may_be_constant) {
  const T* v = values_ + count() * stride_;
  uint64_t hash = 0;
  T low = v[0], high = v[0];
  for (int i = 0; i < rows_; ++i) {
    if (!std::isfinite(v[i])) return;
    low = std::min(low, v[i]), high = std::max(high, v[i]);
    if (i >= 16) continue;
    const float rounded = float(v[i]) * 1.0000038f;  // equal up to the last bits
    uint32_t bits;
    std::memcpy(&bits, &rounded, sizeof bits);
    hash = (hash ^ (rounded == 0 ? 0 : (bits + 16) >> 5)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  const double scale = std::max(std::abs(double(low)), std::abs(double(high)));
  if (!may_be_constant && !(double(high) - double(low) > 1e-6 * scale)) return;
  const auto at = std::lower_bound(seen_.begin(), seen_.end(), hash);
  if (at != seen_.end() && *at == hash) return;
  seen_.insert(at, hash);
  words_.push_back(word);
}

template <class T>
void Words<T>::write(int64_t word, Genome* out) const {
  const Word& w = words_[size_t(word)];
  if (w.a < 0) return out->push(w.code, w.code == kConstant ? 1 : 0);
  write(w.a, out);
  if (w.b != w.a || std::find(binary_.begin(), binary_.end(), w.code) != binary_.end())
    write(w.b, out);
  out->push(w.code);
}

template class Words<float>;
template class Words<double>;

}  // namespace symgrad
