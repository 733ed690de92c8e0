// One population that evolves by itself, judged by accuracy and size.
#pragma once

#include <map>

#include "guide.hpp"
#include "parallel.hpp"
#include "rules.hpp"
#include "variation.hpp"

namespace symgrad {

struct IslandOptions {
  int population = 300;
  int max_size = 50, max_depth = 12;
  int tournament = 3;
  double crossover = 0.35;  // share of the offspring; the rest, beside the guided, are mutations
  double guided = 0.15;     // share whose edit the gradient chooses
  double pairs = 0.01;      // share that get the best product of two features
  double pair_work = 0.2;   // most that looking for pairs may take of all work
  int chain = 3;            // most guided edits in a row
  double fit_gate = 1.1;    // constants are fitted if the error is below this times the parent's
  int fit_steps = 2, record_steps = 5;
  bool scaled = true;  // trees are judged by the best line through them
  Rules rules;
};

struct Member {
  Genome genome;
  double error = HUGE_VAL;
  int64_t size = 0;  // as the rules count it
  int rank = 0;
  double crowding = 0;
};

// The best tree of each size.
using Archive = std::map<int64_t, Member>;

template <class T>
class Island {
 public:
  Island(const Problem<T>& problem, const Sprout& sprout, const IslandOptions& options,
         std::vector<Member> members, uint64_t seed, uint64_t stream);

  // Makes generations until there were so many, or `stop` says so.
  void evolve(int generations, const std::function<bool()>& stop);

  const std::vector<Member>& members() const { return members_; }
  const Archive& archive() const { return archive_; }
  int64_t evaluations() const { return fitter_.evaluations(); }

 private:
  static constexpr int kSown = 8, kSownEdits = 6;
  void sow();
  const Member& select();
  Genome offspring(const Member& mother);
  void settle(Genome genome, double parent_error);
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
  double worst_ = HUGE_VAL, pair_work_ = 0, work_ = 0;
};

}  // namespace symgrad
