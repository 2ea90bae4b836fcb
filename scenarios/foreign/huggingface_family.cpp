// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/huggingface_family.hpp"

#include <algorithm>
#include <array>

#include "scenarios/documents/nearest.hpp"
#include "scenarios/foreign/huggingface_layers.hpp"
#include "scenarios/foreign/huggingface_refused.hpp"

namespace scenarios {
namespace {

// The names of all kinds, and their aliases.
constexpr auto type_names = [] {
  std::array<std::string_view, families.size() + aliases.size()> names{};
  for (std::size_t i = 0; i < families.size(); ++i) names[i] = families[i].type;
  for (std::size_t i = 0; i < aliases.size(); ++i) names[families.size() + i] = aliases[i].type;
  return names;
}();

const Family* known_family(std::string_view type) {
  const auto alias = std::ranges::find(aliases, type, &Alias::type);
  if (alias != aliases.end()) type = alias->like;
  const auto family = std::ranges::find(families, type, &Family::type);
  return family == families.end() ? nullptr : &*family;
}

std::string_view reason_against(std::string_view type) {
  const auto no = std::ranges::find(refused, type, &Refused::type);
  return no == refused.end() ? std::string_view{} : no->reason;
}

// Returns the family with the experts that the file gives, and without experts or latent attention
// that it switches off.
Family switched(Family family, Fields& fields) {
  if (family.type == "deepseek_v2" && !fields.yes_no("use_mla", true, nullptr))
    family = *known_family("deepseek");
  // Mixtures by the code of dense models: XVERSE-MoE and MiniCPM-MoE, of which every layer is one.
  const bool mixture = fields.same_in_layers({"num_experts"}, 0).value_or(0) > 1;
  if (!mixture && fields.word({"model_type"}).compare("hunyuan") == 0)
    family = *known_family("hunyuan_v1_dense");
  if (mixture && fields.word({"model_type"}).compare("xverse") == 0)
    family = *known_family("xverse_moe");
  if (mixture && family.type == "minicpm") family.experts = true;
  if (family.type.starts_with("deepseek") && fields.is_null("n_routed_experts"))
    family.experts = false;
  // Grok 2 has a head of its own (269.5 billion parameters), unlike Grok 1.
  if (family.type == "grok-1" && fields.yes_no("residual_moe", false, nullptr)) family.tied = false;
  const auto experts = {"num_local_experts"};
  if (family.type.starts_with("llama4") && fields.has(experts) && fields.count(experts) == 0)
    family.experts = false;
  return family;
}

// Returns the kind of model that the file names, by its class if it gives no model_type, or one
// that says nothing: Grok 2's file has "git", and MiniMax-M2's may have that of MiniMax-01.
std::string type_of(Fields& fields) {
  auto type = fields.word({"model_type"});
  const bool empty = type.empty() && !fields.has({"model_type"}), older = type == "minimax";
  if ((!empty && !older && type != "git") || !fields.has({"architectures"})) return type;
  for (const auto& name : fields.words({"architectures"}))
    if (const auto known = std::ranges::find(class_names, name, &ClassName::name);
        known != class_names.end()) {
      fields.note("model_type = " + std::string(known->type) + ": " +
                  (empty   ? "absent"
                   : older ? "'" + type + "' is an older model"
                           : "'" + type + "' is no kind of language model") +
                  "; that of " + name);
      return std::string(known->type);
    }
  return type;
}

// Returns the decoder of MiniCPM-V or MiniCPM-o, which is another in each version; null: it is not
// known.
const Family* decoder_of_minicpm(Fields& fields) {
  const auto* version = fields.value({"version"});
  return version != nullptr && version->text.compare("2.6") == 0 ? known_family("qwen2") : nullptr;
}

}  // namespace

std::optional<Family> family_of(Fields& fields) {
  const auto type = type_of(fields);
  if (type.empty() && !fields.wrong()) {
    const auto reason = foreign_reason(fields);
    fields.complain({"model_type"},
                    reason.empty() ? "missing key 'model_type'; it names the kind of model"
                                   : "such a model cannot be described: " + std::string(reason),
                    !reason.empty());
  }
  if (type.empty()) return {};
  auto reason = reason_against(type);
  if (type == "granitemoehybrid" && fields.has({"layer_types", "layers_block_type"})) {
    const bool experts = fields.count({"num_local_experts"}) > 0;
    return *known_family(experts ? "granitemoeshared" : type);
  }
  if (type == "chatglm" && fields.has({"inner_hidden_size"}))
    reason = "its positions have two dimensions, and its attention looks both ways over the prompt";
  if (type == "minicpmv" || type == "minicpmo") {
    if (const auto* family = decoder_of_minicpm(fields)) return *family;
    reason = "its text is read by another decoder in each version, and only that of 2.6 is known";
  }
  if (reason.empty()) {
    if (const auto* family = known_family(type)) return switched(*family, fields);
    if (const auto* family = known_family(fields.text_type())) return switched(*family, fields);
    reason = reason_against(fields.text_type());
  }
  if (reason.empty()) reason = foreign_reason(fields);
  const auto& inner = fields.text_type();
  const auto& unknown = inner.empty() || !reason_against(type).empty() ? type : inner;
  fields.complain({"model_type"},
                  "model_type '" + unknown + "'" +
                      (unknown == type ? "" : " of its part for text") + " is not supported" +
                      (reason.empty() ? " yet; docs/jobs.md lists the kinds that are" +
                                            suggestion(unknown, type_names, 3)
                                      : ": " + std::string(reason)),
                  true);
  return {};
}

}  // namespace scenarios
