// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/titan_precision.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace scenarios {

namespace {

// The linear layers that the converters leave in bf16: those whose names hold one of the filters,
// and routed experts, which no converter of linear layers sees.
class Kept {
 public:
  Kept(const Given& given, Draft& draft) : given_(given), draft_(draft) {}

  void keep_experts() { add("experts"); }
  void keep_linear() {
    for (const auto* module : {"attention", "mlp", "shared_experts"}) add(module);
  }
  // Reads the filters; `layers`: of the model, 0 if they are not known.
  void read(const std::array<const char*, 2>& names, std::int64_t layers) {
    const auto* name = given_.has(names[0]) ? names[0] : names[1];
    const bool by_converters = !modules_.empty();
    if (const auto* filters = given_.find(name))
      for (const auto& filter : filters->values) take(filter.text);
    if (!modules_.empty())
      draft_.set("training.in_bf16.modules", job_words(modules_),
                 {name, "model.converters", "quantize.grouped_mm.float8.fqns",
                  "quantize.grouped_mm.mx.fqns"},
                 by_converters ? "converters of linear layers see no routed experts" : "");
    take_layers(name, layers);
    if (!others_.empty())
      draft_.partly(name, others_ + " stay" + (one_ ? "s" : "") +
                              " in bf16; the forecast has them as the other products");
  }

 private:
  void add(const char* module) {
    if (std::ranges::find(modules_, module) == modules_.end()) modules_.push_back(module);
  }

  void take(const std::string& filter) {
    // The head and routers are never narrow.
    for (const auto* wide : {"output", "lm_head", "router.gate", "router", "gate"})
      if (filter == wide) return;
    if (filter == "attention" || filter == "self_attn") return add("attention");
    if (filter == "feed_forward" || filter == "mlp") return add("mlp");
    if (filter == "shared_experts" || filter == "moe") return add("shared_experts");
    constexpr std::string_view layer = "layers.";
    std::int64_t index = -1;
    const auto* end = filter.data() + filter.size();
    if (filter.starts_with(layer) && filter.ends_with('.')) {
      const auto [stop, wrong] = std::from_chars(filter.data() + layer.size(), end - 1, index);
      if (wrong == std::errc() && stop == end - 1 && index >= 0) {
        layers_.insert(index);
        return;
      }
    }
    miss(filter);
  }

  void take_layers(const char* name, std::int64_t layers) {
    std::int64_t first = 0, last = 0;
    while (layers_.contains(first)) layers_.erase(first++);
    while (layers > 0 && layers_.contains(layers - 1 - last)) layers_.erase(layers - 1 - last++);
    if (first > 0) draft_.whole("training.in_bf16.first_layers", first, {name});
    if (last > 0) draft_.whole("training.in_bf16.last_layers", last, {name});
    for (const auto index : layers_) miss("layers." + std::to_string(index) + ".");
  }

  void miss(const std::string& filter) {
    one_ = others_.empty();
    others_ += (others_.empty() ? "" : ", ") + filter;
  }

  const Given& given_;
  Draft& draft_;
  std::vector<std::string> modules_;
  std::set<std::int64_t> layers_;
  std::string others_;  // filters that no key can say
  bool one_ = false;    // of them
};

constexpr auto old_float8 = "float8.enable_float8_linear";  // before there were converters

// Marks keys of conversions to 8 bit that this job does not make, or that are off, as unused.
void set_aside_conversions(const Given& given, Draft& draft, bool float8, bool mx, bool grouped) {
  constexpr const char* why = "model.converters names no such conversion";
  if (!float8)
    for (const auto* prefix : {"float8.", "quantize.linear.float8."}) draft.unused(prefix, why);
  if (!mx)
    for (const auto* prefix : {"mx.", "quantize.linear.mx."}) draft.unused(prefix, why);
  if (!grouped) draft.unused("quantize.grouped_mm.", why);
  for (const std::string section : {"float8.", "quantize.linear.float8."})
    for (const auto* name :
         {"enable_fsdp_float8_all_gather", "emulate", "precompute_float8_dynamic_scale_for_fsdp"})
      if (given.table().find(section + name) != nullptr &&
          given.word_or(section + name, "") == "false")
        draft.unused(section + name, "it is off");
}

// Whether the converter of grouped products is told of routed experts.
bool converts_experts(const Given& given, const std::string& kind) {
  const auto name = "quantize.grouped_mm." + kind + ".fqns";
  if (given.table().find(name) == nullptr) return false;
  const auto* named = given.find(name);
  constexpr std::string_view experts = "layers.0.moe.experts";
  return named != nullptr && std::ranges::any_of(named->values, [&](const ShellWord& word) {
           return !word.text.empty() && experts.find(word.text) != experts.npos;
         });
}

}  // namespace

void read_titan_precision(const Given& given, Draft& draft, std::int64_t layers, bool experts) {
  constexpr const char* converters_name = "model.converters";
  const auto* converters = given.find(converters_name);
  const auto has = [&](std::string_view part, bool grouped) {
    const auto contains = [](const std::string& text, std::string_view what) {
      return text.find(what) != text.npos;
    };
    return converters != nullptr &&
           std::ranges::any_of(converters->values, [&](const ShellWord& word) {
             return contains(word.text, part) && contains(word.text, "grouped_mm") == grouped;
           });
  };
  const bool old = given.word_or(old_float8, "false") == "true";
  const bool float8 = old || has("float8", false), mx = has("mx", false);
  const bool grouped_mx = converts_experts(given, "mx") && has("mx", true);
  const bool grouped = grouped_mx || (converts_experts(given, "float8") && has("float8", true));
  set_aside_conversions(given, draft, float8, mx, has("mx", true) || has("float8", true));
  if (!float8 && !mx && !grouped) {
    const auto word = given.word_or("training.mixed_precision_param", "bfloat16");
    draft.text("training.precision", word == "float32" ? "fp32" : "bf16",
               {"training.mixed_precision_param"});
    return;
  }
  Kept kept(given, draft);
  if (!float8 && !mx) kept.keep_linear();
  if (experts && !grouped) kept.keep_experts();
  if (mx || (grouped_mx && !float8)) {
    draft.text("training.precision", "mxfp8", {converters_name});
    kept.read({"mx.filter_fqns", "quantize.linear.mx.filter_fqns"}, layers);
    return;
  }
  if (grouped_mx && experts)
    draft.partly(converters_name, "experts are in mxfp8; the forecast has them in fp8");
  const auto* name =
      given.has("float8.recipe_name") ? "float8.recipe_name" : "quantize.linear.float8.recipe_name";
  const auto recipe = given.word_or(name, float8 ? "tensorwise" : "rowwise");
  draft.text("training.precision", "fp8", {converters_name, old_float8});
  draft.text("training.fp8_recipe", recipe == "tensorwise" ? "tensorwise" : "rowwise", {name});
  if (recipe == "rowwise_with_gw_hp")
    draft.set("training.in_bf16.gradients", job_words({"weights"}), {name});
  kept.read({"float8.filter_fqns", "quantize.linear.float8.filter_fqns"}, layers);
}

}  // namespace scenarios
