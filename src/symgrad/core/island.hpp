// One population that evolves by itself, judged by accuracy and size.
#pragma once

#include <array>
#include <map>
#include <set>

#include "guide.hpp"
#include "parallel.hpp"
#include "rules.hpp"
#include "variation.hpp"

namespace symgrad {

struct IslandOptions {
  int population = 300;
  int max_size = 50, max_depth = 12;  // of the formula as it is written, and of the tree
  int tournament = 3;
  double crossover = 0.35;  // share of the offspring; the rest, beside the guided, are mutations
  double guided = 0.15;     // share whose edit the gradient chooses
  double pairs = 0.01;      // share that get the best product of two features
  double pair_work = 0.2;   // most that looking for pairs may take of all work
  int chain = 3;            // most guided edits in a row
  double fit_gate = 1.1;    // constants are fitted if the error is below this times the parent's
  int fit_steps = 2, record_steps = 5;
  bool adapt = true;    // shares follow what has paid
  bool parts = true;    // the gradient may choose parts of other trees, for crossover too
  bool written = true;  // trees are compared by the nodes of what is written, too
  std::array<int64_t, 3> words{1, 1, 1};  // what a feature, a constant, a function count there
  Rules rules;
};

// What offspring come from.
enum Kind { kProduct, kGuided, kCross, kMutate, kKinds };

// What each kind has cost and brought, the last generations counted most.
struct Credit {
  std::array<double, kKinds> work{}, paid{};
  static constexpr double kDecay = 0.9, kBound = 2;

  // Shares that add up to 1, within a factor of those given.
  std::array<double, kKinds> shares(const IslandOptions& o) const;
  void fade();
};

struct Member {
  Genome genome;
  double error = HUGE_VAL;
  int64_t size = 0;  // words of the tree, and nodes of the formula as it is written
  int rank = 0;
  double crowding = 0;
};

// The trees that no smaller one beats, by size.
using Archive = std::map<int64_t, Member>;

template <class T>
class Island {
 public:
  Island(const Problem<T>& problem, const Sprout& sprout, const IslandOptions& options,
         const Credit& credit, std::vector<Member> members, uint64_t seed, uint64_t stream);

  // Makes generations until there were so many, or `stop` says so.
  void evolve(int generations, const std::function<bool()>& stop);

  const std::vector<Member>& members() const { return members_; }
  // Those of them that were judged here.
  Archive records() const;
  const Credit& credit() const { return credit_; }
  int64_t evaluations() const { return fitter_.evaluations(); }

 private:
  static constexpr int kSown = 8, kSownEdits = 6;
  static constexpr double kAimed = 0.2;      // share of crossover whose part the gradient chooses
  static constexpr int64_t kFitRows = 1024;  // for trees that are no records
  void sow();
  const Member& select();
  Kind draw();
  Donor donor();
  Genome offspring(const Member& mother, Kind kind);
  double settle(Genome genome, double parent_error);
  int64_t size_of(const Genome& tree, int64_t written) const;
  double least(int64_t size) const;
  void keep(const Member& member);
  double gain(double error, int64_t size) const;
  double limit(int64_t size) const;
  void survive();

  const Problem<T> problem_;
  const IslandOptions options_;
  const bool fits_;
  Variation variation_;
  Fitter<T> fitter_;
  Guide<T> guide_;
  Differentiator<T> differentiator_;
  Rng rng_;
  std::vector<Member> members_;
  size_t parents_ = 0;  // members that may be selected; those behind them are new
  Archive archive_;
  std::set<int64_t> records_;  // sizes of trees that were judged here
  std::vector<double> limit_;  // by size: from this error on a tree would not survive
  double pair_work_ = 0, work_ = 0;
  Credit credit_;
  std::array<double, kKinds> shares_;
};

}  // namespace symgrad
