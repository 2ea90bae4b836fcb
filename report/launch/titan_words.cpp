// SPDX-License-Identifier: Apache-2.0
#include "report/launch/titan_words.hpp"

#include <algorithm>
#include <string_view>

#include "scenarios/jobs/argument_table.hpp"

namespace report {
namespace {

constexpr std::string_view degrees = "parallelism.";
constexpr const char *older_batch = "training.batch_size",
                     *newer_batch = "training.local_batch_size";

// The older names of a key of [parallelism].
std::vector<std::string_view> older_names(std::string_view name) {
  const auto* known = scenarios::arguments_of("torchtitan").find(name);
  return known == nullptr ? std::vector<std::string_view>{} : known->aliases;
}

}  // namespace

TitanWords::TitanWords(const scenarios::JobScenario& job) {
  for (const auto& one : job.account.arguments)
    given_.insert(one.text.substr(0, one.text.find(' ')));
  for (const auto* known : scenarios::arguments_of("torchtitan").beginning(degrees))
    older_degrees_ =
        older_degrees_ || std::ranges::any_of(known->aliases, [&](std::string_view alias) {
          return given_.contains(std::string(alias));
        });
  const bool newer = given_.contains(newer_batch);
  older_batch_ = !newer && (older_degrees_ || given_.contains(older_batch));
}

std::optional<std::string> TitanWords::own_name(const std::string& name) const {
  if (given_.contains(name)) return name;
  if (older_batch_ && name == newer_batch) return older_batch;
  if (older_batch_ &&
      (name == "training.global_batch_size" || name == "parallelism.module_fqns_per_model_part"))
    return {};
  if (!older_degrees_ || !name.starts_with(degrees)) return name;
  const auto names = older_names(name);
  for (const auto one : names)
    if (given_.contains(std::string(one))) return std::string(one);
  return names.empty() ? std::nullopt : std::optional(std::string(names.front()));
}

std::string TitanWords::newer_name(const std::string& name) {
  if (name == older_batch) return newer_batch;
  const auto* known = scenarios::arguments_of("torchtitan").find(name);
  return known == nullptr ? name : std::string(known->name);
}

std::vector<JobEdit> TitanWords::own(const std::vector<JobEdit>& edits,
                                     std::set<std::string>& lacking) const {
  std::vector<JobEdit> own;
  for (const auto& edit : edits)
    if (const auto name = own_name(edit.name); name && edit.value)
      own.push_back({*name, edit.value});
    else if (edit.value)
      lacking.insert(edit.name);
  const auto set = own.size();
  for (const auto& edit : edits) {
    const auto name = edit.value ? std::nullopt : own_name(edit.name);
    const auto end = own.begin() + static_cast<std::ptrdiff_t>(set);
    if (name && std::find_if(own.begin(), end,
                             [&](const JobEdit& one) { return one.name == *name; }) == end)
      own.push_back({*name, {}});
  }
  return own;
}

}  // namespace report
