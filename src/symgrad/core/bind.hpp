// What the parts of the Python module share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "core.hpp"

namespace symgrad {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
template <class T>
using RowMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutputVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

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

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

inline bool interrupted() {
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

void bind_training(nb::module_& m);
void bind_evolution(nb::module_& m);
void bind_search(nb::module_& m);

}  // namespace symgrad
