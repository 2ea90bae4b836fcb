// SPDX-License-Identifier: Apache-2.0
#include "report/launch/told_keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace report {
namespace {

// Keys of which one sentence speaks for all, and the name of their group.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> groups{
    {{"schedule", "pipeline"},
     {"virtual_stages", "pipeline"},
     {"layers_per_stage", "pipeline"},
     {"overlap.pipeline", "pipeline"},
     {"shard_group", "zero"},
     {"wrap", "zero"},
     {"reshard_after_forward", "zero"},
     {"gradient_sync", "zero"},
     {"offload.optimizer", "offload"},
     {"offload.gradients", "offload"},
     {"offload.parameters", "offload"},
     {"layers", "recompute"},
     {"recompute.checkpoint_every", "recompute"},
     {"bucket.gather", "bucket"}}};

// Returns the group of a key, with or without "plan." before it; a key of no group is one itself.
std::string_view group_of(std::string_view key) {
  constexpr std::string_view plan = "plan.";
  if (key.starts_with(plan)) key.remove_prefix(plan.size());
  const auto* found = std::ranges::find(groups, key, [](const auto& pair) { return pair.first; });
  return found == groups.end() ? key : found->second;
}

std::set<std::string_view> groups_of(const std::set<std::string>& keys) {
  std::set<std::string_view> all;
  for (const auto& key : keys) all.insert(group_of(key));
  return all;
}

// Whether the key is one outside of a plan, for which a launch file has another value.
bool is_unwritten(const Lost& one) {
  return one.effect == Lost::Effect::other_value &&
         std::ranges::any_of(std::array{"model.", "training.", "software."},
                             [&](const char* section) { return one.key.starts_with(section); });
}

}  // namespace

bool tell_of(const std::vector<Lost>& lost, std::string_view key) {
  return std::ranges::any_of(lost,
                             [&](const Lost& one) { return group_of(one.key) == group_of(key); });
}

void forget_untrue(std::vector<Lost>& lost, const std::set<std::string>& plan,
                   const std::set<std::string>& differing) {
  const auto known = groups_of(plan), told = groups_of(differing);
  std::erase_if(lost, [&](const Lost& one) {
    const auto group = group_of(one.key);
    return one.effect == Lost::Effect::other_value && known.contains(group) &&
           !told.contains(group);
  });
}

std::set<std::string> unwritten_keys(const std::vector<Lost>& lost) {
  std::set<std::string> keys;
  for (const auto& one : lost)
    if (is_unwritten(one)) keys.insert(one.key);
  return keys;
}

void forget_unwritten(std::vector<Lost>& lost, const std::vector<Lost>& others,
                      const std::vector<Lost>& before) {
  std::erase_if(lost, [&](const Lost& one) {
    const bool told = std::ranges::any_of(others, [&](const Lost& other) {
      return other.key == one.key || other.key.starts_with(one.key + ".");
    });
    return is_unwritten(one) && (told || std::ranges::find(before, one) != before.end());
  });
  for (auto& one : lost) {
    if (!is_unwritten(one) || !one.sentence.ends_with(" written instead")) continue;
    one.sentence.resize(std::min(one.sentence.find_last_of(",;"), one.sentence.size()));
    one.sentence += "; the changed job has it still";
  }
}

}  // namespace report
