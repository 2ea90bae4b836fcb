// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/huggingface_layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "scenarios/documents/layer_rule.hpp"
#include "scenarios/foreign/huggingface_refused.hpp"

namespace scenarios {
namespace {

constexpr auto layer_kinds = {"layer_types", "layers_block_type", "attention_layers"};
constexpr auto window_sizes = {"sliding_window", "window_size"};

struct LayerKind {
  std::string_view word;
  bool windowed;
};

// The words of transformers' layer_types and of GPT-Neo's attention_layers. Llama 4 attends in
// chunks, which a note of its family mentions.
constexpr auto known_kinds = std::to_array<LayerKind>({{"full_attention", false},
                                                       {"global_attention", false},
                                                       {"attention", false},
                                                       {"global", false},
                                                       {"chunked_attention", false},
                                                       {"sliding_attention", true},
                                                       {"local", true}});

// Returns whether each layer has a window; nothing if the file has no list of layers.
std::optional<std::vector<bool>> listed_windows(const model::Transformer& t, Fields& fields) {
  std::vector<bool> windowed;
  for (const auto& word : fields.words(layer_kinds)) {
    const auto kind = std::ranges::find(known_kinds, word, &LayerKind::word);
    if (kind == known_kinds.end()) {
      fields.complain(layer_kinds,
                      "its layers of kind '" + beginning(word, 40) +
                          "' cannot be described; only attention to all tokens or to a window can",
                      true);
      return {};
    }
    windowed.push_back(kind->windowed);
  }
  if (windowed.empty()) return {};
  // The list may be longer: entries of prediction modules may follow.
  if (static_cast<std::int64_t>(windowed.size()) < t.layers)
    fields.complain(layer_kinds, "a list of " + std::to_string(windowed.size()) + " of " +
                                     std::to_string(t.layers) + " layers");
  windowed.resize(static_cast<std::size_t>(std::min<std::int64_t>(t.layers, 10'000)));
  return windowed;
}

// Returns the rule of a list; if it follows none, a rule with about as many windows, and a note.
std::optional<WindowRule> rule_of(const std::vector<bool>& windowed, Fields& fields) {
  const auto wide = std::ranges::count(windowed, false);
  if (wide == static_cast<std::ptrdiff_t>(windowed.size())) return {};
  if (auto rule = window_rule(windowed)) return rule;
  const auto layers = static_cast<double>(windowed.size());
  const auto period = static_cast<int>(std::lround(layers / static_cast<double>(wide)));
  fields.differ("approximated: " + std::to_string(wide) + " of " + std::to_string(windowed.size()) +
                " layers look back all the way; " +
                std::to_string(windowed.size() / static_cast<std::size_t>(period)) +
                " are taken to, the last of every " + std::to_string(period));
  return WindowRule{1, period};
}

// Returns the period after which a layer looks back all the way, which may be written as "LLLG".
int full_period(const Family& family, Fields& fields) {
  const auto names = {"sliding_window_pattern", "_sliding_window_pattern",
                      "global_attn_every_n_layers"};
  constexpr std::int64_t most = 10'000;
  const auto* value = fields.value(names);
  if (value != nullptr && value->kind == Value::Kind::scalar && value->quoted)
    return static_cast<int>(std::min(static_cast<std::int64_t>(fields.word(names).size()), most));
  return static_cast<int>(std::min(fields.whole(names).value_or(family.full_period), most));
}

// Whether a number of first layers look back all the way, as the classes of Qwen have it.
bool later_layers_only(const model::Transformer& t, const Family& family, Fields& fields) {
  constexpr std::int64_t default_of_class = 28;
  const auto names = {"max_window_layers"};
  if (!fields.has({"use_sliding_window"})) return false;
  if (!fields.has(names) && !family.switched_window) return false;
  const auto wide = fields.has(names) ? fields.count(names) : default_of_class;
  if (wide > 0 && wide < t.layers)
    fields.differ("approximated: the last " + std::to_string(t.layers - wide) + " of " +
                  std::to_string(t.layers) +
                  " layers look back a window; all are taken to look back all the way");
  return wide > 0;
}

struct Foreign {
  const char* key;
  std::string_view reason;
};

struct ForeignTruth {
  const char* key;
  std::string_view reason;
  bool value = true;  // that the file has
};

// Switches that give layers parts that cannot be described.
constexpr auto foreign_truths = std::to_array<ForeignTruth>(
    {{"use_cla", "some layers take the keys and values of the layer before them"},
     {"is_encoder_decoder", two_stacks},
     {"add_cross_attention",
      "its layers also look at what an encoder gives; only decoders alone can be described"},
     {"use_bidirectional_attention", encoder},
     {"is_causal", encoder, false},
     {"attention_output_gate", "a gate on the output of attention cannot be described"}});

// Fields that a file has only if layers have parts that cannot be described.
constexpr auto foreign_parts = std::to_array<Foreign>(
    {{"block_configs", "its layers differ: each has its own attention, or none, and MLP width"},
     {"cross_attention_layers", cross_layers},
     {"cross_layer_interval", cross_layers},
     {"linear_attn_config", "layers with linear attention cannot be described"},
     {"mamba_d_state", "layers that are state-space models cannot be described"},
     {"ssm_cfg", "layers that are state-space models cannot be described"},
     {"index_topk", "an indexer chooses the tokens that each attention layer looks at"}});

std::vector<Foreign> foreign_fields(Fields& fields) {
  std::vector<Foreign> found;
  for (const auto& [key, reason, value] : foreign_truths)
    if (fields.yes_no(key, !value, nullptr) == value) found.push_back({key, reason});
  for (const auto& part : foreign_parts)
    if (fields.has({part.key})) found.push_back(part);
  return found;
}

void check_foreign(const Family& family, Fields& fields) {
  for (const auto& [key, reason] : foreign_fields(fields))
    if (key != std::string_view("mamba_d_state") || !family.type.starts_with("granitemoe"))
      fields.complain({key}, std::string(key) + ": " + std::string(reason), true);
  const auto attention = fields.list("attn_type_list");
  if (std::ranges::count(attention, 0) > 0)
    fields.complain({"attn_type_list"},
                    "attn_type_list: layers of kind 0, with linear attention, cannot be described",
                    true);
}

void check_classes(Fields& fields) {
  if (!fields.has({"architectures"})) return;
  for (const auto& name : fields.words({"architectures"}))
    for (const auto& [part, reason] : refused_classes)
      if (name.find(part) != name.npos)
        fields.complain({"architectures"},
                        "architectures: " + beginning(name, 60) +
                            " does not predict the next token of a text: " + std::string(reason) +
                            "; name its class for causal language modelling where it is trained so",
                        true);
}

// Returns the file's window in tokens, or that of the class; 0: none.
std::int64_t window_size(Fields& fields) {
  if (fields.has(window_sizes)) return fields.whole(window_sizes, 0).value_or(0);
  const bool none =
      std::ranges::any_of(window_sizes, [&](auto* key) { return fields.is_null(key); });
  return !none && fields.gives_size(window_sizes) ? fields.needed(window_sizes) : 0;
}

void check_experts(const model::Transformer& t, const Family& family, Fields& fields) {
  const auto names = {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"};
  if (!family.experts && fields.has(names) && fields.same_in_layers(names, 0).value_or(0) > 1)
    fields.complain(names,
                    "it has experts, and models of kind '" + fields.word({"model_type"}) +
                        "' have none; how these choose theirs is not known",
                    true);
  const auto groups = fields.count({"n_group"}), chosen = fields.count({"topk_group"});
  if (t.moe && chosen > 0 && groups > chosen)
    fields.note("a token chooses experts of " + std::to_string(chosen) + " of " +
                std::to_string(groups) + " groups: write training.routing: {locality: " +
                "group_limited, groups: " + std::to_string(groups) +
                ", top_groups: " + std::to_string(chosen) + "}");
}

}  // namespace

void read_windows(model::Transformer& t, const Family& family, Fields& fields) {
  const auto listed = listed_windows(t, fields);
  if (!fields.yes_no("use_sliding_window", !family.switched_window, nullptr)) return;
  const auto size = window_size(fields);
  if (size == 0 || size >= t.max_sequence) return;
  if (!family.windows)
    return fields.differ("a window of " + std::to_string(size) +
                         " tokens has no effect: models of kind '" + fields.word({"model_type"}) +
                         "' attend to all tokens");
  if (listed) {
    if (const auto rule = rule_of(*listed, fields))
      t.window = {size, rule->every, rule->full_every};
  } else if (!later_layers_only(t, family, fields)) {
    t.window = {size, family.window_period, full_period(family, fields)};
  }
}

std::string_view foreign_reason(Fields& fields) {
  const auto found = foreign_fields(fields);
  return found.empty() ? std::string_view{} : found.front().reason;
}

void check_parts(const model::Transformer& t, const Family& family, Fields& fields) {
  check_foreign(family, fields);
  check_classes(fields);
  check_experts(t, family, fields);
  if (fields.wraps_text() || fields.has({"vision_config", "visual", "audio_config", "vision_tower",
                                         "mm_vision_tower", "vq_config", "embd_layer"}))
    fields.differ("only the part that reads and writes text; what sees or hears is left out");
  if (fields.word({"model_type"}).compare("paligemma") == 0)
    fields.differ("its attention looks both ways over the image and the prompt; counted as causal");
  if (fields.has({"quantization_config", "quantization"}))
    fields.differ("stored in few bits; the forecast trains in the precision of training.precision");
}

}  // namespace scenarios
