// SPDX-License-Identifier: Apache-2.0
// Finds the values that a scenario or `--set` lays over a job, from which its defaults follow.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/job_document.hpp"
#include "scenarios/job_file.hpp"
#include "scenarios/tables.hpp"
#include "topology/cluster.hpp"

namespace scenarios {
namespace {

constexpr std::array<std::string_view, 4> sizes{"nodes", "gpus", "trays", "racks"};

// Adds the values inside by their paths; `all`, or those of `--set` alone.
void add_values(const Value& value, const std::string& path, bool all, OverJob& over) {
  const bool single = value.kind == Value::Kind::scalar, list = value.kind == Value::Kind::list;
  if ((single || list) && (all || value.set != 0)) over.values[path] = single ? value.text : "";
  for (const auto& member : value.members)
    add_values(member.value, path + (path.empty() ? "" : ".") + member.key.text, all, over);
}

// Returns the machine of the document; nothing if it has none yet, or a wrong one.
std::optional<topology::Cluster> machine_of(const Value& document,
                                            const std::filesystem::path& base) {
  const auto* cluster = document.find("cluster");
  if (cluster == nullptr || cluster->find("node") == nullptr) return {};
  auto whole = *cluster;
  const bool sized =
      std::ranges::any_of(sizes, [&](auto key) { return whole.find(key) != nullptr; });
  if (!sized) {  // its device is known all the same
    Value key, one;
    key.kind = one.kind = Value::Kind::scalar;
    key.text = "nodes";
    one.text = "1";
    whole.members.push_back({std::move(key), std::move(one)});
  }
  try {
    Reading probe("", base);
    auto machine = read_cluster(Cursor(whole, "cluster", probe));
    return probe.complains() ? std::nullopt : std::optional(std::move(machine));
  } catch (const Error&) {
    return {};  // which the scenario's own reading tells
  }
}

}  // namespace

void drop_gpus(Value& document) {
  auto* cluster = document.find("cluster");
  if (cluster == nullptr) return;
  std::erase_if(cluster->members, [](const Member& member) {
    return member.key.text == "gpus" && member.key.set == 0 && member.value.set == 0;
  });
}

void settle_size(Value& document) {
  auto* cluster = document.find("cluster");
  if (cluster == nullptr) return;
  const bool sized = std::ranges::any_of(
      sizes, [&](auto key) { return key != "gpus" && cluster->find(key) != nullptr; });
  if (sized) drop_gpus(document);
}

std::optional<JobHints> over_job(const JobHints& hints, const Value& document, const Value& over,
                                 const std::filesystem::path& base) {
  auto again = hints;
  add_values(over, "", true, again.over);
  add_values(document, "", false, again.over);
  auto settled = document;
  settle_size(settled);
  const auto machine = machine_of(settled, base);
  const auto& values = again.over.values;
  const bool sized = std::ranges::any_of(
      sizes, [&](auto key) { return values.contains("cluster." + std::string(key)); });
  if (machine && sized) {
    again.over.gpus = machine->gpus;
    again.env.push_back("WORLD_SIZE=" + std::to_string(machine->gpus));
  }
  if (machine) again.over.node_gpus = machine->node.gpus;
  if (values.empty() && !machine) return {};
  return again;
}

}  // namespace scenarios
