#include "core.hpp"
#include "differentiator.hpp"

namespace symgrad {

template <class T>
bool gradient(const Forest& forest, const Columns<T>& X, T* out, bool smooth, int jobs,
              const Poll& poll) {
  const Plan plan(X.rows, forest.trees());
  return parallel_for(plan.items(), jobs, poll, [&](Stop&) {
    auto machine = std::make_shared<Differentiator<T>>(forest, X, smooth);
    return [&, machine](int64_t item) {
      plan.each(item, [&](int64_t tree, int64_t, int64_t begin, int64_t end) {
        machine->select(forest.tree(tree));
        const int64_t first = forest.first_node(tree), nodes = forest.tree(tree).size;
        for (int64_t row = begin; row < end; row += kBlock) {
          const int rows = int(end - row < kBlock ? end - row : kBlock);
          const T* adjoints = machine->run(row, rows);
          for (int64_t i = 0; i < nodes; ++i)
            std::memcpy(out + (first + i) * X.rows + row, adjoints + i * kStride,
                        size_t(rows) * sizeof(T));
        }
      });
    };
  });
}

template bool gradient(const Forest&, const Columns<float>&, float*, bool, int, const Poll&);
template bool gradient(const Forest&, const Columns<double>&, double*, bool, int, const Poll&);

}  // namespace symgrad
