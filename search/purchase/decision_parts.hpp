// SPDX-License-Identifier: Apache-2.0
// Private to the room: what follows from options once they are assessed.
#pragma once
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "search/purchase/purchase.hpp"

namespace search {

// The best plans of options. Each question is searched once.
class Planning {
 public:
  Planning(const Purchase& purchase, const Purchasing& how) : purchase_(purchase), how_(how) {}

  // Finds plans for all workloads on this option, which is `number` of the purchase.
  Found found(const PurchaseOption& option, std::size_t number);
  Assessment assessment(const PurchaseOption& option, const Found& found) const;

  // The refusals of all options that were looked at.
  const std::vector<PurchaseRefusal>& refused() const { return refused_; }

 private:
  std::optional<Planned> best(const Question& question, const Workload& workload, Found& found);
  Answer solved(const Question& question);

  const Purchase& purchase_;
  const Purchasing& how_;
  std::vector<std::pair<Question, Answer>> known_;
  std::vector<PurchaseRefusal> refused_;
};

// Finds how many nodes of `option.find` to take, and makes the option of this number
// (find_nodes.cpp): with a deadline the least total cost that meets it, else the shortest training
// within all limits; if none is within them, the one that comes closest. Tries at most `most_tries`
// numbers, and `further_tries` more if a deadline holds and none of them is within all limits; it
// reports all of them. docs/purchase.md says which.
constexpr std::size_t most_tries = 10, further_tries = 6;
Assessed with_nodes_found(const Purchase& purchase, PurchaseOption& option, Planning& planning,
                          std::size_t number);

// Varies each assumption by a fifth up and down, for all options at once; then, for the recommended
// one alone, its price or rent by a fifth up and its efficiency by a fifth down. Plans stay.
// O(options) each.
std::vector<CostSensitivity> sensitivity_of(const Purchase& purchase,
                                            const std::vector<Assessed>& options,
                                            std::optional<std::size_t> recommended);

// Gives the plan's forecast its interval and its correction.
void set_interval_and_correction(Planned& plan, const Purchasing& how);

// The chosen plans on the same nodes with other fabrics, each simulated anew: oversubscription 1:1,
// 2:1 and 4:1 of the lowest tier, rails or none, NICs and links half and twice as fast. Fabrics
// that cannot join the nodes are left out. Switches are counted anew; prices stay.
std::vector<FabricEffect> fabric_effects(const Purchase& purchase, const PurchaseOption& option,
                                         const std::vector<Planned>& plans, const Purchasing& how);

}  // namespace search
