// SPDX-License-Identifier: Apache-2.0
// FSDP's keys of a job of the Trainer, and the file that may have them.
#include <algorithm>
#include <utility>

#include "scenarios/jobs/deepspeed.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/trainer_rules.hpp"

namespace scenarios {
namespace {

constexpr std::string_view section = "fsdp_config";

// Adds the key "fsdp_config.any" if a key of FSDP's section is given, so that rules can ask for it.
void mark_fsdp(std::vector<JobArgument>& arguments) {
  const auto of_fsdp = [](const JobArgument& one) {
    return std::string_view(one.name).starts_with("fsdp_config.") && !one.off;
  };
  const auto found = std::ranges::find_if(arguments, of_fsdp);
  if (found == arguments.end()) return;
  auto mark = *found;
  mark.text = written(mark);
  mark.name = "fsdp_config.any";
  arguments.insert(found, std::move(mark));
}

// Returns the keys of the argument's text in JSON. Throws Error with the argument's place.
std::vector<JobArgument> keys_inside(const JobArgument& argument, const std::string& file) {
  try {
    auto keys = keyed_job(parse_yaml(plain_json(argument.values.front().text), file)).arguments;
    for (auto& key : keys) key.at = argument.at;
    return keys;
  } catch (const Error& wrong) {
    auto complaints = wrong.complaints;
    for (auto& one : complaints) {
      const auto inside = one.place.substr(std::min(file.size() + 1, one.place.size()));
      one.place = place_text(argument, file);
      one.text = written(argument) + ": at " + inside + " of this text, " + one.text;
    }
    throw Error(std::move(complaints));
  }
}

// Returns the keys of the file that the argument names, or of its text in JSON; nothing if there is
// no such file. `file` is the job's.
std::optional<std::vector<JobArgument>> keys_of_fsdp(const JobArgument& argument,
                                                     const std::string& file,
                                                     const JobFiles& files) {
  const auto& value = argument.values.front().text;
  std::vector<JobArgument> keys;
  if (value.starts_with('{')) {
    keys = keys_inside(argument, file);
  } else {
    const auto found = near_file(files, value);
    if (!found) return {};
    keys = keyed_job(parse_yaml(plain_json(found->text), found->path)).arguments;
    for (auto& key : keys) {
      key.file = found->path;
      key.named = argument.named.value_or(argument.at);
    }
  }
  for (auto& key : keys) key.name = std::string(section) + "." + key.name;
  return keys;
}

}  // namespace

std::string add_fsdp(std::vector<JobArgument>& arguments, const ArgumentTable& table,
                     const std::string& file, const JobFiles& files) {
  std::string missing;
  std::vector<JobArgument> all;
  for (auto& argument : arguments) {
    const auto* known = table.find(argument.name);
    const bool named = known != nullptr && known->name == section && argument.values.size() == 1 &&
                       argument.values.front().trouble.empty() && !is_off(argument);
    auto keys = named ? keys_of_fsdp(argument, file, files) : std::nullopt;
    if (named && !keys) missing = argument.values.front().text;
    all.push_back(std::move(argument));
    if (keys) std::ranges::move(*keys, std::back_inserter(all));
  }
  arguments = std::move(all);
  mark_fsdp(arguments);
  return missing;
}

void want_fsdp(Draft& draft, const std::string& missing) {
  const auto why =
      "FSDP's keys stand in " + missing + ", which is neither beside the job nor above it; add ";
  draft.want("plan.recompute", why + "--set plan.recompute=full, or none", {section});
  draft.want("plan.offload", why + "--set plan.offload=none, or plan.offload.optimizer=cpu",
             {section});
}

}  // namespace scenarios
