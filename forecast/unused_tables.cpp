// SPDX-License-Identifier: Apache-2.0
#include "forecast/unused_tables.hpp"

#include <set>

#include "forecast/costs.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {
namespace {

using topology::MeasuredCollective;

std::string words(topology::Collective collective, int ranks, int nodes) {
  return std::string(to_text(collective)) + " of " + std::to_string(ranks) + " ranks on " +
         std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

// The collectives between nodes, each once, as words.
std::set<std::string> sent_between_nodes(const strategies::CostQueries& asked) {
  std::set<std::string> sent;
  for (std::uint32_t number = 1; number <= asked.count(); ++number) {
    const auto& [kernel, gpu, collective, size, group, stands_in] = asked[number];
    if (kernel || group.nodes < 2 || !(size.value > 0)) continue;
    auto one = words(collective, group.ranks, group.nodes);
    if (group.sharing > 1) one += " (" + std::to_string(group.sharing) + " groups share the NICs)";
    sent.insert(std::move(one));
  }
  return sent;
}

std::set<const MeasuredCollective*> looked_up(const strategies::CostQueries& asked,
                                              const topology::Cluster& cluster) {
  std::set<const MeasuredCollective*> tables;
  for (std::uint32_t number = 1; number <= asked.count(); ++number)
    if (const auto& one = asked[number]; !one.kernel)
      tables.insert(topology::table_for(one.collective, one.group, cluster));
  return tables;
}

}  // namespace

std::vector<std::string> unused_tables(const Scenario& scenario) {
  const auto& cluster = scenario.cluster;
  if (cluster.fabric.measured.empty()) return {};
  const auto costs = Prices(cluster).costs_with_questions();
  strategies::lower(
      {scenario.model, scenario.training, scenario.plan, scenario.software, scenario.cluster},
      costs, strategies::Ranks::folded);
  const auto used = looked_up(*costs.questions, cluster);
  std::string instead;
  for (const auto& one : sent_between_nodes(*costs.questions))
    instead += (instead.empty() ? "; between nodes it has " : ", ") + one;
  std::vector<std::string> sentences;
  for (const auto& table : cluster.fabric.measured)
    if (!used.contains(&table))
      sentences.push_back("cluster.fabric.measured: the step has no " +
                          words(table.collective, table.ranks, table.nodes) +
                          ", so that this table changes nothing" + instead);
  return sentences;
}

}  // namespace forecast
