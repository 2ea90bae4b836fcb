// SPDX-License-Identifier: Apache-2.0
// Best-first branch and bound. A choice of degrees is open with a bound; the one with the least is
// looked at more closely, step by step, and simulated when its bound is as good as it gets. A plan
// that is then faster than the bounds of all that are open is the best of the space.
#include "search/branch_and_bound.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>
#include <span>

#include "forecast/costs.hpp"
#include "plans/schedules/refusal.hpp"
#include "search/bounded_degrees.hpp"
#include "search/evaluator.hpp"
#include "search/incumbents.hpp"

namespace search {

namespace {

// The number of choices looked at between two looks at the best: the same on any number of threads.
constexpr std::size_t wave = 16;
// A good bound is not needed where a modest one rules a choice out: each look raises it by this
// factor.
constexpr double step = 1.02;

using sim::unreached;

units::Seconds seconds_of(Picoseconds time) { return {static_cast<double>(time) * 1e-12}; }

struct Open {
  Picoseconds bound = 0;
  std::uint32_t index = 0;  // of degrees
  bool bounded = false;     // as well as can be
  // Top of the queue: the least bound, then the choice that is bounded as well as can be, then the
  // first.
  bool operator<(const Open& other) const {
    if (bound != other.bound) return bound > other.bound;
    if (bounded != other.bounded) return other.bounded;
    return index > other.index;
  }
};

// The plans found so far, and the counts.
struct Findings {
  std::vector<Ranked> plans;
  std::optional<Picoseconds> best;
  Picoseconds left = unreached;  // the least bound of the choices that are closed
  std::int64_t too_long = 0;     // choices whose steps take `unreached` at least
  Counts counts;

  void take_in(Played& played, Picoseconds bound) {
    if (!played.best) return;
    const auto time = ticks(played.best->forecast.step.time);
    best = std::min(best.value_or(time), time);
    played.best->bound = seconds_of(bound);
    const auto same = std::ranges::find_if(
        plans, [&](const Ranked& ranked) { return ranked.plan == played.best->plan; });
    if (same == plans.end())
      plans.push_back(std::move(*played.best));
    else
      same->bound = std::max(same->bound, played.best->bound);
  }
};

class Searcher {
 public:
  Searcher(const Question& question, const Options& options, Picoseconds known)
      : question_(question),
        options_(options),
        known_(known),
        costs_(forecast::costs_on(question.scenario.cluster)),
        cache_(question.scenario, question.space, costs_),
        evaluator_(question, costs_, cache_, options.stop) {
    if (!options_.for_each)
      options_.for_each = [](std::size_t count, const std::function<void(std::size_t)>& work) {
        for (std::size_t i = 0; i < count; ++i) work(i);
      };
  }

