// The Python module: arrays in, arrays out. Everything that could go wrong is checked here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>

#include "core.hpp"
#include "generate.hpp"

namespace nb = nanobind;
using namespace symgrad;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> copy(const Vector<T>& v) {
  return std::vector<T>(v.data(), v.data() + v.size());
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& data) {
  auto* heap = new std::vector<T>(std::move(data));
  nb::capsule owner(heap, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(heap->data(), {heap->size()}, owner);
}

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <class T>
Columns<T> columns(const Forest& forest, const Matrix<T>& X) {
  require(X.shape(0) > 0, "X has no rows");
  require(forest.features() <= int64_t(X.shape(1)),
          "X has fewer columns than the forest has features");
  return {X.data(), int64_t(X.shape(0)), int64_t(X.shape(0)), int64_t(X.shape(1))};
}

bool interrupted() {
  nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

// Runs `work` without the GIL; a Ctrl-C during it becomes KeyboardInterrupt.
template <class F>
void detached(F work) {
  bool done;
  {
    nb::gil_scoped_release release;
    done = work();
  }
  if (!done) throw nb::python_error();
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

nb::tuple py_generate(uint64_t seed, const Vector<int32_t>& functions,
                      const Vector<int32_t>& arities, int64_t features,
                      const Vector<double>& cumulative, double p_constant, double constant_scale,
                      double p_leaf, const Vector<int32_t>& depth, const Vector<uint8_t>& full,
                      int min_depth) {
  require(features > 0 && features < (int64_t(1) << 31) - 1, "features must be positive");
  require(functions.size() > 0 && functions.size() == arities.size(),
          "functions and arities must have the same, positive length");
  for (size_t i = 0; i < arities.size(); ++i)
    require(arities.data()[i] == 1 || arities.data()[i] == 2, "arities must be 1 or 2");
  require(cumulative.size() == 0 || int64_t(cumulative.size()) == features,
          "weights must have one value per feature");
  require(depth.size() == full.size(), "depth and full must have the same length");
  for (size_t i = 0; i < depth.size(); ++i)
    require(depth.data()[i] >= 0 && depth.data()[i] <= 16, "depth must be from 0 to 16");
  Sprout sprout{copy(functions), copy(arities),  features, copy(cumulative),
                p_constant,      constant_scale, p_leaf};
  Postorder p = generate(sprout, seed, copy(depth), copy(full), min_depth);
  return nb::make_tuple(to_numpy(std::move(p.code)), to_numpy(std::move(p.value)),
                        to_numpy(std::move(p.offset)));
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
  m.def("generate", py_generate);
  m.def("primitives", [] {
    nb::list table;
    for (int i = 0; i < kPrimitives; ++i)
      table.append(nb::make_tuple(primitive_table()[i].name, primitive_table()[i].arity));
    return table;
  });
  m.def("isa", [] { return std::string(kernels<float>().isa); });
}
