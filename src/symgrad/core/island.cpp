#include "island.hpp"

#include <algorithm>
#include <cmath>

namespace symgrad {

namespace {

// Fronts of mutually undominated members in (size, error), and how lonely each is in its front.
void rank(std::vector<Member>* members) {
  std::vector<Member>& m = *members;
  std::sort(m.begin(), m.end(), [](const Member& a, const Member& b) {
    if (a.size != b.size) return a.size < b.size;
    return a.error < b.error;
  });
  std::vector<double> least;  // of each front so far, ascending
  std::vector<std::vector<size_t>> fronts;
  for (size_t i = 0; i < m.size(); ++i) {
    const auto at = std::upper_bound(least.begin(), least.end(), m[i].error);
    const size_t k = size_t(at - least.begin());
    if (k == least.size()) {
      least.push_back(m[i].error);
      fronts.emplace_back();
    } else {
      least[k] = m[i].error;
    }
    m[i].rank = int(k);
    fronts[k].push_back(i);
  }
  for (const auto& front : fronts) {
    const Member &first = m[front.front()], &last = m[front.back()];
    const double sizes = std::max(1.0, double(last.size - first.size));
    const double errors =
        std::max(1e-12, std::log(first.error + 1e-30) - std::log(last.error + 1e-30));
    for (size_t i = 0; i < front.size(); ++i) {
      if (i == 0 || i + 1 == front.size()) {
        m[front[i]].crowding = HUGE_VAL;
        continue;
      }
      const Member &a = m[front[i - 1]], &b = m[front[i + 1]];
      m[front[i]].crowding = double(b.size - a.size) / sizes +
                             (std::log(a.error + 1e-30) - std::log(b.error + 1e-30)) / errors;
    }
  }
}

bool better(const Member& a, const Member& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.crowding > b.crowding;
}

}  // namespace

template <class T>
Island<T>::Island(const Problem<T>& problem, const Sprout& sprout, const IslandOptions& options,
                  std::vector<Member> members, uint64_t seed, uint64_t stream)
    : problem_{problem.language, problem.X,      problem.y,
               problem.weight,   options.scaled, problem.loss},
      options_(options),
      fits_(!sprout.whole),
      variation_(problem_.language, sprout),
      fitter_(problem_),
      guide_(problem_, sprout),
      differentiator_(problem_.language, problem_.X, false),
      rng_(seed, stream) {
  const bool fresh = std::all_of(members.begin(), members.end(),
                                 [](const Member& m) { return std::isnan(m.error); });
  for (Member& m : members) {
    if (std::isnan(m.error)) {
      settle(std::move(m.genome), HUGE_VAL);
    } else {
      m.size = options_.rules.size(m.genome);
      members_.push_back(std::move(m));
    }
  }
  // What is known already is no record.
  if (options_.rules.required.empty() && options_.rules.monotone.empty())
    for (const Member& m : members_) {
      const auto held = archive_.find(m.size);
      if (held == archive_.end() || m.error < held->second.error) archive_[m.size] = m;
    }
  if (fresh && fits_ && options_.guided > 0) sow();
  survive();
}

// Trees that grow from nothing by the best term or factor, edit by edit.
template <class T>
void Island<T>::sow() {
  for (int tree = 0; tree < kSown; ++tree) {
    Genome genome;
    genome.push(kConstant, 1);
    double error = HUGE_VAL;
    for (int edit = 0; edit < kSownEdits; ++edit) {
      const bool product = options_.pairs > 0 && rng_.uniform() < 0.25;
      genome = product ? guide_.grow_by_product(rng_, genome) : guide_.grow(rng_, genome);
      const size_t before = members_.size();
      settle(genome, error);
      if (members_.size() == before) break;
      genome = members_.back().genome, error = members_.back().error;
    }
  }
}

template <class T>
const Member& Island<T>::select() {
  const uint32_t n = uint32_t(parents_);
  const Member* best = &members_[rng_.below(n)];
  for (int k = 1; k < options_.tournament; ++k) {
    const Member& other = members_[rng_.below(n)];
    if (better(other, *best)) best = &other;
  }
  return *best;
}

template <class T>
Genome Island<T>::offspring(const Member& mother) {
  const double kind = rng_.uniform();
  if (kind < options_.pairs && pair_work_ <= options_.pair_work * work_) {
    const double before = guide_.work();
    Genome child = guide_.grow_by_product(rng_, mother.genome);
    pair_work_ += guide_.work() - before;
    work_ += guide_.work() - before;
    return child;
  }
  if (kind < options_.pairs + options_.guided) {
    const double before = guide_.work();
    Genome child = mother.genome;
    const int edits = 1 + int(rng_.below(uint32_t(options_.chain)));
    for (int k = 0; k < edits; ++k) {
      child = guide_.edit(rng_, child);
      tidy(problem_.language, problem_.scaled, &child);
    }
    work_ += guide_.work() - before;
    return child;
  }
  const Genome& donor = select().genome;
  if (kind < options_.pairs + options_.guided + options_.crossover)
    return variation_.cross(rng_, mother.genome, donor);
  return variation_.mutate(rng_, mother.genome, donor);
}

// Judges a new tree, fits its constants if it is promising, and lets it in.
template <class T>
void Island<T>::settle(Genome genome, double parent_error) {
  tidy(problem_.language, problem_.scaled, &genome);
  const int64_t size = options_.rules.size(genome);
  if (size > options_.max_size || depth_of(problem_.language, genome.code) > options_.max_depth ||
      !options_.rules.nests_well(problem_.language, genome))
    return;
  const int64_t before = fitter_.evaluations();
  Judged judged = fitter_.judge(genome, 1.2 * worst_);
  if (!std::isfinite(judged.error)) return;
  if (fits_ && judged.error < options_.fit_gate * parent_error)
    judged = fitter_.fit(&genome, judged, options_.fit_steps);
  Member member{std::move(genome), judged.error, size};
  const auto held = archive_.find(size);
  if (held == archive_.end() || member.error < held->second.error) {
    if (fits_) judged = fitter_.fit(&member.genome, judged, options_.record_steps);
    member.error = judged.error;
    if (options_.rules.has_required(member.genome) &&
        is_monotone(options_.rules, member.genome, judged.slope, problem_.X, &differentiator_))
      archive_[size] = member;
  }
  work_ += 3.0 * double(fitter_.evaluations() - before) * double(member.genome.size()) *
           double(problem_.X.rows);
  members_.push_back(std::move(member));
}

// Keeps the best of old and new, each error and size once.
template <class T>
void Island<T>::survive() {
  rank(&members_);
  const auto same = [](const Member& a, const Member& b) {
    return a.size == b.size && std::abs(a.error - b.error) <= 1e-7 * a.error;
  };
  members_.erase(std::unique(members_.begin(), members_.end(), same), members_.end());
  const size_t keep = std::min(size_t(options_.population), members_.size());
  std::stable_sort(members_.begin(), members_.end(), better);
  members_.resize(keep);
  worst_ = 0;
  for (const Member& m : members_) worst_ = std::max(worst_, m.error);
  if (keep < size_t(options_.population)) worst_ = HUGE_VAL;
}

template <class T>
void Island<T>::evolve(int generations, const std::function<bool()>& stop) {
  for (int g = 0; g < generations; ++g) {
    if (members_.empty()) return;
    parents_ = members_.size();
    for (int k = 0; k < options_.population; ++k) {
      if (stop()) return survive();
      const Member& mother = select();
      const double error = mother.error;
      settle(offspring(mother), error);
    }
    survive();
  }
}

template class Island<float>;
template class Island<double>;

}  // namespace symgrad
