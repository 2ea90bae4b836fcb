// SPDX-License-Identifier: Apache-2.0
// How many nodes of a kind to take.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/transformer.hpp"
#include "search/purchase/decision_parts.hpp"
#include "search/purchase/dividing_counts.hpp"

namespace search {
namespace {

using Count = std::int64_t;

constexpr Count most_gpus = 1 << 17;      // beyond, no batch is divided well, and searches are long
constexpr double guessed_mfu = 0.4;       // for the first guess alone
constexpr double fine_enough = 1.0 / 16;  // share of the number of nodes that is found

// Numbers up to this share above a wanted one are taken instead of it if they divide better.
constexpr double near = 1.0 / 8;

// Whether the first cost is less than the second, by more than rounding.
bool clearly_less(double first, double second) { return first < second * (1 - 1e-9); }

class Counting {
 public:
  Counting(const Purchase& purchase, const PurchaseOption& option, Planning& planning,
           std::size_t number)
      : purchase_(purchase), option_(option), planning_(planning), number_(number) {}

  Assessed run(PurchaseOption& chosen) {
    const auto most = most_within();
    if (most) counts_ = dividing_counts(purchase_, option_, option_.find->least, *most);
    if (counts_.empty())
      trial(option_.find->least);
    else if (purchase_.constraints.deadline)
      meet_deadline();
    else if (bounded_)
      spend(*most);
    else
      grow();
    return best(chosen);
  }

 private:
  struct AssessedNodes {
    PurchaseOption option;
    Found found;
    Assessment assessment;
  };

  bool can_be(Count nodes) const {
    try {
      const auto option = with_nodes(option_, nodes);
      // An option without plans has one shortfall, that it has none, unless it is too large.
      return assess(purchase_, option, {}).shortfalls.size() == 1;
    } catch (const std::invalid_argument&) {
      return false;  // the fabric cannot join them
    }
  }

  // The most nodes that their price, power, racks and fabric allow; absent if these do not even
  // allow the least.
  std::optional<Count> most_within() {
    const Count least = option_.find->least;
    const Count cap = std::max(least, most_gpus / option_.cluster().node.gpus);
    const Count most = option_.find->most.value_or(cap);
    bounded_ = option_.find->most.has_value();
    if (!can_be(least)) return {};
    if (can_be(most)) return most;
    bounded_ = true;
    Count good = least, bad = most;
    while (bad - good > 1) {
      const auto middle = good + (bad - good) / 2;
      (can_be(middle) ? good : bad) = middle;
    }
    return good;
  }

  bool may_try(std::size_t most = most_tries) const {
    return trials_.size() < most && planning_.refused().empty();
  }

  const AssessedNodes& trial(Count nodes) {
    const auto known = trials_.find(nodes);
    if (known != trials_.end()) return known->second;
    AssessedNodes made{with_nodes(option_, nodes), {}, {}};
    made.found = planning_.found(made.option, number_);
    if (planning_.refused().empty())
      made.assessment = planning_.assessment(made.option, made.found);
    return trials_.emplace(nodes, std::move(made)).first->second;
  }

  // The largest of the counts that is not above the number and is a multiple of the step; 0: none.
  Count below(Count number, Count step = 1) const {
    for (auto one = counts_.rbegin(); one != counts_.rend(); ++one)
      if (one->nodes <= number && one->nodes % step == 0) return one->nodes;
    return 0;
  }

  // The count that divides best of those from the number to an eighth more, and below the end. If
  // there are none, the next above it, else the next below it that is not below the begin. 0: none.
  Count next_to(Count number, Count begin, Count end) const {
    const auto reach = std::max<Count>(number + 1, std::llround((1 + near) * double(number)));
    const DividingCount* chosen = nullptr;
    Count under = 0;
    for (const auto& one : counts_) {
      if (one.nodes < begin || one.nodes >= end) continue;
      if (one.nodes < number)
        under = one.nodes;
      else if (chosen == nullptr || (one.nodes <= reach && one.evenness > chosen->evenness))
        chosen = &one;
    }
    return chosen != nullptr ? chosen->nodes : under;
  }

  double evenness(Count nodes) const {
    const auto one = std::ranges::find(counts_, nodes, &DividingCount::nodes);
    return one == counts_.end() ? 0 : one->evenness;
  }

