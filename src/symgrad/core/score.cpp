#include <cmath>

#include "core.hpp"

namespace symgrad {

namespace {

struct Part {
  Moments moments;
  Status status = kValid;
};

// The kind of the first value that is not finite.
template <class T>
Status reason(const T* f, int rows) {
  for (int i = 0; i < rows; ++i)
    if (!std::isfinite(f[i])) return std::isnan(f[i]) ? kNaN : kInfinite;
  return kValid;
}

Score finish(const Moments& m, Status status, bool scale, double rounding) {
  const double nan = std::nan("");
  if (status == kValid && !(std::isfinite(m.m2_f) && std::isfinite(m.squared_error)))
    status = kInfinite;  // squares beyond the range of the number type
  if (status != kValid) return {HUGE_VAL, -HUGE_VAL, nan, nan, status};
  double slope = 1, intercept = 0, sse = m.squared_error;
  if (scale) {
    // A tree that varies by rounding alone is a constant.
    const double noise = rounding * m.mean_f * m.mean_f * m.weight;
    slope = m.m2_f > noise ? m.c_fy / m.m2_f : 0.0;
    intercept = m.mean_y - slope * m.mean_f;
    sse = m.m2_y - slope * m.c_fy;
    if (sse < 0) sse = 0;
  }
  const double r2 = m.m2_y > 0 ? 1 - sse / m.m2_y : (sse > 0 ? -HUGE_VAL : 1.0);
  return {sse / m.weight, r2, slope, intercept, kValid};
}

}  // namespace

template <class T>
bool score(const Forest& forest, const Columns<T>& X, const double* y, const double* weight,
           bool scale, Score* out, int jobs, const Poll& poll) {
  const Plan plan(X.rows, forest.trees());
  std::vector<Part> parts(size_t(plan.chunks * plan.trees));
  const Kernels<T>& k = kernels<T>();
  const bool done = parallel_for(plan.items(), jobs, poll, [&](Stop&) {
    auto machine = std::make_shared<Machine<T>>(forest, X, false);
    return [&, machine](int64_t item) {
      plan.each(item, [&](int64_t tree, int64_t chunk, int64_t begin, int64_t end) {
        Part& part = parts[size_t(chunk * plan.trees + tree)];
        machine->each_block(tree, begin, end, [&](int64_t row, int rows) {
          const T* values = machine->run(row, rows);
          Moments block;
          if (!k.moments(values, y + row, weight ? weight + row : nullptr, rows, &block)) {
            part.status = reason(values, rows);
            return false;
          }
          part.moments.merge(block);
          return true;
        });
      });
    };
  });
  if (!done) return false;
  for (int64_t t = 0; t < plan.trees; ++t) {
    Part total;
    for (int64_t c = 0; c < plan.chunks && total.status == kValid; ++c) {
      const Part& part = parts[size_t(c * plan.trees + t)];
      total.moments.merge(part.moments);
      total.status = part.status;
    }
    out[t] = finish(total.moments, total.status, scale, kRounding<T>);
  }
  return true;
}

template bool score(const Forest&, const Columns<float>&, const double*, const double*, bool,
                    Score*, int, const Poll&);
template bool score(const Forest&, const Columns<double>&, const double*, const double*, bool,
                    Score*, int, const Poll&);

}  // namespace symgrad