  Answer run() {
    bound_all();
    while (!stopped()) {
      const auto chosen = take();
      if (chosen.empty()) break;
      advance(chosen);
      report();
    }
    return answer();
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  // Bounds all choices of degrees, first those of the divisions that are usual; the others are then
  // held against good plans, and most of them are not even written down.
  void bound_all() {
    std::vector<std::size_t> usual, others;
    for (std::size_t i = 0; i < cache_.size(); ++i)
      (is_usual(cache_.plan(i)) ? usual : others).push_back(i);
    bound(usual);
    find_incumbents();
    bound(others);
    bounded_ = true;
    report();
    if (!found_.best) find_incumbents();
  }
  bool is_usual(const strategies::Plan& plan) const {
    const auto node = question_.scenario.cluster.node.gpus;
    return plan.tensor <= node && plan.context <= node && plan.micro_batch <= 4 &&
           !plan.layer_tensor && (expert_tensor(plan) == 1 || expert_tensor(plan) == plan.tensor);
  }

  void bound(const std::vector<std::size_t>& divisions) {
    const auto together = std::clamp<std::size_t>(divisions.size() / 64, 16, 1024);
    const auto chunks = (divisions.size() + together - 1) / together;
    std::vector<BoundedDegrees> bounded(chunks);
    const auto limit = threshold();
    options_.for_each(chunks, [&](std::size_t chunk) {
      if (stopped()) return;
      const auto begin = chunk * together;
      const auto part =
          std::span(divisions).subspan(begin, std::min(together, divisions.size() - begin));
      cache_.price(part);
      for (const auto i : part)
        if (!stopped()) bound_division(question_, cache_, i, limit, bounded[chunk]);
    });
    if (stopped()) found_.left = 0;  // nothing is known of those passed over
    std::vector<Open> all;
    for (auto& chunk : bounded) {
      for (const auto& [degrees, bound] : chunk.open) {
        all.push_back({bound, static_cast<std::uint32_t>(degrees_.size())});
        degrees_.push_back(degrees);
      }
      found_.counts.enumerated += chunk.enumerated;
      found_.counts.pruned_by_memory += chunk.too_large;
      found_.too_long += chunk.too_long;
      found_.left = std::min(found_.left, chunk.left);
      chunk = {};
    }
    while (!open_.empty()) {
      all.push_back(open_.top());
      open_.pop();
    }
    open_ = std::priority_queue<Open>(std::less<Open>{}, std::move(all));
  }

  // Finds some good plans, so that bounds have something to reach: those choices among the ones
  // with the least bounds whose even partitions promise most, and then, as long as they get better,
  // neighbours of the best.
  void find_incumbents() {
    constexpr std::size_t most_passed_over = 20'000;
    constexpr int most_steps = 12;
    std::vector<Open> aside;
    while (aside.size() < most_passed_over && !open_.empty()) {
      aside.push_back(open_.top());
      open_.pop();
    }
    std::vector<std::uint32_t> indices;
    for (const auto& one : aside) {
      open_.push(one);
      indices.push_back(one.index);
    }
    report();
    play_evenly(first_choices(guesses_of(indices), degrees_));
    for (int i = 0; i < most_steps && found_.best && !stopped(); ++i) {
      const auto before = *found_.best;
      play_evenly(next_choices(guesses_of(neighbours_of_best()), degrees_));
      if (*found_.best == before) break;
    }
  }
  std::vector<Guess> guesses_of(const std::vector<std::uint32_t>& indices) {
    std::vector<std::optional<Picoseconds>> times(indices.size());
    options_.for_each(indices.size(), [&](std::size_t i) {
      if (!stopped()) times[i] = evaluator_.guess(degrees_[indices[i]]);
    });
    std::vector<Guess> guesses;
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (times[i]) guesses.push_back({*times[i], indices[i]});
    return guesses;
  }
  std::vector<std::uint32_t> neighbours_of_best() const {
    const auto time = [](const Ranked& ranked) { return ranked.forecast.step.time; };
    const auto& best = std::ranges::min_element(found_.plans, {}, time)->plan;
    std::vector<std::uint32_t> near;
    for (std::uint32_t i = 0; i < degrees_.size(); ++i)
      if (!tried_.contains(i) && are_neighbours(best, evaluator_.plan_of(degrees_[i])))
        near.push_back(i);
    return near;
  }
  // Plays plans with fixed orders first: what these reach saves tries of orders that are searched.
  void play_evenly(std::vector<std::uint32_t> chosen) {
    const auto searched = std::stable_partition(chosen.begin(), chosen.end(), [&](auto index) {
      return strategies::has_fixed_order(degrees_[index].schedule);
    });
    play_together({chosen.begin(), searched});
    play_together({searched, chosen.end()});
  }
  void play_together(std::span<const std::uint32_t> chosen) {
    std::vector<Played> played(chosen.size());
    const auto target = found_.best.value_or(unreached);
    options_.for_each(chosen.size(), [&](std::size_t i) {
      if (!stopped()) played[i] = evaluator_.play_evenly(degrees_[chosen[i]], target);
    });
    tried_.insert(chosen.begin(), chosen.end());
    for (auto& one : played) {
      found_.counts.simulated += one.simulations;
      found_.take_in(one, 0);
    }
    report();
  }

  // No plan that takes as long as this is of interest.
  Picoseconds threshold() const {
    const auto best = std::min(found_.best.value_or(unreached), known_);
    if (best == unreached) return unreached;
    return static_cast<Picoseconds>(std::ceil(static_cast<double>(best) * (1 - question_.gap)));
  }

  std::vector<Open> take() {
    std::vector<Open> chosen;
    while (chosen.size() < wave && !open_.empty() && open_.top().bound < threshold()) {
      chosen.push_back(open_.top());
      open_.pop();
    }
    return chosen;
  }

  void advance(const std::vector<Open>& chosen) {
    const auto raised = static_cast<Picoseconds>(step * static_cast<double>(chosen.back().bound));
    const auto target = std::min(threshold(), std::max<Picoseconds>(raised, 1));
    std::vector<Look> looks(chosen.size());
    std::vector<Played> played(chosen.size());
    options_.for_each(chosen.size(), [&](std::size_t i) {
      if (stopped()) return;
      const auto& degrees = degrees_[chosen[i].index];
      if (chosen[i].bounded)
        played[i] =
            evaluator_.play(degrees, cuts_.at(chosen[i].index), chosen[i].bound, threshold());
      else
        looks[i] = evaluator_.look(degrees, target);
    });
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (stopped()) {
        open_.push(chosen[i]);
        found_.counts.simulated += played[i].simulations;
        found_.take_in(played[i], 0);
      } else if (chosen[i].bounded)
        close(chosen[i], played[i]);
      else
        reopen(chosen[i], looks[i]);
    }
  }

