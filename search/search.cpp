// SPDX-License-Identifier: Apache-2.0
// Best-first branch and bound. A choice of degrees is open with a bound; the one with the least is
// looked at more closely, step by step, and simulated when its bound is as good as it gets. What is
// faster then than the bounds of all that are open is the best of the space.
#include "search/search.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <tuple>

#include "forecast/costs.hpp"
#include "plans/schedules/refusal.hpp"
#include "search/alternatives.hpp"
#include "search/candidates.hpp"
#include "search/least_time.hpp"
#include "search/seeds.hpp"

namespace search {

namespace {

// Looked at between two looks at the best: the same on any number of threads.
constexpr std::size_t wave = 16;
// Nobody needs a good bound of what a modest one rules out: each time it is raised by so much.
constexpr double step = 1.02;

using sim::unreached;

units::Seconds seconds_of(Picoseconds time) { return {static_cast<double>(time) * 1e-12}; }

struct Open {
  Picoseconds bound = 0;
  std::uint32_t index = 0;  // of degrees
  bool bounded = false;     // as well as can be
  // Top of the queue: the least bound, then what is closer to its end, then the first.
  bool operator<(const Open& other) const {
    if (bound != other.bound) return bound > other.bound;
    if (bounded != other.bounded) return other.bounded;
    return index > other.index;
  }
};

class Searcher {
 public:
  Searcher(const Question& question, const Options& options, Picoseconds known)
      : question_(question),
        options_(options),
        known_(known),
        costs_(forecast::costs_on(question.scenario.cluster)),
        divisions_(question.scenario, question.space, costs_),
        candidates_(question, costs_, divisions_, options.stop) {
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
    for (std::size_t i = 0; i < divisions_.size(); ++i)
      (is_usual(divisions_.plan(i)) ? usual : others).push_back(i);
    bound(usual);
    seed();
    bound(others);
    if (!best_) seed();
  }
  bool is_usual(const strategies::Plan& plan) const {
    const auto node = question_.scenario.cluster.node.gpus;
    return plan.tensor <= node && plan.context <= node && plan.micro_batch <= 4 &&
           !plan.layer_tensor && (expert_tensor(plan) == 1 || expert_tensor(plan) == plan.tensor);
  }

  // Of several divisions.
  struct Bounded {
    std::vector<std::pair<Degrees, Picoseconds>> open;
    std::int64_t enumerated = 0, too_large = 0, too_long = 0;
    Picoseconds left = unreached;  // the least bound of those left out
  };

  void bound(const std::vector<std::size_t>& divisions) {
    const auto together = std::clamp<std::size_t>(divisions.size() / 64, 16, 1024);
    const auto chunks = (divisions.size() + together - 1) / together;
    std::vector<Bounded> bounded(chunks);
    options_.for_each(chunks, [&](std::size_t chunk) {
      if (stopped()) return;
      const auto begin = chunk * together;
      const auto part =
          std::span(divisions).subspan(begin, std::min(together, divisions.size() - begin));
      divisions_.price(part);
      for (const auto i : part) bound(i, bounded[chunk]);
    });
    if (stopped()) left_ = 0;  // nothing is known of those passed over
    std::vector<Open> all;
    for (auto& chunk : bounded) {
      for (const auto& [degrees, bound] : chunk.open) {
        all.push_back({bound, static_cast<std::uint32_t>(degrees_.size())});
        degrees_.push_back(degrees);
      }
      counts_.enumerated += chunk.enumerated;
      counts_.pruned_by_memory += chunk.too_large;
      too_long_ += chunk.too_long;
      left_ = std::min(left_, chunk.left);
      chunk = {};
    }
    while (!open_.empty()) {
      all.push_back(open_.top());
      open_.pop();
    }
    open_ = std::priority_queue<Open>(std::less<Open>{}, std::move(all));
  }

