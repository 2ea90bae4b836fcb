// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/yaml_config.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/keys_as_flags.hpp"

namespace scenarios {
namespace {

constexpr std::array<std::string_view, 2> sections{"language_model", "model_parallel"};

// Turns the activation swiglu into the switch for gated units, as yaml_arguments.py does.
void take_activation(JobArgument& key) {
  const bool gated = std::string_view(key.name) == "model.activation_func" &&
                     key.values.size() == 1 && key.values.front().text == "swiglu";
  if (!gated) return;
  key.name = "model.gated_linear_unit";
  key.values.front().text = "true";
}

}  // namespace

bool is_yaml_config(const Value& document) {
  const auto* model = document.find(sections[0]);
  const auto* degrees = document.find(sections[1]);
  const bool sized = model != nullptr && model->find("num_layers") != nullptr;
  return sized || (degrees != nullptr && degrees->find("tensor_model_parallel_size") != nullptr);
}

FrameworkJob read_yaml_config(const Value& document) {
  auto job = keyed_job(document, true);
  std::vector<JobArgument> plain, gated;  // gated: hold over the others
  for (auto& key : job.arguments) {
    if (key.text.empty()) key.text = written(key);
    for (const auto section : sections)
      if (const auto prefix = std::string(section) + ".";
          std::string_view(key.name).starts_with(prefix))
        key.name = "model." + key.name.substr(prefix.size());
    take_activation(key);
    const bool of_swiglu = std::string_view(key.name) == "model.bias_swiglu_fusion";
    if (of_swiglu) key.name = "model.bias_activation_fusion";
    const bool of_activation = std::string_view(key.name) == "model.gated_linear_unit" &&
                               key.text.find("activation") != key.text.npos;
    (of_activation || of_swiglu ? gated : plain).push_back(std::move(key));
  }
  // bias_swiglu_fusion is read beside the activation swiglu alone.
  const bool swiglu = std::ranges::any_of(gated, [](const JobArgument& key) {
    return std::string_view(key.name) == "model.gated_linear_unit";
  });
  for (auto& key : gated)
    if (std::string_view(key.name) == "model.gated_linear_unit" || swiglu)
      plain.push_back(std::move(key));
  job.arguments = keys_as_flags(plain, arguments_of("megatron_bridge"), true);
  job.table = "megatron_bridge";
  return job;
}

}  // namespace scenarios
