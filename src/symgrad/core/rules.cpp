#include "rules.hpp"

#include <algorithm>

#include "ranges.hpp"

namespace symgrad {

int64_t Rules::find(int32_t code) const {
  const auto at = std::find(functions.begin(), functions.end(), code);
  return at == functions.end() ? -1 : at - functions.begin();
}

int64_t Rules::written(const Forest& language, const Genome& tree) const {
  int64_t sum = written_size(language, tree.view(), units);
  if (trivial()) return sum;
  for (const int32_t c : tree.code) {
    const int64_t k = c < 0 ? -1 : find(c);
    if (k >= 0) sum += cost[size_t(k)] - 1;
  }
  return sum;
}

bool Rules::nests_well(const Forest& language, const Genome& tree) const {
  if (trivial()) return true;
  std::vector<uint64_t> inside;  // of each open subtree, the functions it is made of
  for (const int32_t c : tree.code) {
    uint64_t used = 0;
    for (int k = language.arity(c); k > 0; --k) {
      used |= inside.back();
      inside.pop_back();
    }
    const int64_t at = c < 0 ? -1 : find(c);
    if (at >= 0) {
      if (used & forbidden[size_t(at)]) return false;
      used |= uint64_t(1) << at;
    }
    inside.push_back(used);
  }
  return true;
}

bool Rules::has_required(const Genome& tree) const {
  return std::all_of(required.begin(), required.end(), [&](int32_t feature) {
    return std::find(tree.code.begin(), tree.code.end(), ~feature) != tree.code.end();
  });
}

bool Rules::is_safe(const Forest& language, const Genome& tree) const {
  return low.empty() || defined(language, tree.view(), low.data(), high.data());
}

template <class T>
bool is_monotone(const Rules& rules, const Genome& tree, double slope, const Columns<T>& X,
                 Differentiator<T>* differentiator) {
  if (rules.monotone.empty()) return true;
  differentiator->select(tree.view());
  std::vector<double> sum(kBlock), size(kBlock);
  for (int64_t row = 0; row < X.rows; row += kBlock) {
    const int rows = int(std::min<int64_t>(X.rows - row, kBlock));
    const T* adjoint = differentiator->run(row, rows);
    for (size_t k = 0; k < rules.monotone.size(); ++k) {
      std::fill(sum.begin(), sum.end(), 0.0);
      std::fill(size.begin(), size.end(), 0.0);
      for (int64_t node = 0; node < tree.size(); ++node) {
        if (tree.code[size_t(node)] != ~rules.monotone[k]) continue;
        const T* g = adjoint + node * kStride;
        for (int i = 0; i < rows; ++i) {
          sum[size_t(i)] += double(g[i]);
          size[size_t(i)] += std::abs(double(g[i]));
        }
      }
      const double sign = slope * rules.direction[k] < 0 ? -1 : 1;
      for (int i = 0; i < rows; ++i)  // rounding aside; NaN is no direction
        if (!(sign * sum[size_t(i)] >= -1e-5 * size[size_t(i)])) return false;
    }
  }
  return true;
}

template bool is_monotone(const Rules&, const Genome&, double, const Columns<float>&,
                          Differentiator<float>*);
template bool is_monotone(const Rules&, const Genome&, double, const Columns<double>&,
                          Differentiator<double>*);

}  // namespace symgrad