  void bound(std::size_t division, Bounded& result) {
    using strategies::Plan;
    const auto& degrees = divisions_.plan(division);
    const bool fits = divisions_.fits(division);
    const auto least = divisions_.least_time(division);
    if (!fits || least >= threshold()) {
      std::int64_t count = 0;
      for_each_step(question_.scenario, question_.space, degrees, [&](const Plan&) { ++count; });
      result.enumerated += count;
      if (!fits) result.too_large += count;
      if (fits && least >= unreached) result.too_long += count;
      if (fits) result.left = std::min(result.left, least);
      return divisions_.forget(division);
    }
    const auto& prices = divisions_.fastest(division);
    const auto before = result.open.size();
    const strategies::Sharing* sharing = nullptr;
    std::tuple<std::int64_t, int, bool> shared;
    const auto visit = [&](const Plan& plan) {
      ++result.enumerated;
      PlanFacts facts(question_.scenario, plan, prices);
      // Most need no look at what replicas exchange.
      const auto alone = least_time_of_passes(facts);
      if (alone >= threshold()) {
        if (alone >= unreached) ++result.too_long;
        result.left = std::min(result.left, alone);
        return;
      }
      // That changes more rarely than the plan.
      const std::tuple key{plan.pipeline, plan.zero,
                           plan.schedule == strategies::ScheduleKind::dualpipe};
      if (sharing == nullptr || key != shared) sharing = &divisions_.sharing(division, plan);
      shared = key;
      const auto bound = least_time(PlanBounds(std::move(facts), *sharing));
      if (bound >= threshold()) {
        result.left = std::min(result.left, bound);
        return;
      }
      result.open.push_back(
          {{static_cast<std::uint32_t>(division), static_cast<std::int32_t>(plan.pipeline),
            static_cast<std::int16_t>(plan.virtual_stages), static_cast<std::int8_t>(plan.zero),
            plan.schedule},
           bound});
    };
    for_each_step(question_.scenario, question_.space, degrees, visit);
    if (result.open.size() == before) divisions_.forget(division);
  }

  // Some good plans, so that bounds have something to reach: of the choices with the least bounds
  // those whose even partitions promise most, and then, as long as they get better, neighbours of
  // the best.
  void seed() {
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
    play_evenly(first_choices(guesses_of(indices), degrees_));
    for (int i = 0; i < most_steps && best_ && !stopped(); ++i) {
      const auto before = *best_;
      play_evenly(next_choices(guesses_of(neighbours_of_best()), degrees_));
      if (*best_ == before) break;
    }
  }
  std::vector<Guess> guesses_of(const std::vector<std::uint32_t>& indices) {
    std::vector<std::optional<Picoseconds>> times(indices.size());
    options_.for_each(indices.size(), [&](std::size_t i) {
      if (!stopped()) times[i] = candidates_.guess(degrees_[indices[i]]);
    });
    std::vector<Guess> guesses;
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (times[i]) guesses.push_back({*times[i], indices[i]});
    return guesses;
  }
  std::vector<std::uint32_t> neighbours_of_best() const {
    const auto time = [](const Ranked& ranked) { return ranked.forecast.step.time; };
    const auto& best = std::ranges::min_element(found_, {}, time)->plan;
    std::vector<std::uint32_t> near;
    for (std::uint32_t i = 0; i < degrees_.size(); ++i)
      if (!tried_.contains(i) && are_neighbours(best, candidates_.plan_of(degrees_[i])))
        near.push_back(i);
    return near;
  }
  void play_evenly(const std::vector<std::uint32_t>& chosen) {
    std::vector<Played> played(chosen.size());
    options_.for_each(chosen.size(), [&](std::size_t i) {
      if (!stopped()) played[i] = candidates_.play_evenly(degrees_[chosen[i]]);
    });
    tried_.insert(chosen.begin(), chosen.end());
    for (auto& one : played) {
      counts_.simulated += one.simulations;
      take_in(one, 0);
    }
  }

