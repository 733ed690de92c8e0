// What a user allows formulas to be.
#pragma once

#include "differentiator.hpp"
#include "genome.hpp"
#include "written.hpp"

namespace symgrad {

struct Rules {
  // By position in `functions`: what it costs, and which others (bits) must not occur inside it.
  std::vector<int32_t> functions, cost;
  std::vector<uint64_t> forbidden;
  std::vector<int32_t> required;  // features
  std::vector<int32_t> monotone;  // features, and the sign that the derivative must have
  std::vector<int32_t> direction;
  std::vector<double> low, high;  // of each feature, where trees must be defined; may be empty
  Units units;

  bool trivial() const { return functions.empty(); }
  int64_t written(const Forest& language, const Genome& tree) const;  // nodes, by their costs
  bool nests_well(const Forest& language, const Genome& tree) const;
  bool has_required(const Genome& tree) const;
  bool is_safe(const Forest& language, const Genome& tree) const;

 private:
  int64_t find(int32_t code) const;
};

// Whether slope * tree moves in the given directions at every row.
template <class T>
bool is_monotone(const Rules& rules, const Genome& tree, double slope, const Columns<T>& X,
                 Differentiator<T>* differentiator);

}  // namespace symgrad
