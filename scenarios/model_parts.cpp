// SPDX-License-Identifier: Apache-2.0
#include "scenarios/model_parts.hpp"

namespace scenarios {
namespace {

using model::LatentAttention;
using model::Moe;
using model::Transformer;

constexpr Range part_sizes{1, 16'777'216, "no published transformer is near that"};
constexpr Range experts{0, 65'536, "no published transformer is near that"};
constexpr Range counts{0, 1'000'000, "no published transformer is near that"};

bool is_latent(const Value& kind) { return kind.text == "mla"; }

// A key of latent attention, which makes the attention latent.
Key<Transformer> latent(std::string_view name, std::string_view description,
                        std::int64_t LatentAttention::*member) {
  return shown_as(
      [member](const Transformer& t) {
        return t.latent ? std::optional(shown_whole((*t.latent).*member)) : std::nullopt;
      },
      whole<Transformer>(name, "", counts, description, [member](Transformer& t) -> std::int64_t& {
        if (!t.latent) t.latent.emplace();
        return (*t.latent).*member;
      }));
}

const Table<Transformer>& attention_table() {
  static const Table<Transformer> table{
      {{"kind",
        "Multi-head, grouped-query, multi-query or multi-head latent attention",
        "as kv_heads says",
        {.type = Type::choice, .choices = {"mha", "gqa", "mqa", "mla"}}},
       [](Transformer& t, const Cursor& at) {
         if (at.value().text == "mqa" && t.kv_heads == 0) t.kv_heads = 1;
         if (is_latent(at.value()) && !t.latent) t.latent.emplace();
       },
       [](const Transformer& t) {  // the other kinds follow from kv_heads
         return t.latent ? std::optional(shown_text("mla")) : std::nullopt;
       }},
      latent("q_lora_rank", "Latent attention: rank of the queries", &LatentAttention::q_lora_rank),
      latent("kv_lora_rank", "Latent attention: rank of keys and values",
             &LatentAttention::kv_lora_rank),
      latent("qk_nope_head_dim", "Latent attention: head size without rotary part",
             &LatentAttention::qk_nope_head_dim),
      latent("qk_rope_head_dim", "Latent attention: rotary part of the head size",
             &LatentAttention::qk_rope_head_dim),
      latent("v_head_dim", "Latent attention: head size of the values",
             &LatentAttention::v_head_dim)};
  return table;
}

const Table<Moe>& moe_table() {
  static const Table<Moe> table{
      whole<Moe>("experts", "", experts, "Routed experts of a layer", &Moe::experts),
      whole<Moe>("top_k", "", {1, 256, experts.reason}, "Experts that see a token", &Moe::top_k),
      whole<Moe>("expert_ffn", "ffn", part_sizes, "Width of one expert's projection",
                 &Moe::expert_ffn),
      whole<Moe>("shared_experts", "0", counts, "Experts that see every token",
                 &Moe::shared_experts),
      whole<Moe>("shared_ffn", "expert_ffn", counts, "Width of one shared expert",
                 &Moe::shared_ffn),
      whole<Moe>("first_dense_layers", "0", counts, "Layers without experts at the beginning",
                 &Moe::first_dense_layers),
      whole<Moe>("every", "1", {1, 10'000, "a number of layers"},
                 "After those, the first of every so many layers has experts", &Moe::every),
      number<Moe>("capacity_factor", "dropless", {0.01, 1000, "a multiple of the fair share"},
                  "Room of an expert over its fair share of tokens", &Moe::capacity_factor),
      yes_no<Moe>("pad_to_capacity", "false",
                  "Each expert gets exactly its capacity of rows, of which the empty ones are sent "
                  "and computed, too (GShard, DeepSpeed-MoE)",
                  &Moe::pad_to_capacity),
      number<Moe>("imbalance", "1", {1, 1000, "the fullest rank has at least the mean"},
                  "Tokens of the fullest expert-parallel rank over the mean", &Moe::imbalance),
      yes_no<Moe>("router_bias", "false", "A bias per expert in the router", &Moe::router_bias),
      yes_no<Moe>("expert_biases", "false", "Biases on the experts' projections",
                  &Moe::expert_biases),
      yes_no<Moe>("shared_gate", "false", "A gate of the token on the shared experts' output",
                  &Moe::shared_gate)};
  return table;
}

void read_attention(Transformer& t, const Cursor& at) {
  read_map(attention_table(), t, at);
  const auto kind = at.find("kind");
  if (!kind || is_latent(kind->value())) return;
  t.latent.reset();
  if (at.value().members.size() > 1)
    kind->complain("only mla has ranks and head sizes of its own; expected mla, or no other key");
}

void read_moe(Transformer& t, const Cursor& at) {
  if (at.value().members.empty()) return;
  if (!t.moe) t.moe.emplace();
  read_map(moe_table(), *t.moe, at);
  const auto pads = at.find("pad_to_capacity");
  if (pads && t.moe->pad_to_capacity && !t.moe->capacity_factor)
    pads->complain("experts have no capacity; write capacity_factor, too, or leave this out");
}

const Form& window_form() {
  static const Form form{
      .type = Type::either,
      .forms = {{.type = Type::whole, .range = part_sizes},
                map_of({{"size",
                         "Tokens that a layer looks back",
                         "",
                         {.type = Type::whole, .range = part_sizes}},
                        {"every",
                         "Every so many layers have the window",
                         "1",
                         {.type = Type::whole, .range = {1, 10'000, "a number of layers"}}},
                        {"full_every",
                         "The last of every so many layers looks back all the way; 0: none does",
                         "0",
                         {.type = Type::whole, .range = {0, 10'000, "a number of layers"}}}})}};
  return form;
}

void read_window(Transformer& t, const Cursor& at) {
  if (!check(window_form(), at)) return;
  const auto& value = at.value();
  const auto* size = value.kind == Value::Kind::scalar ? &value : value.find("size");
  if (size == nullptr) {
    at.complain("missing key 'size'; expected {size: N, every: M}");
    return;
  }
  const auto layers_of = [&](const char* key, int otherwise) {
    const auto* given = value.find(key);
    return given == nullptr ? otherwise : static_cast<int>(to_whole(*given));
  };
  t.window = {to_whole(*size), layers_of("every", 1), layers_of("full_every", 0)};
}

std::optional<Value> show_window(const Transformer& t) {
  if (!t.window) return {};
  Value map;
  show_key(map, "size", shown_whole(t.window->size));
  show_key(map, "every", shown_whole(t.window->every));
  if (t.window->full_every > 0) show_key(map, "full_every", shown_whole(t.window->full_every));
  return map;
}

std::optional<Value> show_attention(const Transformer& t) {
  if (!t.latent) return {};
  return show_map(attention_table(), t);
}

std::optional<Value> show_moe(const Transformer& t) {
  if (!t.moe) return {};
  return show_map(moe_table(), *t.moe);
}

}  // namespace

Key<Transformer> window_key() {
  return {{"attention_window", "Tokens that each layer, or every so many, looks back", "all",
           window_form()},
          read_window,
          show_window};
}

Key<Transformer> attention_key() {
  return {
      {"attention", "Kind of attention", "as kv_heads says", map_of(fields_of(attention_table()))},
      read_attention,
      show_attention};
}

Key<Transformer> moe_key() {
  return {{"moe", "Mixture-of-experts layers", "none", map_of(fields_of(moe_table()))},
          read_moe,
          show_moe};
}

}  // namespace scenarios
