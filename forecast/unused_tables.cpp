// SPDX-License-Identifier: Apache-2.0
#include "forecast/unused_tables.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "forecast/costs.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {
namespace {

// Sizes below this share of the largest one do not matter to the step.
constexpr double matters = 0.01;

std::string words(topology::Collective collective, int ranks, int nodes) {
  return std::string(to_text(collective)) + " of " + std::to_string(ranks) + " ranks on " +
         std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

// The largest buffer of each collective in groups of each shape, bytes.
using Largest = std::map<std::tuple<topology::Collective, topology::GroupShape>, double>;

Largest largest_of(const strategies::CostQueries& asked) {
  Largest largest;
  for (std::uint32_t number = 1; number <= asked.count(); ++number)
    if (const auto& one = asked[number]; !one.kernel) {
      auto& size = largest[{one.collective, one.group}];
      size = std::max(size, one.size.value);
    }
  return largest;
}

// The collectives between nodes of at least `least` bytes: "; between nodes it has all_gather of …,
// …".
std::string listed(const Largest& largest, double least) {
  std::string text;
  for (const auto& [of, size] : largest) {
    const auto& [collective, group] = of;
    if (group.nodes < 2 || size < least) continue;
    text += (text.empty() ? "; between nodes it has " : ", ") +
            words(collective, group.ranks, group.nodes);
    if (group.sharing > 1) text += " (" + std::to_string(group.sharing) + " groups share the NICs)";
  }
  return text;
}

}  // namespace

std::vector<std::string> unused_tables(const Scenario& scenario) {
  const auto& cluster = scenario.cluster;
  if (cluster.fabric.measured.empty()) return {};
  const auto costs = Prices(cluster).costs_with_questions();
  strategies::lower(
      {scenario.model, scenario.training, scenario.plan, scenario.software, scenario.cluster},
      costs, strategies::Ranks::folded);
  const auto largest = largest_of(*costs.questions);
  double most = 0;
  for (const auto& [of, size] : largest)
    if (std::get<1>(of).nodes > 1) most = std::max(most, size);
  std::vector<std::string> sentences;
  for (const auto& table : cluster.fabric.measured) {
    const bool used = std::ranges::any_of(largest, [&](const auto& one) {
      const auto& [collective, group] = one.first;
      return one.second >= matters * most &&
             topology::table_for(collective, group, cluster) == &table;
    });
    if (!used)
      sentences.push_back("cluster.fabric.measured: the step has no " +
                          words(table.collective, table.ranks, table.nodes) +
                          " that matters, so that this table changes nothing" +
                          listed(largest, matters * most));
  }
  return sentences;
}

}  // namespace forecast
