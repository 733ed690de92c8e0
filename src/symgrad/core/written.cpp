#include "written.hpp"

#include <cmath>

#include "kernels.hpp"

namespace symgrad {

namespace {

enum class Form { kNumber, kSum, kProduct, kOther };

// A part of a formula: factor * what is written, and a number more if it was moved. Both are
// written as late as can be, as sums, products and the outer line have room for them.
struct Part {
  Form form = Form::kOther;
  int64_t nodes = 1;
  int64_t bare = 2;  // nodes that a number before it takes
  double factor = 1;
  bool moved = false;

  void write_factor() {
    nodes += bare, bare = 0, factor = 1;
    if (form == Form::kOther) form = Form::kProduct;
  }
  void write_addend() {
    nodes += form == Form::kSum ? 1 : 2;
    form = Form::kSum, moved = false;
  }
  void write_all() {
    if (factor != 1) write_factor();
    if (moved) write_addend();
  }
  int64_t inside(Form of) const { return form == of ? nodes - 1 : nodes; }
  bool numbered() const { return form == Form::kProduct && bare == 0; }
};

Part sum(Part a, Part b, double sign) {
  b.factor *= sign;
  if (a.form == Form::kNumber || b.form == Form::kNumber) {
    Part& other = a.form == Form::kNumber ? b : a;
    other.write_addend();
    return other;
  }
  if (std::abs(a.factor - b.factor) > 1e-9 * std::abs(a.factor)) {
    // One of them is written with what it has more than the other.
    const bool first = a.bare < b.bare || (a.bare == b.bare && b.factor == 1);
    (first ? a : b).write_factor();
    (first ? a : b).factor = (first ? b : a).factor;
  }
  Part whole{Form::kSum, 1 + a.inside(Form::kSum) + b.inside(Form::kSum), a.bare + b.bare};
  whole.factor = a.factor;
  whole.moved = a.moved || b.moved;
  return whole;
}

Part product(Part a, Part b) {
  if (a.form == Form::kNumber || b.form == Form::kNumber) {
    Part& other = a.form == Form::kNumber ? b : a;
    other.write_factor();
    return other;
  }
  if (a.moved) a.write_addend();
  if (b.moved) b.write_addend();
  const int64_t numbers = a.numbered() + b.numbered();
  const int64_t factors = a.inside(Form::kProduct) + b.inside(Form::kProduct);
  Part whole{Form::kProduct, 1 + factors - (numbers == 2), numbers ? 0 : 1};
  whole.factor = a.factor * b.factor;
  return whole;
}

Part inverse(Part a) {
  if (a.form == Form::kNumber) return a;
  if (a.moved) a.write_addend();
  return {Form::kOther, a.nodes + 2, 2, 1 / a.factor};
}

Part feature(size_t j, const Units& units) {
  Part leaf;
  if (!units.scale.empty()) leaf.factor = 1 / units.scale[j], leaf.moved = units.moved[j];
  return leaf;
}

Part function(int32_t code, Part* of, int arity) {
  switch (code) {
    case k_add:
    case k_sub:
      return sum(of[0], of[1], code == k_sub ? -1 : 1);
    case k_mul:
      return product(of[0], of[1]);
    case k_div:
      return product(of[0], inverse(of[1]));
    case k_inv:
      return inverse(of[0]);
    case k_neg:
      of[0].factor *= -1;
      return of[0];
  }
  Part whole;
  for (int k = 0; k < arity; ++k) {
    of[k].write_all();
    whole.nodes += of[k].nodes;
  }
  return whole;
}

}  // namespace

int64_t written_size(const Forest& language, const Postfix& tree, const Units& units) {
  std::vector<Part> open;
  open.reserve(size_t(tree.size));
  for (int64_t i = 0; i < tree.size; ++i) {
    const int32_t code = tree.code[i];
    const int arity = language.arity(code);
    if (code == kConstant) {
      open.push_back({Form::kNumber, 1, 0});
    } else if (arity == 0) {
      open.push_back(feature(size_t(~code), units));
    } else {
      const size_t first = open.size() - size_t(arity);
      open[first] = function(code, &open[first], arity);
      open.resize(first + 1);
    }
  }
  Part whole = open.back();
  if (whole.form == Form::kNumber) whole = Part{};  // of no more use than a feature
  whole.write_factor();
  whole.write_addend();
  return whole.nodes;
}

}  // namespace symgrad
