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

std::array<double, kKinds> Credit::shares(const IslandOptions& o) const {
  std::array<double, kKinds> share{o.pairs, o.guided, o.crossover,
                                   1 - o.pairs - o.guided - o.crossover};
  double all_work = 0, all_paid = 0, sum = 0;
  for (const double w : work) all_work += w;
  for (const double p : paid) all_paid += p;
  if (!o.adapt || !(all_work > 0) || !(all_paid > 0)) return share;
  const double usual = all_paid / all_work, prior = 0.1 * all_work;
  for (size_t k = 0; k < kKinds; ++k) {
    const double rate = (paid[k] + usual * prior) / (work[k] + prior);
    share[k] *= std::clamp(std::sqrt(rate / usual), 1 / kBound, kBound);
    sum += share[k];
  }
  for (double& s : share) s /= sum;
  return share;
}

void Credit::fade() {
  for (double& w : work) w *= kDecay;
  for (double& p : paid) p *= kDecay;
}

template <class T>
Island<T>::Island(const Problem<T>& problem, const Sprout& sprout, const IslandOptions& options,
                  const Credit& credit, std::vector<Member> members, uint64_t seed, uint64_t stream)
    : problem_(problem),
      options_(options),
      fits_(!sprout.whole),
      variation_(problem_.language, sprout),
      fitter_(problem_),
      guide_(problem_, sprout, options_.parts ? donor() : Donor()),
      differentiator_(problem_.language, problem_.X, false),
      rng_(seed, stream),
      credit_(credit) {
  const bool fresh = std::all_of(members.begin(), members.end(),
                                 [](const Member& m) { return std::isnan(m.error); });
  for (Member& m : members) {
    if (std::isnan(m.error)) {
      settle(std::move(m.genome), HUGE_VAL);
    } else {
      m.size = size_of(m.genome, options_.rules.written(problem_.language, m.genome));
      members_.push_back(std::move(m));
    }
  }
  // What is known already is no record.
  if (options_.rules.required.empty() && options_.rules.monotone.empty())
    for (const Member& m : members_)
      if (m.error < least(m.size)) keep(m);
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

// Parents, once there are some.
template <class T>
Donor Island<T>::donor() {
  return [this] { return parents_ ? &select().genome : nullptr; };
}

template <class T>
Kind Island<T>::draw() {
  double left = rng_.uniform();
  for (int kind = 0; kind < kMutate; ++kind)
    if ((left -= shares_[size_t(kind)]) < 0)
      return kind == kProduct && pair_work_ > options_.pair_work * work_ ? kGuided : Kind(kind);
  return kMutate;
}

template <class T>
Genome Island<T>::offspring(const Member& mother, Kind kind) {
  const bool aimed = kind == kCross && options_.parts && rng_.uniform() < kAimed;
  if (kind == kProduct || kind == kGuided || aimed) {
    const double before = guide_.work();
    Genome child = mother.genome;
    const int edits = kind == kGuided ? 1 + int(rng_.below(uint32_t(options_.chain))) : 1;
    for (int k = 0; k < edits; ++k) {
      child = aimed              ? guide_.cross(rng_, child)
              : kind == kProduct ? guide_.grow_by_product(rng_, child)
                                 : guide_.edit(rng_, child);
      if (kind == kGuided) tidy(problem_.language, &child);
    }
    const double more = guide_.work() - before;
    work_ += more;
    if (kind == kProduct) pair_work_ += more;
    return child;
  }
  const Genome& donor = select().genome;
  if (kind == kCross) return variation_.cross(rng_, mother.genome, donor);
  return variation_.mutate(rng_, mother.genome, donor);
}

// What trees are compared by, beside the error.
template <class T>
int64_t Island<T>::size_of(const Genome& tree, int64_t written) const {
  int64_t size = options_.written ? written : 0;
  for (const int32_t code : tree.code)
    size += options_.words[code == kConstant ? 1 : code < 0 ? 0 : 2];
  return size;
}

// The least error of a size or less.
template <class T>
double Island<T>::least(int64_t size) const {
  const auto behind = archive_.upper_bound(size);
  return behind == archive_.begin() ? HUGE_VAL : std::prev(behind)->second.error;
}

// Puts a tree into the archive, which none there beats.
template <class T>
void Island<T>::keep(const Member& member) {
  auto beaten = std::next(archive_.insert_or_assign(member.size, member).first);
  while (beaten != archive_.end() && beaten->second.error >= member.error)
    beaten = archive_.erase(beaten);
}

// How much lower an error is than that of all trees of its size or less, in logs.
template <class T>
double Island<T>::gain(double error, int64_t size) const {
  const double best = least(size);
  if (!std::isfinite(best) || !(error < best)) return 0;
  return std::min(1.0, std::log(best / std::max(error, 1e-300)));
}

// Judges a new tree, fits its constants if it is promising, and lets it in; returns its gain.
template <class T>
double Island<T>::settle(Genome genome, double parent_error) {
  tidy(problem_.language, &genome);
  const auto is_safe = [&](const Genome& g) {
    return options_.rules.is_safe(problem_.language, g);
  };
  const int64_t written = options_.rules.written(problem_.language, genome);
  const int64_t size = size_of(genome, written);
  if (written > options_.max_size ||
      depth_of(problem_.language, genome.code) > options_.max_depth ||
      !options_.rules.nests_well(problem_.language, genome) || !is_safe(genome))
    return 0;
  const int64_t before = fitter_.evaluations();
  const double bound = std::max(options_.fit_gate * parent_error, limit(size));
  Judged judged = fitter_.judge(genome, bound);
  if (!std::isfinite(judged.error)) return 0;
  if (fits_ && judged.error < options_.fit_gate * parent_error)
    judged = fitter_.fit(&genome, judged, options_.fit_steps, kFitRows);
  Member member{std::move(genome), judged.error, size};
  double paid = 0;
  if (member.error < least(size)) {
    if (fits_) judged = fitter_.fit(&member.genome, judged, options_.record_steps);
    member.error = judged.error;
    paid = gain(member.error, size);
    if (options_.rules.has_required(member.genome) && is_safe(member.genome) &&
        is_monotone(options_.rules, member.genome, judged.slope, problem_.X, &differentiator_))
      keep(member), records_.insert(size);
  }
  work_ += 3.0 * double(fitter_.evaluations() - before) * double(member.genome.size()) *
           double(problem_.X.rows);
  if (is_safe(member.genome)) members_.push_back(std::move(member));
  return paid;
}

template <class T>
Archive Island<T>::records() const {
  Archive out;
  for (const auto& [size, member] : archive_)
    if (records_.count(size)) out.emplace(size, member);
  return out;
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
  limit_.clear();
  if (keep < size_t(options_.population)) return;
  for (const Member& m : members_) {
    if (m.rank != members_.back().rank) continue;
    if (size_t(m.size) >= limit_.size()) limit_.resize(size_t(m.size) + 1, HUGE_VAL);
    limit_[size_t(m.size)] = std::min(limit_[size_t(m.size)], m.error);
  }
  for (size_t s = 1; s < limit_.size(); ++s) limit_[s] = std::min(limit_[s], limit_[s - 1]);
}

// The least error of the last front that survived, among trees of a size or less.
template <class T>
double Island<T>::limit(int64_t size) const {
  if (limit_.empty()) return HUGE_VAL;
  return limit_[size_t(std::clamp<int64_t>(size, 0, int64_t(limit_.size()) - 1))];
}

template <class T>
void Island<T>::evolve(int generations, const std::function<bool()>& stop) {
  for (int g = 0; g < generations; ++g) {
    if (members_.empty()) return;
    parents_ = members_.size();
    shares_ = credit_.shares(options_);
    for (int k = 0; k < options_.population; ++k) {
      if (stop()) return survive();
      const Member& mother = select();
      const double error = mother.error, before = work_;
      const size_t kind = size_t(draw());
      credit_.paid[kind] += settle(offspring(mother, Kind(kind)), error);
      credit_.work[kind] += work_ - before;
    }
    credit_.fade();
    survive();
  }
}

template class Island<float>;
template class Island<double>;

}  // namespace symgrad