  // Spends all of the money: the most nodes, and fewer that are divided better.
  void spend(Count most) {
    for (Count step = 1; step <= most && may_try(); step *= 2)
      if (const auto nodes = below(most, step); nodes > 0 && nodes >= (most + 1) / 2) trial(nodes);
    for (auto nodes = below(most / 2); nodes > 0 && !any_feasible() && may_try();
         nodes = below(nodes / 2))
      trial(nodes);
  }

  // Doubles an option that grows dearer with its size, until it is too dear or no faster.
  void grow() {
    const auto end = counts_.back().nodes + 1;
    Count good = 0;
    units::Seconds shortest{};
    for (auto nodes = counts_.front().nodes; nodes > 0 && may_try();
         nodes = next_to(2 * nodes, nodes + 1, end)) {
      const auto& a = trial(nodes).assessment;
      if (a.feasible() && (good == 0 || a.time < shortest)) {
        good = nodes;
        shortest = a.time;
      } else if (good > 0) {
        break;
      }
    }
    if (const auto more = next_to(good + good / 2, good + 1, 2 * good);
        good > 0 && more > 0 && may_try())
      trial(more);
  }

  // Finds the least total cost in time: of all counts if there are few, else near the fewest nodes.
  void meet_deadline() {
    if (counts_.size() <= most_tries) {
      for (const auto& one : counts_)
        if (may_try()) trial(one.nodes);
      return;
    }
    bracket();
    while (may_try()) {
      const auto next = worth_trying();
      if (next == 0) break;
      trial(next);
    }
    while (!any_feasible() && may_try(most_tries + further_tries)) {
      const auto next = farther();
      if (next == 0) break;
      trial(next);
    }
  }

  // Narrows the fewest nodes that are in time, to a sixteenth. A count without a plan says nothing
  // about time, and is struck out. One that does not fit has too few nodes, and one on which
  // failures undo all progress has too many.
  void bracket() {
    Count late = counts_.front().nodes - 1, in_time = counts_.back().nodes + 1;
    auto next = next_to(first_guess(), late + 1, in_time);
    while (next > 0 && may_try()) {
      const auto& a = trial(next).assessment;
      const auto& why = a.shortfalls.empty() ? std::string() : a.shortfalls.front().what;
      if (!a.planned && why == "plan")
        std::erase_if(counts_, [&](const auto& one) { return one.nodes == next; });
      else if (is_in_time(a) || why == "failures")
        in_time = next;
      else
        late = next;
      if (in_time - late <= std::max<Count>(1, std::llround(fine_enough * double(in_time)))) break;
      auto wanted = proportional(next, a);
      if (wanted <= late || wanted >= in_time) wanted = late + (in_time - late + 1) / 2;
      next = next_to(wanted, late + 1, in_time);
    }
  }

  bool is_in_time(const Assessment& a) const {
    return a.planned && a.until_done <= *purchase_.constraints.deadline;
  }

  // Returns the best trial so far and sets its number of nodes; null, and nothing set, without any
  // that has a plan.
  const AssessedNodes* best_trial(Count& nodes) const {
    const AssessedNodes* best = nullptr;
    for (const auto& [count, one] : trials_)
      if (one.assessment.planned && (best == nullptr || better(one.assessment, best->assessment))) {
        best = &one;
        nodes = count;
      }
    return best;
  }

  // The count that may cost less than the best one because it divides better, or because it is
  // faster where time itself is paid; 0: none.
  Count worth_trying() const {
    Count nodes = 0;
    const auto* best = best_trial(nodes);
    if (best == nullptr) return 0;
    double least_work = best->assessment.time.value * double(nodes);
    for (const auto& [count, one] : trials_)
      if (one.assessment.planned)
        least_work = std::min(least_work, one.assessment.time.value * double(count));
    const DividingCount* chosen = nullptr;
    for (const auto& one : counts_) {
      if (one.nodes < nodes / 2 || one.nodes > 2 * nodes || trials_.contains(one.nodes)) continue;
      if (least_work / double(one.nodes) > training_time().value) continue;
      if (one.evenness > (chosen != nullptr ? chosen->evenness : evenness(nodes))) chosen = &one;
    }
    if (chosen != nullptr) return chosen->nodes;
    const bool paid_by_time = purchase_.economics.staff_per_year.value > 0 ||
                              purchase_.economics.storage.value > 0 ||
                              option_.support_per_year.fixed.value > 0;
    const bool most = trials_.upper_bound(nodes) == trials_.end();
    if (!paid_by_time || !most || !best->assessment.feasible()) return 0;
    return next_to(2 * nodes, nodes + 1, counts_.back().nodes + 1);
  }

