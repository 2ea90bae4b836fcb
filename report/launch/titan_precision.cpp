// SPDX-License-Identifier: Apache-2.0
#include "report/launch/titan_precision.hpp"

#include "plans/precision.hpp"
#include "report/words.hpp"

namespace report::torchtitan {

namespace {

using forecast::Scenario;
using units::Precision;

model::WideProducts wide_of(const Scenario& s) {
  return strategies::wide_products(s.training.in_bf16);
}

// Whether linear layers outside of routed experts are narrow, and whether these are.
bool converts_linear(const Scenario& s) {
  const auto wide = wide_of(s);
  return !wide.attention || !wide.mlp || (s.model.moe && !wide.shared_experts);
}
bool converts_experts(const Scenario& s) { return s.model.moe && !wide_of(s).experts; }

// "float8" or "mx"; empty: no converter.
std::string kind_of(const Scenario& s) {
  if (s.training.precision == Precision::fp8) return "float8";
  return s.training.precision == Precision::mxfp8 ? "mx" : "";
}

// Names, as torchtitan's models have them, of the linear layers that stay in bf16.
std::vector<std::string> filters_of(const Scenario& s) {
  const auto& in_bf16 = s.training.in_bf16;
  std::vector<std::string> names{"output"};
  if (s.model.moe) names.emplace_back("router.gate");
  const auto wide = wide_of(s);
  if (wide.attention) names.emplace_back("attention");
  if (wide.mlp) names.emplace_back("feed_forward");
  if (wide.shared_experts) names.emplace_back("shared_experts");
  for (std::int64_t layer = 0; layer < s.model.layers; ++layer)
    if (strategies::is_wide_layer(in_bf16, s.model.layers, layer))
      names.push_back(fmt::format("layers.{}.", layer));
  return names;
}

std::string float8_recipe(const Scenario& s, LostKeys& lost) {
  using enum model::Scaling;
  const auto recipe = s.training.fp8_recipe;
  if (recipe != tensorwise && recipe != rowwise)
    lost.push_back(
        {"training.fp8_recipe", fmt::format("training.fp8_recipe {}: torchtitan has tensorwise and "
                                            "rowwise; tensorwise is written instead",
                                            word(recipe))});
  if (recipe != rowwise) return "tensorwise";
  return wide_of(s).weight_gradients ? "rowwise_with_gw_hp" : "rowwise";
}

void lose_experts(const Scenario& s, LostKeys& lost) {
  if (converts_experts(s) && s.training.in_bf16.first_layers + s.training.in_bf16.last_layers > 0)
    lost.push_back({"training.in_bf16.first_layers",
                    "training.in_bf16.first_layers and last_layers: torchtitan converts the "
                    "experts of all layers alike"});
}

void lose_gradients(const Scenario& s, const std::string& recipe, LostKeys& lost) {
  if (wide_of(s).weight_gradients && recipe != "rowwise_with_gw_hp")
    lost.push_back({"training.in_bf16.gradients",
                    "training.in_bf16.gradients weights: torchtitan has them in bf16 with "
                    "fp8_recipe rowwise alone"});
  if (wide_of(s).input_gradients)
    lost.push_back({"training.in_bf16.gradients",
                    "training.in_bf16.gradients inputs: torchtitan computes gradients of inputs as "
                    "the forward pass"});
}

}  // namespace

std::string json_list(const std::vector<std::string>& words) {
  std::string list;
  for (const auto& word : words) list += (list.empty() ? "" : ", ") + json_string(word);
  return '[' + list + ']';
}

std::vector<std::string> converters_of(const Scenario& s) {
  const auto kind = kind_of(s);
  std::vector<std::string> all;
  if (kind.empty()) return all;
  if (converts_linear(s)) all.push_back("quantize.linear." + kind);
  if (converts_experts(s)) all.push_back("quantize.grouped_mm." + kind);
  return all;
}

std::string quantization_text(const Scenario& s, LostKeys& lost) {
  if (s.training.precision == Precision::nvfp4)
    lost.push_back({"training.precision",
                    "training.precision nvfp4: torchtitan has float8 and mxfp8 below 16 bit; "
                    "bfloat16 is written instead"});
  const auto kind = kind_of(s);
  if (kind.empty()) return {};
  const auto recipe = kind == "mx" ? "mxfp8_cublas" : float8_recipe(s, lost);
  lose_gradients(s, recipe, lost);
  lose_experts(s, lost);
  std::string text;
  if (converts_linear(s))
    text += Table("quantize.linear." + kind)
                .put("recipe_name", recipe.c_str())
                .put("filter_fqns", json_list(filters_of(s)))
                .text();
  if (converts_experts(s))
    text += Table("quantize.grouped_mm." + kind).put("fqns", json_list({"experts"})).text();
  return text;
}

}  // namespace report::torchtitan
