// The part of the Python module that evolves islands.
#include <chrono>

#include "bind.hpp"
#include "island.hpp"
#include "ranges.hpp"

namespace symgrad {

namespace {

using Clock = std::chrono::steady_clock;

struct Packed {
  Genome trees;
  std::vector<int64_t> offset{0};
  std::vector<double> error;
  void add(const Member& m) {
    trees.append(m.genome.view());
    offset.push_back(trees.size());
    error.push_back(m.error);
  }
  nb::tuple tuple() {
    return nb::make_tuple(to_numpy(std::move(trees.code)), to_numpy(std::move(trees.value)),
                          to_numpy(std::move(offset)), to_numpy(std::move(error)));
  }
};

// What is searched, as it is stored: dense in either precision, or sparse in float32.
struct Table {
  int64_t rows, columns;
  Matrix<double> precise;
  Matrix<float> single;
  Vector<int64_t> first;
  Vector<int32_t> row;
  Vector<float> value;

  Table(const Matrix<double>& X)
      : rows(int64_t(X.shape(0))), columns(int64_t(X.shape(1))), precise(X) {}
  Table(const Matrix<float>& X)
      : rows(int64_t(X.shape(0))), columns(int64_t(X.shape(1))), single(X) {}
  Table(int64_t rows, const Vector<int64_t>& first, const Vector<int32_t>& row,
        const Vector<float>& value)
      : rows(rows), columns(int64_t(first.size()) - 1), first(first), row(row), value(value) {
    const int64_t* at = first.data();
    require(columns > 0 && at[0] == 0 && at[columns] == int64_t(row.size()) &&
                row.size() == value.size(),
            "the sparse table is not complete");
    for (int64_t j = 0; j < columns; ++j) {
      require(at[j] <= at[j + 1] && at[j + 1] <= at[columns], "first must ascend");
      for (int64_t k = at[j]; k < at[j + 1]; ++k)
        require(row.data()[k] >= 0 && row.data()[k] < rows &&
                    (k == at[j] || row.data()[k - 1] < row.data()[k]),
                "the rows of a column must ascend");
    }
  }

