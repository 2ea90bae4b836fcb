// SPDX-License-Identifier: Apache-2.0
#include "report/launch/changed_keys.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "report/launch/job_companions.hpp"
#include "report/launch/plan_differences.hpp"
#include "report/launch/told_keys.hpp"

namespace report {
namespace {

using scenarios::JobScenario;
using scenarios::Value;

// Keys that are compared as the files say them: what one leaves out, its launcher or the trainer
// decides.
constexpr std::array<std::string_view, 4> said_keys{
    "plan.data", "plan.micro_batch", "training.global_batch", "training.sequence_length"};

// Keys in which a job changes to what its framework runs, even if it says what is asked for.
constexpr std::array<std::string_view, 14> of_degrees{
    "plan.tensor",         "plan.sequence_parallel",
    "plan.context",        "plan.context_method",
    "plan.expert",         "plan.expert_tensor",
    "plan.pipeline",       "plan.schedule",
    "plan.virtual_stages", "plan.layers_per_stage",
    "plan.zero",           "plan.micro_batch",
    "plan.recompute",      "plan.layers"};

template <std::size_t N>
bool is_key_of(const std::array<std::string_view, N>& keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

// Returns the single value of a document at "section.key"; empty: there is none.
std::string said(const Value& document, std::string_view path) {
  const auto dot = path.find('.');
  const auto* section = document.find(path.substr(0, dot));
  const auto* value = section == nullptr ? nullptr : section->find(path.substr(dot + 1));
  return value == nullptr ? std::string() : value->text;
}

}  // namespace

std::set<std::string> differing_from_job(const JobScenario& one, const JobScenario& other,
                                         const forecast::Scenario& asked) {
  std::set<std::string> keys;
  const auto first = with_plan_of(one, asked), second = with_plan_of(other, asked);
  if (first && second) keys = differing_keys(*first, *second);
  for (const auto path : said_keys)
    if (said(one.document, path) != said(other.document, path)) keys.emplace(path);
  return keys;
}

std::set<std::string> differing_from_asked(const JobScenario& job,
                                           const forecast::Scenario& asked) {
  const auto with = with_plan_of(job, asked);
  return with ? differing_keys(*with, asked) : std::set<std::string>{};
}

std::set<std::string> keys_to_write(const JobStates& change, const forecast::Scenario& asked,
                                    const std::vector<Lost>& lost, KeysToWrite which) {
  auto keys = differing_from_job(change.now, change.target, asked);
  const auto from_asked = differing_from_asked(change.now, asked);
  std::erase_if(keys, [&](const std::string& key) {
    const bool told = is_key_of(of_degrees, key) && tell_of(lost, key);
    const bool leads = which == KeysToWrite::all || is_key_of(of_degrees, key);
    return !is_key_of(said_keys, key) && (!leads || (!from_asked.contains(key) && !told));
  });
  if (keys.contains("plan.layers")) keys.emplace("plan.recompute");  // which says it of all layers
  // Megatron-LM has PyTorch's FSDP with neither pipelines nor experts that are spread.
  const bool spreads = asked.plan.pipeline > 1 || asked.plan.expert > 1;
  if (spreads && gives(change.now, "--use-torch-fsdp2")) keys.emplace("plan.zero");
  const auto positions = said(change.now.document, "model.max_sequence");
  if (keys.contains("training.sequence_length") && !positions.empty() &&
      std::stoll(positions) < asked.training.sequence_length)
    keys.emplace("model.max_sequence");
  return keys;
}

LeftKeys keys_left(const JobStates& change, const forecast::Scenario& asked,
                   const std::vector<Lost>& lost) {
  const auto from_launch = differing_from_job(change.now, change.plan, asked);
  const auto from_asked = differing_from_asked(change.now, asked);
  LeftKeys left;
  for (const auto& key : from_launch)
    if (from_asked.contains(key) || is_key_of(said_keys, key)) left.changeable.push_back(key);
  for (const auto& key : from_asked)
    if (!from_launch.contains(key) && !tell_of(lost, key)) left.unspeakable.push_back(key);
  return left;
}

}  // namespace report
