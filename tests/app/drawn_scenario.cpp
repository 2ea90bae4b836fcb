// SPDX-License-Identifier: Apache-2.0
#include "tests/app/drawn_scenario.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "scenarios/catalog.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/tables.hpp"

namespace drawn {

namespace {

using scenarios::Field;
using scenarios::Form;
using scenarios::Type;

using Words = std::vector<std::string>;

bool takes(const Form& form, const std::string& text) {
  scenarios::Reading reading("drawn", {});
  const auto value = scenarios::parse_yaml(text, "drawn");
  return scenarios::check(form, {value, "drawn", reading});
}

// Values of usual sizes for keys of this type, some of which a form takes.
Words usual_values(Type type) {
  switch (type) {
    case Type::whole:
      return {"0", "1", "2", "3", "4", "8"};
    case Type::number:
      return {"0", "0.1", "0.5", "1", "1.25", "2", "3.3", "12", "100"};
    case Type::bytes:
      return {"0 B", "1000 B", "1 MB", "3 MiB", "160 MB", "1.5 GB"};
    case Type::bandwidth:
      return {"10 GB/s", "400 Gbit/s"};
    case Type::flop_rate:
      return {"150 TFLOP/s", "1 PFLOP/s"};
    case Type::duration:
      return {"0 s", "700 ns", "8 us", "2.5 ms"};
    case Type::power:
      return {"700 W", "6.5 kW"};
    case Type::tokens:
      return {"300e9", "2 T tokens"};
    case Type::money:
      return {"1000 USD", "2.5e6 USD"};
    case Type::yes_no:
      return {"true", "false"};
    case Type::text:
    case Type::choice:
    case Type::list:
    case Type::map:
    case Type::either:
      break;
  }
  return {};
}

std::optional<std::string> one_taken(const Form& form, Dice& dice) {
  Words taken;
  for (const auto& text : usual_values(form.type))
    if (takes(form, text)) taken.push_back(text);
  if (taken.empty()) return {};
  return dice.of(taken);
}

std::optional<std::string> list_of(const Form& form, Dice& dice) {
  const auto least = static_cast<std::size_t>(form.range.least);
  const auto more = static_cast<std::size_t>(form.range.most) - least;
  auto count = least + dice.below(std::min<std::size_t>(more, 2) + 1);
  std::string text;
  Words before;
  while (count-- > 0) {
    const auto item = value_of(form.forms.front(), dice);
    if (!item) return {};
    if (std::ranges::find(before, *item) != before.end()) continue;
    text += (before.empty() ? "" : ", ") + *item;
    before.push_back(*item);
  }
  return "[" + text + "]";
}

std::optional<std::string> map_of_form(const Form& form, Dice& dice) {
  std::string text;
  const auto sure = dice.below(form.keys.size());
  for (std::size_t i = 0; i < form.keys.size(); ++i) {
    if (i != sure && !dice.one_in(2)) continue;
    const auto value = value_of(form.forms[i], dice);
    if (!value && form.forms[i].type == Type::text) continue;
    if (!value) return {};
    text += (text.empty() ? "" : ", ") + std::string(form.keys[i].name) + ": " + *value;
  }
  if (text.empty()) return {};
  return "{" + text + "}";
}

std::optional<std::string> one_alternative(const Form& form, Dice& dice) {
  const auto first = dice.below(form.forms.size());
  for (std::size_t i = 0; i < form.forms.size(); ++i)
    if (auto text = value_of(form.forms[(first + i) % form.forms.size()], dice)) return text;
  return {};
}

// --- Draws by hand, for keys whose valid values depend on other keys or on names.

std::string listed(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "[" : ", ") + word;
  return text + "]";
}

// The layers of two to eight stages, for models of two to eight layers.
std::string cut(Dice& dice) {
  const auto layers = 2 * (1 + dice.below(4)), stages = std::size_t{2} << dice.below(2);
  std::vector<std::size_t> each(stages, 0);
  for (std::size_t i = 0; i < layers; ++i) ++each[dice.below(stages)];
  Words words;
  for (const auto one : each) words.push_back(std::to_string(one));
  return listed(words);
}

std::string ranges_of_layers(Dice& dice) {
  const auto range = [&](std::size_t from, std::size_t to) {
    const Words ways{"none", "selective", "full", "per-op", "{selective: [mlp]}"};
    const auto way = dice.below(3);
    return "{from: " + std::to_string(from) + ", to: " + std::to_string(to) +
           (way != 0 ? ", recompute: " + dice.of(ways) : "") +
           (way != 1 ? ", tensor: " + dice.of(Words{"1", "1", "2"}) : "") + "}";
  };
  const auto first = dice.below(2), last = first + dice.below(2);
  auto text = range(first, last);
  if (dice.one_in(3)) text += ", " + range(last + 1, last + 1);
  return "[" + text + "]";
}

std::string recomputation(Dice& dice) {
  const Words ways{"none",
                   "selective",
                   "full",
                   "per-op",
                   "{full_layers: 1}",
                   "{full_layers: 2, checkpoint_every: 2}",
                   "{checkpoint_every: 2}",
                   "{checkpoint_every: [4, 2]}",
                   "{selective: [core_attn, layernorm]}",
                   "{selective: [mlp]}",
                   "{selective: [moe_act]}",
                   "{selective: [moe, shared_experts]}"};
  if (!dice.one_in(4)) return dice.of(ways);
  Words each;
  for (auto stages = std::size_t{1} << dice.below(3); stages > 0; --stages)
    each.push_back(dice.of(ways));
  return listed(each);
}

std::string catalog_software(Dice& dice) {
  return std::string(dice.of(scenarios::catalog_names(scenarios::Kind::software)));
}

std::string order_of_ranks(Dice& dice) {
  return dice.of(Words{"tp-cp-ep-dp-pp", "tp-pp-cp-ep-dp", "dp-tp-cp-ep-pp", "tp-cp-dp-ep-pp",
                       "cp-tp-pp-dp-ep", "pp-dp-ep-cp-tp"});
}

// A routing for the models' 8 experts.
std::string routing(Dice& dice) {
  return dice.of(
      Words{"{locality: neighbours}", "{locality: group_limited, groups: 4, top_groups: 1}",
            "{locality: group_limited, groups: 8, top_groups: 4, skew: power_law}",
            "{skew: power_law, exponent: 1, spread: 100}", "{skew: power_law, placement: greedy}",
            "{skew: histogram, shares: [8, 7, 6, 5, 4, 3, 2, 1]}",
            "{skew: histogram, shares: [9, 1, 1, 1, 1, 1, 1, 1], placement: greedy}"});
}

std::string allocator(Dice& dice) {
  return dice.of(Words{"{expandable_segments: true}", "{max_split_size_mb: 128}",
                       "{roundup_power2_divisions: 8, garbage_collection_threshold: 0.8}",
                       "{preallocated: 0.75}"});
}

using Draw = std::string (*)(Dice&);

const std::map<std::string, Draw>& by_hand() {
  static const std::map<std::string, Draw> draws{
      {"plan.layers_per_stage", cut},
      {"plan.layers", ranges_of_layers},
      {"plan.recompute", recomputation},
      {"plan.rank_order", order_of_ranks},
      {"software.allocator", allocator},
      {"software.base", catalog_software},
      {"training.routing", routing},
      {"training.sequence_length",
       [](Dice& dice) {
         return dice.of(Words{"64", "128", "256", "384"});
       }},
      {"training.global_batch", [](Dice& dice) {
         return dice.of(Words{"16", "32", "48", "64", "96"});
       }}};
  return draws;
}

// The chance of a key, 1 in so many. Keys that others need to have an effect are drawn more often.
std::size_t one_in(const std::string& key) {
  for (const auto* often : {"plan.tensor", "plan.pipeline", "plan.zero", "plan.schedule"})
    if (key == often) return 2;
  for (const auto* always : {"training.sequence_length", "training.global_batch"})
    if (key == always) return 1;
  return 6;
}

// A value at either end of the range that the form takes.
std::optional<std::string> extreme(const Form& form, Dice& dice) {
  if (form.type != Type::whole) return value_of(form, dice);
  return std::to_string(
      static_cast<std::int64_t>(dice.one_in(3) ? form.range.least : form.range.most));
}

// An entry of the catalog with one to three of its keys.
std::string over_base(scenarios::Kind kind, const std::vector<Field>& fields, Dice& dice) {
  std::string text = "{base: " + std::string(dice.of(scenarios::catalog_names(kind)));
  std::set<std::string_view> drawn;
  for (auto keys = 1 + dice.below(3); keys > 0; --keys) {
    const auto& field = dice.of(fields);
    const auto value = dice.one_in(3) ? extreme(field.form, dice) : value_of(field.form, dice);
    if (!value || !drawn.insert(field.name).second) continue;
    text += ", " + std::string(field.name) + ": " + *value;
  }
  return text + "}";
}

std::string model(Dice& dice) {
  std::string text = "model:\n  layers: " + dice.of(Words{"2", "4", "4", "6", "8"}) +
                     "\n  hidden: " + dice.of(Words{"256", "512"}) +
                     "\n  heads: 8\n  vocab: 1000\n";
  const auto maybe = [&](const char* key, const Words& values) {
    if (dice.one_in(5)) text += std::string("  ") + key + ": " + dice.of(values) + "\n";
  };
  maybe("kv_heads", {"1", "2", "4"});
  maybe("position", {"rope", "alibi", "none"});
  maybe("norm", {"rmsnorm"});
  maybe("tied_embeddings", {"false"});
  maybe("biases", {"false"});
  maybe("dropout", {"0"});
  maybe("multi_token_prediction", {"1", "2"});
  maybe("attention_window", {"64", "{size: 32, every: 2}", "{size: 32, full_every: 3}"});
  if (dice.one_in(5)) text += "  activation: swiglu\n  ffn: 1024\n";
  if (!dice.one_in(3)) return text;
  text += "  moe: {experts: 8, top_k: " + dice.of(Words{"1", "2"}) + ", expert_ffn: 256";
  for (const auto* more : {", shared_experts: 1, shared_ffn: 128", ", first_dense_layers: 1",
                           ", every: 2", ", capacity_factor: 1.25", ", imbalance: 1.5"})
    if (dice.one_in(5)) text += more;
  return text + "}\n";
}

std::string cluster(Dice& dice) {
  return "cluster:\n  node: {base: " +
         dice.of(Words{"dgx-h100", "dgx-h100", "dgx-b200", "dgx-a100-80gb", "l40s-8-pcie"}) +
         ", gpus: " + dice.of(Words{"2", "4", "8"}) +
         "}\n  nodes: " + dice.of(Words{"1", "1", "2", "4"}) + "\n";
}

}  // namespace

