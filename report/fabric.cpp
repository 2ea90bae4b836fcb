// SPDX-License-Identifier: Apache-2.0
#include "report/fabric.hpp"

#include <fmt/format.h>

#include "report/document.hpp"
#include "report/terminal.hpp"
#include "report/words.hpp"
#include "topology/collective.hpp"
#include "units/text.hpp"

namespace report {
namespace {

std::string counted(std::int64_t number, const char* one, const char* several) {
  return fmt::format("{} {}", grouped(static_cast<double>(number)), number == 1 ? one : several);
}

std::string tier_line(const topology::FabricTier& tier, std::size_t index) {
  const auto* below = index == 0 ? "to NICs" : "to the tier below";
  return fmt::format("#   {}  {}, {} {}\n", left(tier.name, 6),
                     counted(tier.switches, "switch", "switches"),
                     counted(tier.cables_down, "cable", "cables"), below);
}

Document tier_document(const topology::FabricTier& tier) {
  return Object()
      .put("name", tier.name)
      .put("switches", tier.switches)
      .put("cables_down", tier.cables_down)
      .take();
}

}  // namespace

Document fabric_plan_document(const topology::FabricPlan& plan, const topology::Cluster& cluster) {
  Document tiers = Document::array();
  for (const auto& tier : plan.tiers) tiers.push_back(tier_document(tier));
  return Object()
      .put("node", cluster.node.name)
      .put("nodes", plan.nodes)
      .put("endpoints", plan.endpoints)
      .put("tiers", std::move(tiers))
      .put("switches", plan.switches)
      .put("cables", plan.cables)
      .put("cables_across", plan.cables_across)
      .quantity("bisection", plan.bisection)
      .put("hops", plan.hops)
      .quantity("latency", plan.latency)
      .optional("switch_power", plan.power)
      .optional("switch_price", plan.price)
      .take();
}

std::string fabric_facts(const topology::FabricPlan& plan, const topology::Cluster& cluster) {
  std::string text =
      fmt::format("\n# {} of {}, {} on the fabric\n", counted(plan.nodes, "node", "nodes"),
                  cluster.node.name, counted(plan.endpoints, "NIC", "NICs"));
  text += fmt::format("# tiers: {}\n", plan.tiers.size());
  for (std::size_t i = 0; i < plan.tiers.size(); ++i) text += tier_line(plan.tiers[i], i);
  if (plan.cables_across > 0)
    text += fmt::format("#   {} between switches of one tier\n",
                        counted(plan.cables_across, "cable", "cables"));
  text += fmt::format("# switches: {}\n# cables: {}\n", grouped(static_cast<double>(plan.switches)),
                      grouped(static_cast<double>(plan.cables)));
  text += fmt::format("# bisection: {} one way\n", units::short_text(plan.bisection));
  text += fmt::format("# furthest nodes: {} apart, {} on the wire\n",
                      counted(plan.hops, "switch", "switches"), units::short_text(plan.latency));
  text += "# power of the switches: " +
          (plan.power ? units::short_text(*plan.power) : std::string("not known")) + '\n';
  return text + "# price of the switches: " +
         (plan.price ? fmt::format("{} USD", grouped(plan.price->value)) : "not known") +
         "; cables and optics not included\n";
}

std::string fabric_facts_json(const topology::FabricPlan& plan, const topology::Cluster& cluster) {
  forecast::Scenario scenario;
  scenario.cluster.fabric = cluster.fabric;
  Document entry = scenario_document(scenario)["cluster"]["fabric"];
  entry["plan"] = fabric_plan_document(plan, cluster);
  return dump(entry);
}

std::string fabric_yaml(const topology::Fabric& fabric, const std::string& source) {
  std::string text = fmt::format("source: {}\n", json_string("nccl-tests: " + source));
  text +=
      "note: \"link_bandwidth is the best bus bandwidth over the GPUs of a node: replace it by the "
      "rate of "
      "a link, and kind by how the switches are joined\"\n";
  text +=
      fmt::format("kind: {}\nlink_bandwidth: {}\nefficiency: {}\nmeasured:\n", word(fabric.kind),
                  units::exact_text(fabric.link_bandwidth), fabric.efficiency);
  for (const auto& table : fabric.measured) {
    text += fmt::format("  - collective: {}\n    ranks: {}\n    nodes: {}\n    points:\n",
                        to_text(table.collective), table.ranks, table.nodes);
    for (const auto& [size, time] : table.points)
      text += fmt::format("      - [{}, {}]\n", units::exact_text(size), units::exact_text(time));
  }
  return text;
}

}  // namespace report
