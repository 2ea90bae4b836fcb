// SPDX-License-Identifier: Apache-2.0
// The keys of offloading: tensors that live outside the device.
#include "plans/words.hpp"
#include "scenarios/plan_keys.hpp"

namespace scenarios {
namespace {

using strategies::Offload;
using strategies::Plan;
using Tier = Offload::Tier;

const std::vector<Named<Tier>>& tiers() {
  static const auto named = words_for({Tier::cpu, Tier::nvme});
  return named;
}

Form host() { return {.type = Type::choice, .choices = {"cpu"}}; }

Form activations_form() {
  return {.type = Type::either,
          .forms = {host(), map_of({{"to", "Where to", "", host()},
                                    {"layers",
                                     "Layers of each pipeline rank whose activations are offloaded",
                                     "all",
                                     {.type = Type::whole, .range = {1, 10'000, "layers"}}},
                                    {"modules", "Modules whose activations are offloaded", "all",
                                     words_form(all_words<strategies::Module>())}})}};
}

Form parts_form() {
  const Form anywhere{.type = Type::choice, .choices = names_of(tiers())};
  return map_of({{"optimizer", "Optimizer states, and where they are updated", "device", anywhere},
                 {"gradients", "Gradients", "device", host()},
                 {"parameters", "Parameters", "device", anywhere},
                 {"activations", "Kept activations", "device", activations_form()}});
}

Form offload_form() {
  return {.type = Type::either,
          .forms = {{.type = Type::choice, .choices = {"none"}}, parts_form()}};
}

void read_activations(Offload& offload, const Cursor& at) {
  offload.activations = true;
  if (at.value().kind == Value::Kind::scalar) return;
  const auto layers = at.find("layers"), chosen = at.find("modules");
  if (!at.find("to")) at.missing("to", "write to: cpu");
  if (layers && chosen)
    at.complain(
        "layers and modules exclude each other; write {to: cpu, layers: N} or {to: cpu, "
        "modules: [module, ...]}");
  if (layers) offload.activation_layers = to_whole(layers->value());
  if (chosen) offload.activation_modules = values_named(all_words<strategies::Module>(), *chosen);
}

void read_offload(Plan& plan, const Cursor& at) {
  if (!check(offload_form(), at)) return;
  auto& offload = plan.offload;
  if (const auto states = at.find("optimizer"))
    offload.optimizer = meaning(tiers(), states->value());
  if (const auto weights = at.find("parameters"))
    offload.parameters = meaning(tiers(), weights->value());
  offload.gradients = at.find("gradients").has_value();
  if (const auto kept = at.find("activations")) read_activations(offload, *kept);
}

Value show_activations(const Offload& offload) {
  if (!offload.activation_layers && offload.activation_modules.empty()) return shown_text("cpu");
  Value map;
  show_key(map, "to", shown_text("cpu"));
  if (offload.activation_layers) show_key(map, "layers", shown_whole(*offload.activation_layers));
  if (!offload.activation_modules.empty())
    show_key(map, "modules", shown_words(offload.activation_modules));
  return map;
}

std::optional<Value> show_offload(const Plan& plan) {
  const auto& offload = plan.offload;
  if (offload == Offload{}) return shown_text("none");
  Value map;
  if (offload.optimizer != Tier::none)
    show_key(map, "optimizer", shown_text(units::word(offload.optimizer)));
  if (offload.gradients) show_key(map, "gradients", shown_text("cpu"));
  if (offload.parameters != Tier::none)
    show_key(map, "parameters", shown_text(units::word(offload.parameters)));
  if (offload.activations) show_key(map, "activations", show_activations(offload));
  return map;
}

}  // namespace

Key<Plan> offload_key() {
  return {{"offload", "What is kept in host memory or storage", "none", offload_form()},
          read_offload,
          show_offload};
}

}  // namespace scenarios
