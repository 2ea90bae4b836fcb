// SPDX-License-Identifier: Apache-2.0
// How many nodes of a kind to take.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>

#include "model/transformer.hpp"
#include "search/purchase/decision_parts.hpp"
#include "search/purchase/machine_prices.hpp"
#include "topology/fabric_plan.hpp"

namespace search {
namespace {

using Count = std::int64_t;

constexpr Count most_gpus = 1 << 17;      // beyond, no batch is divided well, and searches are long
constexpr double guessed_mfu = 0.4;       // for the first guess alone
constexpr double fine_enough = 1.0 / 16;  // share of the number of nodes that is found

PurchaseOption with_nodes(PurchaseOption option, Count nodes) {
  const auto change = [nodes](topology::Cluster& cluster) {
    cluster.gpus = nodes * cluster.node.gpus;
  };
  for (auto& question : option.questions) {
    change(question.scenario.cluster);
    for (auto& other : question.others) change(other.scenario.cluster);
  }
  if (option.price && option.price->network_of_catalog)
    option.price->network_per_node = switches_per_node(option.cluster());
  return option;
}

// The largest multiple of `step` that is not above the number.
Count floor_to(Count number, Count step) { return number / step * step; }

// A power of two that is about an eighth of the number: multiples of it are divided well.
Count round_step(Count number) {
  Count step = 1;
  while (step * 16 <= number) step *= 2;
  return step;
}

class Counting {
 public:
  Counting(const Purchase& purchase, const PurchaseOption& option, Planning& planning,
           std::size_t number)
      : purchase_(purchase), option_(option), planning_(planning), number_(number) {}

  Assessed run(PurchaseOption& chosen) {
    const auto most = most_within();
    if (!most)
      trial(option_.find->least);
    else if (purchase_.constraints.deadline)
      meet_deadline(*most);
    else if (bounded_)
      spend(*most);
    else
      grow(*most);
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

  bool may_try() const { return trials_.size() < most_tries && planning_.refused().empty(); }

  const AssessedNodes& trial(Count nodes) {
    const auto known = trials_.find(nodes);
    if (known != trials_.end()) return known->second;
    AssessedNodes made{with_nodes(option_, nodes), {}, {}};
    made.found = planning_.found(made.option, number_);
    if (planning_.refused().empty())
      made.assessment = planning_.assessment(made.option, made.found);
    return trials_.emplace(nodes, std::move(made)).first->second;
  }

  // Spends all of the money: the most nodes, and fewer that are divided better.
  void spend(Count most) {
    const Count least = option_.find->least;
    for (Count step = 1; step <= most && may_try(); step *= 2)
      if (const auto nodes = floor_to(most, step); nodes >= std::max(least, (most + 1) / 2))
        trial(nodes);
    for (auto nodes = most / 2; nodes >= least && !any_feasible() && may_try(); nodes /= 2)
      trial(nodes);
  }

  // Doubles an option that grows dearer with its size, until it is too dear or no faster.
  void grow(Count most) {
    Count good = 0;
    units::Seconds shortest{};
    auto nodes = option_.find->least;
    for (; nodes <= most && may_try(); nodes *= 2) {
      const auto& a = trial(nodes).assessment;
      if (a.feasible() && (good == 0 || a.time < shortest)) {
        good = nodes;
        shortest = a.time;
      } else if (good > 0) {
        break;
      }
    }
    if (good > 1 && good + good / 2 <= most && may_try()) trial(good + good / 2);
  }

  // Finds the fewest nodes that are in time, to a sixteenth.
  void meet_deadline(Count most) {
    const Count least = option_.find->least;
    Count late = least - 1, in_time = most + 1;
    auto next = first_guess(least, most);
    while (may_try()) {
      const auto& a = trial(next).assessment;
      const bool meets = a.planned && a.until_done <= *purchase_.constraints.deadline;
      (meets ? in_time : late) = next;
      if (in_time - late <= std::max<Count>(1, std::llround(fine_enough * double(in_time)))) break;
      next = between(late, in_time, proportional(next, a));
    }
  }

  units::Seconds training_time() const {
    return *purchase_.constraints.deadline - option_.lead_time - option_.burn_in;
  }

  // The first number of nodes, for a usual share of the peak; 6 operations a parameter and token.
  Count first_guess(Count least, Count most) const {
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
    if (!(nodes > 0) || nodes >= double(most)) return most;
    return std::clamp<Count>(rounded(std::llround(std::ceil(nodes))), least, most);
  }

  static Count rounded(Count nodes) {
    const auto step = round_step(nodes);
    return (nodes + step - 1) / step * step;
  }

  // The number of nodes that would do if time fell as the number of nodes grows.
  Count proportional(Count nodes, const Assessment& a) const {
    if (!a.planned || !(training_time().value > 0)) return 2 * nodes;
    const double wanted = double(nodes) * (a.time / training_time());
    return rounded(std::llround(std::ceil(std::min(wanted, 1e9))));
  }

  static Count between(Count late, Count in_time, Count wanted) {
    if (wanted > late && wanted < in_time) return wanted;
    return std::max(late + 1, std::min(in_time - 1, rounded(late + (in_time - late) / 2)));
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

  Assessed best(PurchaseOption& chosen) {
    Assessed result;
    if (!planning_.refused().empty() || trials_.empty()) return result;
    auto found = trials_.begin();
    for (auto one = trials_.begin(); one != trials_.end(); ++one) {
      result.tried.push_back({one->first, one->second.assessment});
      if (rank_of(one->second.assessment) < rank_of(found->second.assessment)) found = one;
    }
    chosen = std::move(found->second.option);
    result.found = std::move(found->second.found);
    return result;
  }

  const Purchase& purchase_;
  const PurchaseOption& option_;
  Planning& planning_;
  std::size_t number_;
  bool bounded_ = false;  // the number has a bound besides the most that is tried
  std::map<Count, AssessedNodes> trials_;
};

}  // namespace

Assessed with_nodes_found(const Purchase& purchase, PurchaseOption& option, Planning& planning,
                          std::size_t number) {
  const auto asked = option;
  return Counting(purchase, asked, planning, number).run(option);
}

}  // namespace search