  void reopen(const Open& open, Look& look) {
    if (!look.fits) {
      ++found_.counts.pruned_by_memory;
      return;
    }
    if (!look.reached) cuts_.insert_or_assign(open.index, std::move(look.cuts));
    open_.push({std::max(open.bound, look.bound), open.index, !look.reached});
  }

  void close(const Open& open, Played& played) {
    cuts_.erase(open.index);
    found_.counts.simulated += played.simulations;
    if (!played.possible && played.bound < threshold()) {
      ++found_.counts.pruned_by_memory;
      return;
    }
    ++found_.counts.evaluated;
    const auto bound = std::max(open.bound, played.bound);
    found_.take_in(played, bound);
    found_.left = std::min(found_.left, bound);
  }

  Picoseconds lower_bound() const {
    auto low = std::min(found_.left, found_.best.value_or(unreached));
    if (!open_.empty()) low = std::min(low, open_.top().bound);
    return low;
  }

  void report() const {
    if (!options_.progress) return;
    Progress progress{.enumerated = found_.counts.enumerated,
                      .open = static_cast<std::int64_t>(open_.size())};
    if (bounded_) progress.bound = seconds_of(lower_bound());
    if (found_.best) progress.best = seconds_of(*found_.best);
    options_.progress(progress);
  }

  // The plan that misses by least among the choices of degrees that seem to need least.
  std::optional<Misfit> misfit() {
    constexpr std::size_t few = 8;
    std::vector<std::pair<double, std::uint32_t>> needs;
    for (std::uint32_t i = 0; i < degrees_.size(); ++i)
      if (cache_.fits(degrees_[i].division))
        needs.emplace_back(evaluator_.rough_memory(degrees_[i]), i);
    std::ranges::sort(needs);
    std::optional<Misfit> least;
    for (std::size_t i = 0; i < std::min(few, needs.size()); ++i) {
      auto one = evaluator_.smallest(degrees_[needs[i].second]);
      if (!least || misses_less(one, *least)) least = std::move(one);
    }
    return least;
  }

  Answer answer() {
    Answer answer;
    if (!found_.best && known_ == unreached && !stopped()) answer.misfit = misfit();
    // The plan that needs least memory fits, or only time ruled plans out before memory was looked
    // at.
    const bool too_long = answer.misfit ? answer.misfit->needed <= answer.misfit->capacity &&
                                              answer.misfit->node.empty()
                                        : !found_.best && found_.too_long > 0;
    if (too_long && known_ == unreached && !stopped())
      throw strategies::Refusal(
          {"training.global_batch"},
          "every plan that may fit takes longer than 26 days for a step, which no search looks at; "
          "lower global_batch or sequence_length");
    std::ranges::stable_sort(found_.plans, {},
                             [](const Ranked& ranked) { return ranked.forecast.step.time; });
    answer.pareto = pareto_of(found_.plans);
    if (found_.plans.size() > options_.top) found_.plans.resize(options_.top);
    answer.plans = std::move(found_.plans);
    answer.interrupted = stopped();
    const auto low = lower_bound();
    answer.lower_bound = seconds_of(low);
    if (found_.best) {
      answer.gap = static_cast<double>(*found_.best - low) / static_cast<double>(*found_.best);
      answer.optimal = low == *found_.best;
    }
    // Open choices that could still be faster are undecided.
    std::int64_t undecided = 0;
    for (; !open_.empty() && open_.top().bound < threshold(); open_.pop()) ++undecided;
    found_.counts.pruned_by_bound = found_.counts.enumerated - found_.counts.evaluated -
                                    found_.counts.pruned_by_memory - undecided;
    answer.space = found_.counts;
    return answer;
  }

  const Question& question_;
  Options options_;
  Picoseconds known_;  // the step of a plan of elsewhere
  strategies::Costs costs_;
  PriceCache cache_;
  Evaluator evaluator_;
  std::vector<Degrees> degrees_;
  std::priority_queue<Open> open_;
  std::map<std::uint32_t, std::vector<std::vector<int>>> cuts_;  // of bounded and open choices
  std::set<std::uint32_t> tried_;  // degrees of which an even plan was played
  Findings found_;
  bool bounded_ = false;  // all choices of degrees
};

}  // namespace

Answer search_alone(const Question& question, const Options& options, Picoseconds known) {
  return Searcher(question, options, known).run();
}

}  // namespace search