  template <class T>
  Columns<T> of() const {
    if (first.is_valid())
      return {nullptr, 0, rows, columns, value.data(), first.data(), row.data()};
    if constexpr (sizeof(T) == 4) {
      require(single.is_valid(), "the table is not in float32");
      return {single.data(), rows, rows, columns};
    } else {
      if (!precise.is_valid()) return {nullptr, rows, rows, columns, single.data()};
      return {precise.data(), rows, rows, columns};
    }
  }
};

template <class T>
Problem<T> problem_of(const Forest& forest, const Columns<T>& X, const Vector<double>& y,
                      const Vector<double>& weight, bool scaled, const Loss& loss) {
  require(scaled || loss.plain(), "other losses than squared need scaling");
  require(X.rows > 0, "X has no rows");
  require(forest.features() <= X.columns, "X has fewer columns than the forest has features");
  require(int64_t(y.size()) == X.rows, "y must have one value per row");
  require(weight.size() == 0 || int64_t(weight.size()) == X.rows,
          "weights must have one value per row");
  return {forest, X, y.data(), weight.size() ? weight.data() : nullptr, scaled, loss};
}

// The forest's values with its constants fitted, and each tree's error, slope and intercept.
template <class T>
nb::tuple py_fit_constants(const Forest& forest, const Matrix<T>& table, const Vector<double>& y,
                           const Vector<double>& weight, bool scaled, const Loss& loss, int steps,
                           int jobs) {
  const int64_t n = int64_t(table.shape(0));
  const Columns<T> X{table.data(), n, n, int64_t(table.shape(1))};
  const Problem<T> problem = problem_of(forest, X, y, weight, scaled, loss);
  std::vector<double> value(static_cast<size_t>(forest.nodes()));
  const size_t trees = static_cast<size_t>(forest.trees());
  std::vector<double> error(trees), slope(trees), intercept(trees);
  detached([&] {
    return parallel_for(forest.trees(), jobs, interrupted, [&](Stop&) {
      auto fitter = std::make_shared<Fitter<T>>(problem);
      return [&, fitter](int64_t t) {
        Genome tree(forest.tree(t));
        const Judged judged = fitter->fit(&tree, fitter->judge(tree, HUGE_VAL), steps);
        error[size_t(t)] = judged.error, slope[size_t(t)] = judged.slope;
        intercept[size_t(t)] = judged.intercept;
        std::copy(tree.value.begin(), tree.value.end(), value.begin() + forest.first_node(t));
      };
    });
  });
  return nb::make_tuple(to_numpy(std::move(value)), to_numpy(std::move(error)),
                        to_numpy(std::move(slope)), to_numpy(std::move(intercept)));
}

// Island k has the trees island[k] to island[k + 1]; an error of NaN is one not known yet.
template <class T>
nb::tuple evolve(const Forest& forest, const Vector<double>& error, const Vector<int64_t>& island,
                 const Columns<T>& X, const Vector<double>& y, const Vector<double>& weight,
                 const Loss& loss, const std::vector<Sprout>& sprouts,
                 const std::vector<IslandOptions>& options, const std::vector<Credit>& credits,
                 int generations, double seconds, uint64_t seed, int jobs) {
  const Problem<T> problem = problem_of(forest, X, y, weight, true, loss);
  for (const Sprout& sprout : sprouts)
    require(X.columns == sprout.features, "X must have as many columns as there are features");
  require(int64_t(error.size()) == forest.trees(), "error must have one value per tree");
  const int64_t islands = int64_t(island.size()) - 1;
  require(islands > 0 && island.data()[0] == 0 && island.data()[islands] == forest.trees(),
          "island must span the trees");
  for (int64_t k = 0; k < islands; ++k)
    require(island.data()[k] <= island.data()[k + 1], "island must ascend");
  require(int64_t(options.size()) == islands && int64_t(sprouts.size()) == islands &&
              int64_t(credits.size()) == islands,
          "there must be one set of options, one sprout and one credit per island");
  for (const IslandOptions& o : options) {
    const Rules& r = o.rules;
    require(r.functions.size() <= 64 && r.cost.size() == r.functions.size() &&
                r.forbidden.size() == r.functions.size() &&
                r.direction.size() == r.monotone.size() && r.low.size() == r.high.size() &&
                (r.low.empty() || int64_t(r.low.size()) == X.columns) && r.units.cover(X.columns),
            "the rules are not complete");
  }
  std::vector<std::unique_ptr<Island<T>>> evolved(static_cast<size_t>(islands));
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  detached([&] {
    return parallel_for(islands, jobs, interrupted, [&](Stop& stop) {
      return [&](int64_t k) {
        std::vector<Member> members;
        for (int64_t t = island.data()[k]; t < island.data()[k + 1]; ++t)
          members.push_back({Genome(forest.tree(t)), error.data()[t]});
        auto& own = evolved[size_t(k)];
        own =
            std::make_unique<Island<T>>(problem, sprouts[size_t(k)], options[size_t(k)],
                                        credits[size_t(k)], std::move(members), seed, uint64_t(k));
        own->evolve(generations, [&] { return stop() || Clock::now() > end; });
      };
    });
  });
  Packed members, records;
  std::vector<int64_t> bounds{0};
  int64_t evaluations = 0;
  std::vector<double> credit;
  for (const auto& own : evolved) {
    const Credit& c = own->credit();
    credit.insert(credit.end(), c.work.begin(), c.work.end());
    credit.insert(credit.end(), c.paid.begin(), c.paid.end());
    for (const Member& m : own->members()) members.add(m);
    for (const auto& [size, m] : own->records()) records.add(m);
    bounds.push_back(int64_t(members.error.size()));
    evaluations += own->evaluations();
  }
  return nb::make_tuple(members.tuple(), to_numpy(std::move(bounds)), records.tuple(), evaluations,
                        to_numpy(std::move(credit)));
}

nb::tuple py_evolve(const Forest& forest, const Vector<double>& error,
                    const Vector<int64_t>& island, const Table& X, bool precise,
                    const Vector<double>& y, const Vector<double>& weight, const Loss& loss,
                    const std::vector<Sprout>& sprouts, const std::vector<IslandOptions>& options,
                    const Vector<double>& credit, int generations, double seconds, uint64_t seed,
                    int jobs) {
  require(credit.size() % (2 * kKinds) == 0, "credit must have a row per island");
  std::vector<Credit> credits(credit.size() / (2 * kKinds));
  const double* at = credit.data();
  for (Credit& c : credits)
    for (auto* part : {&c.work, &c.paid})
      for (double& number : *part) number = *at++;
  const auto run = [&](const auto& columns) {
    return evolve(forest, error, island, columns, y, weight, loss, sprouts, options, credits,
                  generations, seconds, seed, jobs);
  };
  return precise ? run(X.of<double>()) : run(X.of<float>());
}

}  // namespace

void bind_search(nb::module_& m) {
  nb::class_<Units>(m, "Units")
      .def(nb::init<std::vector<double>, std::vector<uint8_t>>())
      .def_ro("scale", &Units::scale)
      .def_ro("moved", &Units::moved)
      .def("__getstate__", [](const Units& u) { return std::make_tuple(u.scale, u.moved); })
      .def("__setstate__",
           [](Units& u, const std::tuple<std::vector<double>, std::vector<uint8_t>>& parts) {
             new (&u) Units{std::get<0>(parts), std::get<1>(parts)};
           });
  m.def("written_sizes", [](const Forest& forest, const Units& units) {
    require(units.cover(forest.features()), "units must have a number per feature");
    std::vector<int64_t> sizes;
    for (int64_t t = 0; t < forest.trees(); ++t)
      sizes.push_back(written_size(forest, forest.tree(t), units));
    return to_numpy(std::move(sizes));
  });
  nb::class_<Rules>(m, "Rules")
      .def(nb::init<>())
      .def_rw("functions", &Rules::functions)
      .def_rw("cost", &Rules::cost)
      .def_rw("forbidden", &Rules::forbidden)
      .def_rw("required", &Rules::required)
      .def_rw("monotone", &Rules::monotone)
      .def_rw("direction", &Rules::direction)
      .def_rw("units", &Rules::units)
      .def_rw("low", &Rules::low)
      .def_rw("high", &Rules::high);
  nb::class_<IslandOptions>(m, "IslandOptions")
      .def(nb::init<>())
      .def_rw("population", &IslandOptions::population)
      .def_rw("max_size", &IslandOptions::max_size)
      .def_rw("max_depth", &IslandOptions::max_depth)
      .def_rw("tournament", &IslandOptions::tournament)
      .def_rw("crossover", &IslandOptions::crossover)
      .def_rw("guided", &IslandOptions::guided)
      .def_rw("pairs", &IslandOptions::pairs)
      .def_rw("pair_work", &IslandOptions::pair_work)
      .def_rw("chain", &IslandOptions::chain)
      .def_rw("fit_gate", &IslandOptions::fit_gate)
      .def_rw("fit_steps", &IslandOptions::fit_steps)
      .def_rw("record_steps", &IslandOptions::record_steps)
      .def_rw("adapt", &IslandOptions::adapt)
      .def_rw("parts", &IslandOptions::parts)
      .def_rw("written", &IslandOptions::written)
      .def_rw("words", &IslandOptions::words)
      .def_rw("rules", &IslandOptions::rules);
  nb::class_<Loss>(m, "Loss").def("__init__", [](Loss* self, const std::string& name, double number,
                                                 double tiny, double low, double high) {
    const auto& names = loss_names();
    for (size_t k = 0; k < names.size(); ++k)
      if (name == names[k]) {
        new (self) Loss{LossKind(k), number, tiny, low, high};
        return;
      }
    throw std::invalid_argument("there is no loss " + name);
  });
  m.def("defined", [](const Forest& forest, const Vector<double>& low, const Vector<double>& high) {
    require(low.size() == high.size() && int64_t(low.size()) >= forest.features(),
            "low and high must have a number per feature");
    std::vector<uint8_t> safe(size_t(forest.trees()));
    for (int64_t t = 0; t < forest.trees(); ++t)
      safe[size_t(t)] = defined(forest, forest.tree(t), low.data(), high.data());
    return to_numpy(std::move(safe));
  });
  m.def("loss_at", [](const Loss& loss, double y, double p) {
    const Loss::Point at = loss.at(y, p);
    return nb::make_tuple(at.value, at.gradient, at.curvature);
  });
  m.def("fit_constants", py_fit_constants<float>);
  m.def("fit_constants", py_fit_constants<double>);
  nb::class_<Table>(m, "Table")
      .def(nb::init<const Matrix<float>&>(), nb::arg("X").noconvert())
      .def(nb::init<const Matrix<double>&>(), nb::arg("X").noconvert())
      .def(nb::init<int64_t, const Vector<int64_t>&, const Vector<int32_t>&,
                    const Vector<float>&>());
  m.def("evolve", py_evolve);
}

}  // namespace symgrad