  // The best-divided count that was not tried, of the octave nearest to the trial that comes
  // closest; 0: none.
  Count farther() const {
    const auto octave = [](Count nodes) { return std::ilogb(double(nodes)); };
    Count closest = counts_.empty() ? 1 : counts_.back().nodes;
    best_trial(closest);
    const auto distance = [&](Count nodes) { return std::abs(octave(nodes) - octave(closest)); };
    const DividingCount* chosen = nullptr;
    for (const auto& one : counts_) {
      if (trials_.contains(one.nodes)) continue;
      if (chosen == nullptr || distance(one.nodes) < distance(chosen->nodes) ||
          (distance(one.nodes) == distance(chosen->nodes) && one.evenness > chosen->evenness))
        chosen = &one;
    }
    return chosen == nullptr ? 0 : chosen->nodes;
  }

  units::Seconds training_time() const {
    return *purchase_.constraints.deadline - option_.lead_time - option_.burn_in;
  }

  // The first number of nodes, for a usual share of the peak; 6 operations a parameter and token.
  Count first_guess() const {
    double flops = 0;
    for (std::size_t i = 0; i < purchase_.workloads.size(); ++i) {
      const auto& workload = purchase_.workloads[i];
      const auto& training = option_.questions[i].scenario.training;
      flops += workload.weight * tokens_needed(workload, training.global_batch) * 6 *
               double(model::active_parameters(option_.questions[i].scenario.model));
    }
    const auto& scenario = option_.questions.front().scenario;
    const auto rate = guessed_mfu * option_.cluster().node.gpus *
                      option_.cluster().node.device.peak_of(scenario.training.precision).value;
    const double nodes = flops / rate / training_time().value;
    const auto most = counts_.back().nodes;
    return nodes > 0 && nodes < double(most) ? std::llround(std::ceil(nodes)) : most;
  }

  // The number of nodes that would do if time fell as the number of nodes grows.
  Count proportional(Count nodes, const Assessment& a) const {
    if (!a.planned || !(training_time().value > 0)) return 2 * nodes;
    const double wanted = double(nodes) * (a.time / training_time());
    return std::llround(std::ceil(std::min(wanted, 1e9)));
  }

  bool any_feasible() const {
    return std::ranges::any_of(trials_,
                               [](const auto& one) { return one.second.assessment.feasible(); });
  }

  // The rank of an assessment, the less the better: feasible ones first, then those that are short
  // of least.
  std::pair<int, double> rank_of(const Assessment& a) const {
    if (a.feasible())
      return {0, purchase_.constraints.deadline ? a.costs.total().value : a.time.value};
    return {a.planned ? 1 : 2, a.shortfalls.empty() ? 0 : a.shortfalls.front().excess};
  }

  // Callers ask in ascending order of nodes, so that of equal ones the one with fewer stays.
  bool better(const Assessment& a, const Assessment& than) const {
    const auto [rank, cost] = rank_of(a);
    const auto [other_rank, other_cost] = rank_of(than);
    return rank != other_rank ? rank < other_rank : clearly_less(cost, other_cost);
  }

  Assessed best(PurchaseOption& chosen) {
    Assessed result;
    if (!planning_.refused().empty() || trials_.empty()) return result;
    auto found = trials_.begin();
    for (auto one = trials_.begin(); one != trials_.end(); ++one) {
      result.tried.push_back({one->first, one->second.assessment});
      if (better(one->second.assessment, found->second.assessment)) found = one;
    }
    chosen = std::move(found->second.option);
    result.found = std::move(found->second.found);
    return result;
  }

  const Purchase& purchase_;
  const PurchaseOption& option_;
  Planning& planning_;
  std::size_t number_;
  bool bounded_ = false;               // the number has a bound besides the most that is tried
  std::vector<DividingCount> counts_;  // for which plans may exist, within all bounds
  std::map<Count, AssessedNodes> trials_;
};

}  // namespace

Assessed with_nodes_found(const Purchase& purchase, PurchaseOption& option, Planning& planning,
                          std::size_t number) {
  const auto asked = option;
  return Counting(purchase, asked, planning, number).run(option);
}

}  // namespace search
