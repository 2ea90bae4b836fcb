// SPDX-License-Identifier: Apache-2.0
// The choice of an option, and how it changes with the assumptions.
#include <algorithm>
#include <cmath>

#include "search/purchase/decision_parts.hpp"

namespace search {
namespace {

double total_cost(const Assessment& option) { return option.costs.total().value; }

// Whether a is at least as good as b in everything and better in something.
bool dominates(const Assessment& a, const Assessment& b) {
  const auto figures = [](const Assessment& one) {
    return std::array{one.until_done.value, total_cost(one), one.energy.value};
  };
  const auto of_a = figures(a), of_b = figures(b);
  for (std::size_t i = 0; i < of_a.size(); ++i)
    if (of_a[i] > of_b[i]) return false;
  return of_a != of_b;
}

// The amount by which the difference of both costs may be off.
double uncertainty_of(const Assessment& best, const Assessment& other) {
  return std::hypot(best.total_high.value - total_cost(best),
                    total_cost(other) - other.total_low.value);
}

// An amount over the cost of the best option; 0 where that costs nothing.
double share_of(const Assessment& best, double amount) {
  return total_cost(best) > 0 ? amount / total_cost(best) : 0;
}

struct Variation {
  const char* name;
  double Assumptions::*factor;
};
constexpr std::array variations{Variation{"price", &Assumptions::price},
                                Variation{"rent", &Assumptions::rent},
                                Variation{"efficiency", &Assumptions::efficiency},
                                Variation{"energy_price", &Assumptions::energy_price},
                                Variation{"failure_rate", &Assumptions::failure_rate}};
constexpr double varied_share = 0.2;

// Assesses everything again, with the factor on `best` only, where that stands `alone`, or on all
// options.
CostSensitivity varied(const Purchase& purchase, const std::vector<Assessed>& options,
                       const Variation& variation, double by, std::optional<std::size_t> best,
                       bool alone) {
  std::vector<Assessment> again;
  for (std::size_t i = 0; i < options.size(); ++i) {
    Assumptions assumed;
    if (!alone || *best == i) assumed.*variation.factor = 1 + by;
    again.push_back(assess(purchase, purchase.options[i], options[i].found.workloads, assumed));
  }
  CostSensitivity row{.parameter = variation.name, .change = by, .recommended = {}};
  if (alone) row.parameter += " of " + purchase.options[*best].name;
  if (best && again[*best].planned) row.total_cost = again[*best].costs.total();
  if (const auto chosen = recommend(again)) row.recommended = chosen->option;
  return row;
}

}  // namespace

std::optional<Recommended> recommend(const std::vector<Assessment>& options) {
  std::vector<std::size_t> feasible;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (options[i].feasible()) feasible.push_back(i);
  if (feasible.empty()) return {};
  std::ranges::stable_sort(feasible, {}, [&](std::size_t i) { return total_cost(options[i]); });
  Recommended chosen{.option = feasible.front()};
  const auto& best = options[chosen.option];
  for (std::size_t i = 1; i < feasible.size(); ++i) {
    const auto& other = options[feasible[i]];
    const double lead = total_cost(other) - total_cost(best);
    const double uncertainty = uncertainty_of(best, other);
    if (i == 1) {
      chosen.second = feasible[i];
      chosen.margin = share_of(best, lead);
      chosen.uncertainty = share_of(best, uncertainty);
    }
    if (lead <= uncertainty) chosen.ties.push_back(feasible[i]);
  }
  return chosen;
}

std::vector<std::size_t> pareto_of(const std::vector<Assessment>& options) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (options[i].feasible() && std::ranges::none_of(options, [&](const Assessment& other) {
          return other.feasible() && dominates(other, options[i]);
        }))
      front.push_back(i);
  return front;
}

std::vector<CostSensitivity> sensitivity_of(const Purchase& purchase,
                                            const std::vector<Assessed>& options,
                                            std::optional<std::size_t> recommended) {
  std::vector<CostSensitivity> rows;
  for (const auto& variation : variations)
    for (const double by : {varied_share, -varied_share})
      rows.push_back(varied(purchase, options, variation, by, recommended, false));
  if (!recommended) return rows;
  const bool rented = purchase.options[*recommended].rent.has_value();
  rows.push_back(
      varied(purchase, options, variations[rented ? 1 : 0], varied_share, recommended, true));
  rows.push_back(varied(purchase, options, variations[2], -varied_share, recommended, true));
  return rows;
}

}  // namespace search
