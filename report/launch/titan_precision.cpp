// SPDX-License-Identifier: Apache-2.0
#include "report/launch/titan_precision.hpp"

#include <algorithm>
#include <utility>

#include "plans/precision.hpp"
#include "report/words.hpp"

namespace report::torchtitan {

namespace {

using forecast::Scenario;
using model::LinearGradient;
using model::LinearPart;
using units::Precision;

bool keeps(const Scenario& s, LinearPart part) {
  return std::ranges::find(s.training.in_bf16.parts, part) != s.training.in_bf16.parts.end();
}
bool keeps(const Scenario& s, LinearGradient gradient) {
  const auto& all = s.training.in_bf16.gradients;
  return std::ranges::find(all, gradient) != all.end();
}

// Whether linear layers outside of routed experts are narrow, and whether these are.
bool converts_linear(const Scenario& s) {
  using enum LinearPart;
  return !keeps(s, attention) || !keeps(s, mlp) || (s.model.moe && !keeps(s, shared_experts));
}
bool converts_experts(const Scenario& s) { return s.model.moe && !keeps(s, LinearPart::experts); }

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
  const std::pair<LinearPart, const char*> parts[] = {
      {LinearPart::attention, "attention"},
      {LinearPart::mlp, "feed_forward"},
      {LinearPart::shared_experts, "shared_experts"}};
  for (const auto& [part, name] : parts)
    if (keeps(s, part)) names.emplace_back(name);
  for (std::int64_t layer = 0; layer < s.model.layers; ++layer)
    if (strategies::is_wide_layer(in_bf16, s.model.layers, layer))
      names.push_back(fmt::format("layers.{}.", layer));
  return names;
}

std::string float8_recipe(const Scenario& s, Sentences& lost) {
  using enum model::Scaling;
  const auto recipe = s.training.fp8_recipe;
  if (recipe != tensorwise && recipe != rowwise)
    lost.push_back(
        fmt::format("training.fp8_recipe {}: torchtitan has tensorwise and rowwise; "
                    "tensorwise is written instead",
                    word(recipe)));
  if (recipe != rowwise) return "tensorwise";
  return keeps(s, LinearGradient::weights) ? "rowwise_with_gw_hp" : "rowwise";
}

void lose_experts(const Scenario& s, Sentences& lost) {
  if (converts_experts(s) && s.training.in_bf16.first_layers + s.training.in_bf16.last_layers > 0)
    lost.push_back(
        "training.in_bf16.first_layers and last_layers: torchtitan converts the experts of all "
        "layers alike");
}

void lose_gradients(const Scenario& s, const std::string& recipe, Sentences& lost) {
  if (keeps(s, LinearGradient::weights) && recipe != "rowwise_with_gw_hp")
    lost.push_back(
        "training.in_bf16.gradients weights: torchtitan has them in bf16 with fp8_recipe rowwise "
        "alone");
  if (keeps(s, LinearGradient::inputs))
    lost.push_back(
        "training.in_bf16.gradients inputs: torchtitan computes gradients of inputs as the "
        "forward pass");
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

std::string quantization_text(const Scenario& s, Sentences& lost) {
  if (s.training.precision == Precision::nvfp4)
    lost.push_back(
        "training.precision nvfp4: torchtitan has float8 and mxfp8 below 16 bit; "
        "bfloat16 is written instead");
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
