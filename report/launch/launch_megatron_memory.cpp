// SPDX-License-Identifier: Apache-2.0
// Recomputation and offloading in Megatron-LM's words.
#include <algorithm>
#include <span>

#include "report/launch/launch_megatron.hpp"
#include "report/words.hpp"

namespace report::megatron {
namespace {

using model::Module;
using strategies::Drop;
using strategies::ModuleSet;
using Tier = strategies::Offload::Tier;

// The recomputation that Megatron-LM does alike on every stage: of modules in all layers, or of the
// first `layers` layers as a whole.
struct Choice {
  ModuleSet modules;
  std::size_t layers = 0;
  bool every = false;    // all layers of every stage
  std::int64_t row = 1;  // consecutive layers of which only the first one's input is kept
  bool exact = true;     // it is what the plan recomputes

  std::string words() const {
    if (layers == 0) return names_of(modules, ", ") + " of all layers";
    if (every) return "all layers whole";
    return fmt::format("the first {} layer{} of every stage whole", layers, layers == 1 ? "" : "s");
  }
};

// Returns the choice nearest to the plan's. Megatron-LM recomputes layers by modules, or whole, or
// not: never some by modules and some whole. Prediction modules are recomputed with all layers, but
// not with a number of them (core/transformer/multi_token_prediction.py).
Choice choice_for(const Stages& stages) {
  Choice choice;
  bool whole = false;
  const auto look_at = [&](const Drop& drop) {
    whole |= drop.kind == Drop::everything || drop.kind == Drop::per_op;
    if (drop.kind == Drop::modules)
      choice.modules.bits = static_cast<std::uint8_t>(choice.modules.bits | drop.of.bits);
  };
  for (const auto& drops : stages.drops) std::ranges::for_each(drops, look_at);
  look_at(stages.predictions.value_or(Drop{}));
  if (!whole) {
    choice.exact = stages.all({Drop::modules, choice.modules});
    return choice;
  }
  const auto dropped = [](const Drop& drop) { return drop.kind != Drop::nothing; };
  const bool predictions = dropped(stages.predictions.value_or(Drop{}));
  for (const auto& drops : stages.drops)
    choice.layers =
        std::max(choice.layers, static_cast<std::size_t>(std::ranges::count_if(drops, dropped)));
  choice.every = predictions || (choice.layers == stages.most_layers() && !stages.predictions);
  if (choice.every) choice.layers = stages.most_layers();
  choice.exact = !predictions || stages.predictions->kind == Drop::everything;
  for (const auto& drops : stages.drops)
    for (std::size_t i = 0; i < drops.size(); ++i)
      choice.exact &= drops[i] == Drop{i < choice.layers ? Drop::everything : Drop::nothing};
  return choice;
}

// Returns the names of a module in Megatron-LM's fine-grained offloading.
std::vector<std::string_view> offload_names(Module module) {
  switch (module) {
    case Module::core_attn:
      return {"core_attn"};
    case Module::layernorm:
      return {"attn_norm", "mlp_norm"};
    case Module::moe_act:
      return {"moe_act"};
    default:
      return {};
  }
}

void write_offloaded_modules(const strategies::Offload& offload, Flags& flags, LostKeys& lost) {
  std::vector<std::string_view> known;
  for (const auto module : offload.activation_modules) {
    const auto names = offload_names(module);
    known.insert(known.end(), names.begin(), names.end());
    if (names.empty())
      lost.push_back(
          {"offload.activations",
           fmt::format("{}: Megatron-LM does not offload {}, whose activations stay on the device",
                       offloads(offload).back().words, word(module))});
  }
  if (known.empty()) return;
  flags.add("--fine-grained-activation-offloading").add("--offload-modules", known.front());
  for (const auto name : std::span(known).subspan(1)) flags.word(name);
  if (offload.activation_layers)
    lost.push_back({"offload.activations",
                    offloads(offload).back().words +
                        ": Megatron-LM offloads modules of all layers, which is written instead"});
}

void write_offloaded_layers(const forecast::Scenario& s, bool recomputes, Flags& flags,
                            LostKeys& lost) {
  const auto most = s.model.layers - 1;  // the last is needed at once
  const char* why = s.plan.pipeline > 1 ? "in a pipeline" : "beside recomputation";
  if (s.plan.pipeline > 1 || recomputes) {
    lost.push_back({"offload.activations",
                    fmt::format("{}: Megatron-LM cannot offload layers {}; they stay on the device",
                                offloads(s.plan.offload).back().words, why)});
    return;
  }
  const auto layers = s.plan.offload.activation_layers.value_or(s.model.layers);
  if (layers > most)
    lost.push_back(
        {"offload.activations",
         fmt::format("{}: Megatron-LM offloads at most {} of {} layers, which is written instead",
                     offloads(s.plan.offload).back().words, most, s.model.layers)});
  if (std::min(layers, most) > 0) flags.add("--cpu-offloading-num-layers", std::min(layers, most));
}

void write_offloaded_states(const forecast::Scenario& s, Flags& flags, LostKeys& lost) {
  if (s.plan.offload.optimizer == Tier::none) return;
  if (offloads_states(s))
    flags.add("--optimizer-cpu-offload").add("--use-precision-aware-optimizer");
  else
    lost.push_back({"offload.optimizer",
                    fmt::format("offload.optimizer {}: Megatron-LM offloads the states of Adam "
                                "only; those of {} stay on the device",
                                word(s.plan.offload.optimizer), word(s.training.optimizer))});
  if (offloads_states(s) && s.plan.offload.optimizer == Tier::nvme)
    lost.push_back(
        {"offload.optimizer",
         "offload.optimizer nvme: Megatron-LM offloads to host memory, which is written instead"});
}

// Whether Megatron-LM refuses the modules: with delayed scaling in 8 bit it recomputes neither
// norms nor the experts' activation by themselves (from memory: transformer_config.py).
bool are_refused(const ModuleSet& modules, const strategies::Training& training) {
  return training.precision == units::Precision::fp8 &&
         training.fp8_recipe == model::Scaling::delayed &&
         (modules.has(Module::layernorm) || modules.has(Module::moe_act));
}

}  // namespace

bool write_recompute(const Stages& stages, const forecast::Scenario& s, Flags& flags,
                     LostKeys& lost) {
  if (!stages.recompute()) return false;
  auto choice = choice_for(stages);
  if (choice.layers == 0 && are_refused(choice.modules, s.training)) {
    choice = {.layers = stages.most_layers(), .every = true};
    lost.push_back({"recompute",
                    "recompute: with fp8_recipe delayed Megatron-LM recomputes neither layernorm "
                    "nor moe_act by itself; all layers whole is written instead"});
  }
  // Uniform: rows begin anew in every virtual stage.
  const auto& plan = s.plan;
  const bool alike = plan.recompute_of_stage.empty() && plan.layers.empty();
  if (alike && choice.every && plan.recompute.every.size() == 1)
    choice.row = plan.recompute.every.front();
  if (choice.layers == 0) {
    flags.add("--recompute-granularity", "selective").add("--recompute-modules");
    for (int i = 1; i < model::modules; ++i)
      if (const auto module = static_cast<Module>(i); choice.modules.has(module))
        flags.word(word(module));
  } else {
    flags.add("--recompute-granularity", "full")
        .add("--recompute-method", choice.every ? "uniform" : "block")
        .add("--recompute-num-layers",
             choice.every ? choice.row : static_cast<std::int64_t>(choice.layers));
  }
  if (choice.row == 1) lose_rows(s.plan, "Megatron-LM", lost);
  if (!choice.exact)
    lost.push_back(
        {"recompute",
         fmt::format(
             "recompute: the plan recomputes {}; Megatron-LM has one choice for all {}stages, and "
             "{} is written instead, no less anywhere",
             recompute_words(stages_of(s)),
             static_cast<std::int64_t>(stages.drops.size()) > s.plan.pipeline ? "virtual " : "",
             choice.words())});
  return choice.layers > 0;
}

void write_offload(const forecast::Scenario& s, bool recomputes, Flags& flags, LostKeys& lost) {
  const auto& offload = s.plan.offload;
  write_offloaded_states(s, flags, lost);
  if (offload.gradients)
    lost.push_back({"offload.gradients",
                    "offload.gradients cpu: Megatron-LM keeps gradients on the device until the "
                    "optimizer's step"});
  if (offload.parameters != Tier::none)
    lost.push_back({"offload.parameters",
                    fmt::format("offload.parameters {}: Megatron-LM keeps parameters on the device",
                                word(offload.parameters))});
  if (!offload.activations) return;
  if (offload.activation_modules.empty())
    write_offloaded_layers(s, recomputes, flags, lost);
  else
    write_offloaded_modules(offload, flags, lost);
}

}  // namespace report::megatron