  // No plan that takes as long is of interest.
  Picoseconds threshold() const {
    const auto best = std::min(best_.value_or(unreached), known_);
    if (best == unreached) return unreached;
    return static_cast<Picoseconds>(static_cast<double>(best) * (1 - question_.gap));
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
            candidates_.play(degrees, cuts_.at(chosen[i].index), chosen[i].bound, threshold());
      else
        looks[i] = candidates_.look(degrees, target);
    });
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (stopped()) {
        open_.push(chosen[i]);
        take_in(played[i], 0);
      } else if (chosen[i].bounded)
        close(chosen[i], played[i]);
      else
        reopen(chosen[i], looks[i]);
    }
  }

  void reopen(const Open& open, Look& look) {
    if (!look.fits) {
      ++counts_.pruned_by_memory;
      return;
    }
    if (!look.reached) cuts_.insert_or_assign(open.index, std::move(look.cuts));
    open_.push({std::max(open.bound, look.bound), open.index, !look.reached});
  }

  void close(const Open& open, Played& played) {
    cuts_.erase(open.index);
    counts_.simulated += played.simulations;
    if (!played.possible && played.bound < threshold()) {
      ++counts_.pruned_by_memory;
      return;
    }
    ++counts_.evaluated;
    const auto bound = std::max(open.bound, played.bound);
    take_in(played, bound);
    left_ = std::min(left_, bound);
  }

  void take_in(Played& played, Picoseconds bound) {
    if (!played.best) return;
    const auto time = ticks(played.best->forecast.step.time);
    best_ = std::min(best_.value_or(time), time);
    played.best->bound = seconds_of(bound);
    const auto same = std::ranges::find_if(
        found_, [&](const Ranked& ranked) { return ranked.plan == played.best->plan; });
    if (same == found_.end())
      found_.push_back(std::move(*played.best));
    else
      same->bound = std::max(same->bound, played.best->bound);
  }

  Picoseconds lower_bound() const {
    auto low = std::min(left_, best_.value_or(unreached));
    if (!open_.empty()) low = std::min(low, open_.top().bound);
    return low;
  }

  void report() const {
    if (!options_.progress) return;
    Progress progress{.enumerated = counts_.enumerated,
                      .open = static_cast<std::int64_t>(open_.size()),
                      .bound = seconds_of(lower_bound())};
    if (best_) progress.best = seconds_of(*best_);
    options_.progress(progress);
  }

  // Of the choices of degrees that seem to need least the plan that misses by least.
  std::optional<Misfit> misfit() {
    constexpr std::size_t few = 8;
    std::vector<std::pair<double, std::uint32_t>> needs;
    for (std::uint32_t i = 0; i < degrees_.size(); ++i)
      if (divisions_.fits(degrees_[i].division))
        needs.emplace_back(candidates_.rough_memory(degrees_[i]), i);
    std::ranges::sort(needs);
    std::optional<Misfit> least;
    for (std::size_t i = 0; i < std::min(few, needs.size()); ++i) {
      auto one = candidates_.smallest(degrees_[needs[i].second]);
      if (!least || one.needed - one.capacity < least->needed - least->capacity)
        least = std::move(one);
    }
    return least;
  }

  Answer answer() {
    Answer answer;
    if (!best_ && known_ == unreached && !stopped()) answer.misfit = misfit();
    // What needs least memory fits, or nothing but time ruled plans out before memory was looked
    // at.
    const bool too_long =
        answer.misfit ? answer.misfit->needed <= answer.misfit->capacity : !best_ && too_long_ > 0;
    if (too_long && known_ == unreached && !stopped())
      throw strategies::Refusal(
          {"training.global_batch"},
          "every plan that may fit takes longer than 26 days for a step, which no search looks at; "
          "lower global_batch or sequence_length");
    std::ranges::stable_sort(found_, {},
                             [](const Ranked& ranked) { return ranked.forecast.step.time; });
    answer.pareto = pareto_of(found_);
    if (found_.size() > options_.top) found_.resize(options_.top);
    answer.plans = std::move(found_);
    answer.interrupted = stopped();
    const auto low = lower_bound();
    answer.lower_bound = seconds_of(low);
    if (best_) {
      answer.gap = static_cast<double>(*best_ - low) / static_cast<double>(*best_);
      answer.optimal = low == *best_;
    }
    // What is open and could still be faster is undecided.
    std::int64_t undecided = 0;
    for (; !open_.empty() && open_.top().bound < threshold(); open_.pop()) ++undecided;
    counts_.pruned_by_bound =
        counts_.enumerated - counts_.evaluated - counts_.pruned_by_memory - undecided;
    answer.space = counts_;
    return answer;
  }

  const Question& question_;
  Options options_;
  Picoseconds known_;  // the step of a plan of elsewhere
  strategies::Costs costs_;
  Divisions divisions_;
  Candidates candidates_;
  std::vector<Degrees> degrees_;
  std::priority_queue<Open> open_;
  std::map<std::uint32_t, std::vector<std::vector<int>>> cuts_;  // of what is bounded and open
  std::set<std::uint32_t> tried_;  // degrees of which an even plan was played
  std::vector<Ranked> found_;
  std::optional<Picoseconds> best_;
  Picoseconds left_ = unreached;  // the least bound of what is closed
  std::int64_t too_long_ = 0;     // choices whose steps take `unreached` at least
  Counts counts_;
};

}  // namespace

Answer search_alone(const Question& question, const Options& options, Picoseconds known) {
  return Searcher(question, options, known).run();
}

}  // namespace search