std::uint64_t Dice::next() {
  auto z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::optional<std::string> value_of(const Form& form, Dice& dice) {
  switch (form.type) {
    case Type::text:
      return {};
    case Type::choice:
      return std::string(dice.of(form.choices));
    case Type::list:
      return list_of(form, dice);
    case Type::map:
      return map_of_form(form, dice);
    case Type::either:
      return one_alternative(form, dice);
    case Type::whole:
    case Type::number:
    case Type::yes_no:
    case Type::bytes:
    case Type::bandwidth:
    case Type::flop_rate:
    case Type::duration:
    case Type::power:
    case Type::tokens:
    case Type::money:
      break;
  }
  return one_taken(form, dice);
}

// Remarks for people are left out.
const std::vector<Section>& sections() {
  static const auto all = [] {
    std::vector<Section> made{{"plan", scenarios::plan_fields()},
                              {"training", scenarios::training_fields()},
                              {"software", scenarios::software_fields()}};
    std::erase_if(made.back().fields, [](const Field& field) {
      return field.name == "source" || field.name == "from_memory" || field.name == "note";
    });
    return made;
  }();
  return all;
}

std::optional<std::string> value_of(const Section& section, const Field& field, Dice& dice) {
  const auto hand = by_hand().find(std::string(section.name) + "." + std::string(field.name));
  if (hand != by_hand().end()) return hand->second(dice);
  return value_of(field.form, dice);
}

std::string scenario(std::uint64_t seed) {
  Dice dice(seed);
  auto text = model(dice);
  text += cluster(dice);
  for (const auto& section : sections()) {
    std::string keys;
    for (const auto& field : section.fields) {
      if (!dice.one_in(one_in(std::string(section.name) + "." + std::string(field.name)))) continue;
      if (const auto value = value_of(section, field, dice))
        keys += "  " + std::string(field.name) + ": " + *value + "\n";
    }
    if (!keys.empty()) text += std::string(section.name) + ":\n" + keys;
  }
  return text;
}

std::string over_bases(std::uint64_t seed) {
  Dice dice(seed);
  using enum scenarios::Kind;
  return "model: " + over_base(model, scenarios::model_fields(), dice) +
         "\ncluster:\n  node: " + over_base(node, scenarios::node_fields(), dice) +
         "\n  fabric: " + over_base(fabric, scenarios::fabric_fields(), dice) +
         "\n  nodes: " + dice.of(Words{"1", "2", "8"}) +
         "\ntraining: {sequence_length: 2048, global_batch: 5040}\n";
}

std::vector<std::string> keys_in(const std::string& scenario) {
  const auto document = scenarios::parse_yaml(scenario, "drawn");
  std::vector<std::string> keys;
  for (const auto& section : sections())
    if (const auto* map = document.find(section.name))
      for (const auto& member : map->members)
        keys.push_back(std::string(section.name) + "." + member.key.text);
  return keys;
}

}  // namespace drawn
