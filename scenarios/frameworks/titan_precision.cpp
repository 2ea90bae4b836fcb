// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/titan_precision.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <vector>

namespace scenarios {

namespace {

// The linear layers of one layer of torchtitan's models, by part.
struct Linear {
  const char* part;
  const char* name;
};
constexpr std::array<Linear, 10> linears{{{"attention", "attention.wq"},
                                          {"attention", "attention.wk"},
                                          {"attention", "attention.wv"},
                                          {"attention", "attention.wo"},
                                          {"mlp", "feed_forward.w1"},
                                          {"mlp", "feed_forward.w2"},
                                          {"mlp", "feed_forward.w3"},
                                          {"shared_experts", "moe.shared_experts.w1"},
                                          {"shared_experts", "moe.shared_experts.w2"},
                                          {"shared_experts", "moe.shared_experts.w3"}}};

// Names of layers that are never narrow, whatever the filters say.
constexpr std::array<std::string_view, 2> always_wide{"output", "layers.0.moe.router.gate"};

// The linear layers that the converters leave in bf16: those whose names hold one of the filters,
// and what no converter sees.
class Kept {
 public:
  Kept(const Given& given, Draft& draft, const TitanModel& model)
      : given_(given), draft_(draft), model_(model) {}

  // Leaves parts in bf16, for this reason.
  void keep(std::initializer_list<const char*> parts, const char* why) {
    for (const auto* part : parts)
      if (has(part)) modules_.emplace_back(part);
    if (!modules_.empty()) why_ = why;
  }
  void read(const std::array<const char*, 2>& names) {
    name_ = given_.has(names[0]) ? names[0] : names[1];
    if (const auto* filters = given_.find(name_))
      for (const auto& filter : filters->values) filters_.push_back(filter.text);
    constexpr std::size_t most = 64;
    if (filters_.size() > most) {
      draft_.partly(name_, "more than 64 filters, of which none is read");
      filters_.clear();
    }
    take_parts();
    if (!modules_.empty()) set_modules();
    take_layers();
    report_others();
  }

 private:
  bool has(std::string_view part) const {
    return (part != "mlp" || model_.dense_layers) &&
           (part != "shared_experts" || model_.shared_experts);
  }
  bool keeps(std::string_view part) const {
    return std::ranges::find(modules_, part) != modules_.end();
  }
  static bool matches(const std::string& filter, std::int64_t layer, const Linear& one) {
    const auto name = "layers." + std::to_string(layer) + "." + one.name;
    return filter != small_layers && name.find(filter) != name.npos;
  }
  bool is_wide(std::int64_t layer, const Linear& one) const {
    return std::ranges::any_of(filters_,
                               [&](const auto& filter) { return matches(filter, layer, one); });
  }
  // The layers among which filters are sought.
  std::int64_t layers() const {
    constexpr std::int64_t some = 128, most = 512;
    return model_.layers > 0 ? std::min(model_.layers, most) : some;
  }
  bool all_wide(std::int64_t layer) const {
    return std::ranges::all_of(linears, [&](const Linear& one) {
      return !has(one.part) || keeps(one.part) || is_wide(layer, one);
    });
  }

  // Parts of which every layer is named.
  void take_parts() {
    for (const std::string part : {"attention", "mlp", "shared_experts"}) {
      bool all = has(part) && !keeps(part);
      for (std::int64_t layer = 0; layer < layers() && all; ++layer)
        all = std::ranges::all_of(
            linears, [&](const Linear& one) { return one.part != part || is_wide(layer, one); });
      if (all) modules_.push_back(part);
    }
  }

  void set_modules() {
    const auto words = job_words(modules_);
    if (why_.empty())
      draft_.set("training.in_bf16.modules", words, {name_});
    else
      draft_.set("training.in_bf16.modules", words,
                 {"model.converters", name_, "quantize.grouped_mm.float8.fqns",
                  "quantize.grouped_mm.mx.fqns"},
                 why_);
  }

  void take_layers() {
    while (first_ < layers() && all_wide(first_)) ++first_;
    if (first_ == layers()) first_ = 0;  // the parts say it already
    while (model_.layers == layers() && first_ + last_ < layers() && all_wide(layers() - 1 - last_))
      ++last_;
    if (last_ == layers()) last_ = 0;
    if (first_ > 0) draft_.whole("training.in_bf16.first_layers", first_, {name_});
    if (last_ > 0) draft_.whole("training.in_bf16.last_layers", last_, {name_});
  }

