// The part of the Python module that makes trees.
#include "bind.hpp"
#include "breed.hpp"

namespace symgrad {

namespace {

Sprout sprout_of(const Vector<int32_t>& functions, const Vector<int32_t>& arities, int64_t features,
                 const Vector<double>& cumulative, double p_constant, double constant_scale,
                 double p_leaf) {
  require(features > 0 && features < (int64_t(1) << 31) - 1, "features must be positive");
  require(functions.size() > 0 && functions.size() == arities.size(),
          "functions and arities must have the same, positive length");
  for (size_t i = 0; i < arities.size(); ++i)
    require(arities.data()[i] == 1 || arities.data()[i] == 2, "arities must be 1 or 2");
  require(cumulative.size() == 0 || int64_t(cumulative.size()) == features,
          "weights must have one value per feature");
  return {copy(functions), copy(arities),  features, copy(cumulative),
          p_constant,      constant_scale, p_leaf};
}

nb::tuple py_generate(const Sprout& sprout, uint64_t seed, const Vector<int32_t>& depth,
                      const Vector<uint8_t>& full, int min_depth) {
  require(depth.size() == full.size(), "depth and full must have the same length");
  for (size_t i = 0; i < depth.size(); ++i)
    require(depth.data()[i] >= 0 && depth.data()[i] <= 16, "depth must be from 0 to 16");
  Postorder p = generate(sprout, seed, copy(depth), copy(full), min_depth);
  return nb::make_tuple(to_numpy(std::move(p.code)), to_numpy(std::move(p.value)),
                        to_numpy(std::move(p.offset)));
}

nb::tuple py_breed(const Forest& forest, const Vector<double>& loss, int64_t offspring,
                   const Sprout& sprout, const BreedOptions& options) {
  require(int64_t(loss.size()) == forest.trees(), "loss must have one value per tree");
  require(offspring > 0, "offspring must be positive");
  require(options.tournament > 0, "tournament must be positive");
  require(0 <= options.mutation_min_depth &&
              options.mutation_min_depth <= options.mutation_max_depth &&
              options.mutation_max_depth <= 16,
          "mutation depths must be from 0 to 16, ascending");
  Brood b;
  detached([&] {
    b = breed(forest, loss.data(), offspring, sprout, options);
    return true;
  });
  return nb::make_tuple(to_numpy(std::move(b.trees.code)), to_numpy(std::move(b.trees.value)),
                        to_numpy(std::move(b.trees.offset)), to_numpy(std::move(b.parent)),
                        to_numpy(std::move(b.changed)));
}

}  // namespace

void bind_evolution(nb::module_& m) {
  nb::class_<Sprout>(m, "Sprout")
      .def("__init__",
           [](Sprout* self, const Vector<int32_t>& functions, const Vector<int32_t>& arities,
              int64_t features, const Vector<double>& cumulative, double p_constant,
              double constant_scale, double p_leaf) {
             new (self) Sprout(sprout_of(functions, arities, features, cumulative, p_constant,
                                         constant_scale, p_leaf));
           })
      .def_rw("whole", &Sprout::whole);
  nb::class_<BreedOptions>(m, "BreedOptions")
      .def(nb::init<>())
      .def_rw("crossover", &BreedOptions::crossover)
      .def_rw("mutation", &BreedOptions::mutation)
      .def_rw("tournament", &BreedOptions::tournament)
      .def_rw("mutation_min_depth", &BreedOptions::mutation_min_depth)
      .def_rw("mutation_max_depth", &BreedOptions::mutation_max_depth)
      .def_rw("max_depth", &BreedOptions::max_depth)
      .def_rw("max_size", &BreedOptions::max_size)
      .def_rw("seed", &BreedOptions::seed);
  m.def("generate", py_generate);
  m.def("breed", py_breed);
}

}  // namespace symgrad
