#include "core.hpp"

namespace symgrad {

template <class T>
bool evaluate(const Forest& forest, const Columns<T>& X, T* out, bool smooth, int jobs,
              const Poll& poll) {
  const Plan plan(X.rows, forest.trees());
  return parallel_for(plan.items(), jobs, poll, [&](Stop&) {
    auto machine = std::make_shared<Machine<T>>(forest, X, smooth);
    return [&, machine](int64_t item) {
      plan.each(item, [&](int64_t tree, int64_t, int64_t begin, int64_t end) {
        machine->each_block(tree, begin, end, [&](int64_t row, int rows) {
          T* to = out + tree * X.rows + row;
          const T* values = machine->run(row, rows, to);
          if (values != to) std::memcpy(to, values, size_t(rows) * sizeof(T));
          return true;
        });
      });
    };
  });
}

template bool evaluate(const Forest&, const Columns<float>&, float*, bool, int, const Poll&);
template bool evaluate(const Forest&, const Columns<double>&, double*, bool, int, const Poll&);

}  // namespace symgrad