  // Says which filters name layers that no key does.
  void report_others() {
    std::string others;
    const auto add = [&](const std::string& filter) {
      (others += others.empty() ? "" : ", ") += '"' + filter + '"';
    };
    for (const auto& filter : filters_) {
      if (filter == small_layers) {
        draft_.partly(name_, filter +
                                 " leaves linear layers with few rows or columns in bf16; the "
                                 "forecast has them in 8 bit");
        return;
      }
      bool missed = false;
      for (auto layer = first_; layer < layers() - last_ && !missed; ++layer)
        missed = std::ranges::any_of(linears, [&](const Linear& one) {
          return has(one.part) && !keeps(one.part) && matches(filter, layer, one);
        });
      if (missed || is_unknown(filter)) add(filter);
    }
    if (!others.empty())
      draft_.partly(name_, "linear layers whose names hold " + others +
                               " stay in bf16; the forecast has them in 8 bit");
  }

  // Whether the filter may name layers of models that are called otherwise.
  bool is_unknown(const std::string& filter) const {
    const auto holds = [&](std::string_view name) { return name.find(filter) != name.npos; };
    if (std::ranges::any_of(always_wide, holds) || filter == "lm_head") return false;
    return std::ranges::none_of(linears, [&](const Linear& one) {
      for (std::int64_t layer = 0; layer < layers(); ++layer)
        if (matches(filter, layer, one)) return true;
      return false;
    });
  }

  static constexpr std::string_view small_layers = "auto_filter_small_kn";
  const Given& given_;
  Draft& draft_;
  const TitanModel& model_;
  const char* name_ = nullptr;  // of the argument
  std::string why_;
  std::vector<std::string> filters_, modules_;
  std::int64_t first_ = 0, last_ = 0;  // layers of which all stay in bf16
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
      if (given.table().find(section + name) != nullptr && given.has(section + name) &&
          !given.yes(section + name))
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

constexpr const char* converters_name = "model.converters";
constexpr const char* weights_name = "training.dtype";
constexpr const char* wide_others =
    "without FSDP, tensor and pipeline ranks compute what no converter takes in float32; the "
    "forecast has it in bf16";

// Sets the precision of a job without converters.
void read_cast(const Given& given, Draft& draft, TitanCast cast) {
  const bool casts = cast != TitanCast::weights;
  const auto* name = casts ? "training.mixed_precision_param" : weights_name;
  const auto word = given.word_or(name, casts ? "bfloat16" : "float32");
  draft.text("training.precision", word == "float32" ? "fp32" : "bf16", {name},
             casts ? "" : "precisions are mixed on tensor and pipeline ranks with FSDP only");
}

}  // namespace

void read_titan_precision(const Given& given, Draft& draft, const TitanModel& model,
                          TitanCast cast) {
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
  const bool old = given.yes(old_float8);
  const bool float8 = old || has("float8", false), mx = has("mx", false);
  const bool grouped_mx = converts_experts(given, "mx") && has("mx", true);
  const bool grouped = grouped_mx || (converts_experts(given, "float8") && has("float8", true));
  set_aside_conversions(given, draft, float8, mx, has("mx", true) || has("float8", true));
  if (!float8 && !mx && !grouped) return read_cast(given, draft, cast);
  if (cast == TitanCast::weights && given.word_or(weights_name, "float32") == "float32")
    draft.partly(converters_name, wide_others);
  Kept kept(given, draft, model);
  if (!float8 && !mx)
    kept.keep({"attention", "mlp", "shared_experts"},
              "converters of grouped products see routed experts alone");
  if (model.experts && !grouped)
    kept.keep({"experts"}, "converters of linear layers see no routed experts");
  if (mx || (grouped_mx && !float8)) {
    draft.text("training.precision", "mxfp8", {converters_name});
    kept.read({"mx.filter_fqns", "quantize.linear.mx.filter_fqns"});
    return;
  }
  if (grouped_mx && model.experts)
    draft.partly(converters_name, "experts are in mxfp8; the forecast has them in fp8");
  const auto* name =
      given.has("float8.recipe_name") ? "float8.recipe_name" : "quantize.linear.float8.recipe_name";
  const auto recipe = given.word_or(name, float8 ? "tensorwise" : "rowwise");
  draft.text("training.precision", "fp8", {converters_name, old_float8});
  draft.text("training.fp8_recipe", recipe == "tensorwise" ? "tensorwise" : "rowwise", {name});
  if (recipe == "rowwise_with_gw_hp")
    draft.set("training.in_bf16.gradients", job_words({"weights"}), {name});
  kept.read({"float8.filter_fqns", "quantize.linear.float8.filter_fqns"});
}

}  // namespace scenarios
