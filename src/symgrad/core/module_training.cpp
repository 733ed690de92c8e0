// The training part of the Python module.
#include <cmath>

#include "bind.hpp"
#include "train.hpp"

namespace symgrad {

namespace {

// scipy hands out the address of BLAS ?gemm in a capsule named by its C signature.
Gemm gemm_of(const nb::capsule& capsule) {
  void* address = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
  if (!address) throw nb::python_error();
  return reinterpret_cast<Gemm>(address);
}

void check(const Forest& forest, const TrainOptions& o, int64_t rows, int64_t features) {
  require(rows > 0, "X has no rows");
  require(forest.features() <= features, "X has fewer columns than the forest has features");
  require(o.epochs >= 0 && o.batch > 0 && o.batch <= kMaxBatch, "batch must be from 1 to 512");
  require(!o.functions.empty(), "functions must not be empty");
  for (const int32_t f : o.functions)
    require(forest.arity(f) == 1 || forest.arity(f) == 2, "functions must be function codes");
  require(o.start >= 0 && o.start < 1, "start must be a probability below 1");
  require(o.edge > 0 && o.edge < 1, "edge must be strictly between 0 and 1");
}

template <class T>
void py_train(const Forest& forest, const RowMatrix<T>& X, const Vector<T>& y,
              const Vector<T>& weight, double deviation, const TrainOptions& options,
              const nb::capsule& gemm, const OutputVector<int32_t>& pick,
              const OutputVector<int32_t>& added, const OutputVector<T>& edge,
              const OutputVector<T>& probability, const Output<double>& losses,
              const Output<T>& details, int jobs) {
  const int64_t rows = int64_t(X.shape(0)), features = int64_t(X.shape(1));
  const size_t nodes = size_t(forest.nodes());
  check(forest, options, rows, features);
  require(int64_t(y.size()) == rows, "y must have one value per row");
  require(weight.size() == 0 || int64_t(weight.size()) == rows, "weights: one value per row");
  require(deviation > 0 && std::isfinite(deviation), "the target must vary");
  require(pick.size() == nodes && added.size() == nodes && edge.size() == nodes &&
              probability.size() == nodes,
          "results by node must have one entry per node");
  require(losses.shape(0) == 2 && int64_t(losses.shape(1)) == forest.trees(),
          "losses must have the shape (2, trees)");
  Trained<T> out{pick.data(),        added.data(),  edge.data(),
                 probability.data(), losses.data(), losses.data() + forest.trees()};
  if (details.shape(0) > 0) {
    // Logits, gradients, the same of the added leaves, and a last block whose first two columns
    // are the gradients of the edges.
    const int64_t functions = int64_t(options.functions.size());
    out.width = int64_t(details.shape(1));
    require(details.shape(0) == 5 * nodes && out.width >= functions + features && out.width >= 2,
            "details must have the shape (5 * nodes, functions + features)");
    const size_t block = nodes * size_t(out.width);
    out.logits = details.data();
    out.gradients = out.logits + block;
    out.added_logits = out.gradients + block;
    out.added_gradients = out.added_logits + block;
    out.edge_gradients = out.added_gradients + block;
    out.added_edge_gradients = out.edge_gradients + nodes;
  }
  const Rows<T> data{X.data(), y.data(), weight.size() ? weight.data() : nullptr,
                     rows,     features, deviation};
  const Gemm product = gemm_of(gemm);
  detached([&] { return train(forest, data, options, product, out, jobs, interrupted); });
}

}  // namespace

void bind_training(nb::module_& m) {
  nb::class_<TrainOptions>(m, "TrainOptions")
      .def(nb::init<>())
      .def_rw("functions", &TrainOptions::functions)
      .def_rw("epochs", &TrainOptions::epochs)
      .def_rw("batch", &TrainOptions::batch)
      .def_rw("rate", &TrainOptions::rate)
      .def_rw("edge_rate", &TrainOptions::edge_rate)
      .def_rw("lambda_", &TrainOptions::lambda)
      .def_rw("start", &TrainOptions::start)
      .def_rw("start_logit", &TrainOptions::start_logit)
      .def_rw("edge", &TrainOptions::edge)
      .def_rw("sharp_added", &TrainOptions::sharp_added)
      .def_rw("leaf_functions", &TrainOptions::leaf_functions)
      .def_rw("scale", &TrainOptions::scale)
      .def_rw("random", &TrainOptions::random)
      .def_rw("seed", &TrainOptions::seed);
  auto bind = [&m](auto train) {
    m.def("train", train, nb::arg("forest"), nb::arg("X").noconvert(), nb::arg("y").noconvert(),
          nb::arg("weight").noconvert(), nb::arg("deviation"), nb::arg("options"), nb::arg("gemm"),
          nb::arg("pick").noconvert(), nb::arg("added").noconvert(), nb::arg("edge").noconvert(),
          nb::arg("probability").noconvert(), nb::arg("losses").noconvert(),
          nb::arg("details").noconvert(), nb::arg("jobs"));
  };
  bind(py_train<float>);
  bind(py_train<double>);
}

}  // namespace symgrad
