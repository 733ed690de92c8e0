// The Python module: arrays in, arrays out. Everything that could go wrong is checked here.
#include "bind.hpp"

using namespace symgrad;

namespace {

template <class T>
Columns<T> columns(const Forest& forest, const Matrix<T>& X) {
  require(X.shape(0) > 0, "X has no rows");
  require(forest.features() <= int64_t(X.shape(1)),
          "X has fewer columns than the forest has features");
  return {X.data(), int64_t(X.shape(0)), int64_t(X.shape(0)), int64_t(X.shape(1))};
}

template <class T>
void py_evaluate(const Forest& forest, const Matrix<T>& X, const Output<T>& out, bool smooth,
                 int jobs) {
  const Columns<T> c = columns(forest, X);
  require(int64_t(out.shape(0)) == forest.trees() && int64_t(out.shape(1)) == c.rows,
          "out must have the shape (trees, rows)");
  detached([&] { return evaluate(forest, c, out.data(), smooth, jobs, interrupted); });
}

template <class T>
void py_gradient(const Forest& forest, const Matrix<T>& X, const Output<T>& out, bool smooth,
                 int jobs) {
  const Columns<T> c = columns(forest, X);
  require(int64_t(out.shape(0)) == forest.nodes() && int64_t(out.shape(1)) == c.rows,
          "out must have the shape (nodes, rows)");
  detached([&] { return gradient(forest, c, out.data(), smooth, jobs, interrupted); });
}

template <class T>
void py_score(const Forest& forest, const Matrix<T>& X, const Vector<double>& y,
              const Vector<double>& weight, bool scale, const Output<double>& out, int jobs) {
  const Columns<T> c = columns(forest, X);
  require(int64_t(y.size()) == c.rows, "y must have one value per row");
  require(weight.size() == 0 || int64_t(weight.size()) == c.rows,
          "weights must have one value per row");
  require(int64_t(out.shape(0)) == forest.trees() && out.shape(1) == 5,
          "out must have the shape (trees, 5)");
  std::vector<Score> scores(size_t(forest.trees()));
  const double* w = weight.size() ? weight.data() : nullptr;
  detached([&] { return score(forest, c, y.data(), w, scale, scores.data(), jobs, interrupted); });
  double* to = out.data();
  for (const Score& s : scores) {
    *to++ = s.mse, *to++ = s.r2, *to++ = s.slope, *to++ = s.intercept, *to++ = double(s.status);
  }
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Native core of symgrad: batch functions over forests.";
  nb::class_<Forest>(m, "Forest")
      .def("__init__",
           [](Forest* self, const Vector<int32_t>& code, const Vector<double>& value,
              const Vector<int64_t>& offset, const Vector<int32_t>& body_code,
              const Vector<double>& body_value, const Vector<int64_t>& body_offset,
              std::vector<int32_t> body_arity) {
             new (self) Forest(copy(code), copy(value), copy(offset), copy(body_code),
                               copy(body_value), copy(body_offset), std::move(body_arity));
           })
      .def_prop_ro("features", &Forest::features);
  // Nothing is converted on the way in: an output must be filled where it lies.
  const auto X = nb::arg("X").noconvert(), out = nb::arg("out").noconvert();
  const auto forest = nb::arg("forest"), smooth = nb::arg("smooth"), jobs = nb::arg("jobs");
  const auto y = nb::arg("y").noconvert(), weight = nb::arg("weight").noconvert();
  const auto scale = nb::arg("scale");
  m.def("evaluate", py_evaluate<float>, forest, X, out, smooth, jobs);
  m.def("evaluate", py_evaluate<double>, forest, X, out, smooth, jobs);
  m.def("gradient", py_gradient<float>, forest, X, out, smooth, jobs);
  m.def("gradient", py_gradient<double>, forest, X, out, smooth, jobs);
  m.def("score", py_score<float>, forest, X, y, weight, scale, out, jobs);
  m.def("score", py_score<double>, forest, X, y, weight, scale, out, jobs);
  m.def("primitives", [] {
    nb::list table;
    for (int i = 0; i < kPrimitives; ++i)
      table.append(nb::make_tuple(primitive_table()[i].name, primitive_table()[i].arity));
    return table;
  });
  bind_training(m);
  bind_evolution(m);
  bind_search(m);
  m.def("isa", [] { return std::string(kernels<float>().isa); });
}
