// SPDX-License-Identifier: Apache-2.0
// Checks on tensors that are dropped, sharded, compressed or kept outside the device.
#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "plans/admissible.hpp"
#include "plans/partition.hpp"
#include "plans/schedules/schedule_layout.hpp"
#include "plans/words.hpp"
#include "scenarios/checks/checker.hpp"
#include "strategies/checkpoints.hpp"

namespace scenarios {
namespace {

using forecast::Scenario;
using strategies::Module;
using strategies::Recompute;

// Returns the reason why the model has no such module; empty if it has one.
std::string lacks(const model::Transformer& model, Module module) {
  switch (module) {
    case Module::moe:
    case Module::moe_act:
      return model.moe ? "" : "the model is dense";
    case Module::shared_experts:
      return model.moe && model.moe->shared_experts > 0 ? "" : "the model shares no expert";
    case Module::mla_up_proj:
      return model.latent ? "" : "the model's attention is not latent";
    case Module::other:
    case Module::core_attn:
    case Module::layernorm:
    case Module::mlp:
      break;
  }
  return "";
}

}  // namespace

void check_modules(const std::string& section, const std::string& key,
                   const std::vector<Module>& chosen, const Scenario& s, const Checker& checker) {
  if (!checker.knows({"model.moe", "model.attention"})) return;
  for (const auto& [name, module] : words_of(Module{}))
    if (std::ranges::find(chosen, module) != chosen.end())
      if (const auto why = lacks(s.model, module); !why.empty())
        checker.complain(section, key, std::string(name) + ": " + why + "; leave it out");
}

namespace {

// Returns the number of layers of each virtual stage, in model order; empty if the keys that decide
// it are wrong.
std::vector<std::int64_t> layers_of_stages(const Scenario& s, const Checker& checker) {
  const auto& plan = s.plan;
  if (!checker.knows({"plan.pipeline", "plan.virtual_stages", "plan.schedule",
                      "plan.layers_per_stage", "model.layers"}))
    return {};
  const auto chunks = plan.pipeline * plan.virtual_stages;
  const auto& given = plan.layers_per_stage;
  const bool fits = given.empty() ? s.model.layers >= chunks
                                  : std::ssize(given) == chunks &&
                                        std::accumulate(given.begin(), given.end(),
                                                        std::int64_t{0}) == s.model.layers;
  if (!fits) return {};
  return strategies::layers_per_virtual_stage(plan, s.model.layers);
}

// Checks that `full_layers` of a virtual stage is no more than that stage has layers.
void check_full_layers_of_stages(const Scenario& s, const Checker& checker) {
  const auto layers = layers_of_stages(s, checker);
  const auto& choices = s.plan.recompute_of_stage;
  if (layers.size() != choices.size()) return;
  for (std::size_t v = 0; v < layers.size(); ++v)
    if (choices[v].kind == Recompute::Kind::full_layers && choices[v].layers > layers[v])
      checker.complain("plan", "recompute",
                       "full_layers " + digits(choices[v].layers) + " of virtual stage " +
                           digits(static_cast<std::int64_t>(v)) + ", which has " +
                           digits(layers[v]) + " layers");
}

void check_rows(const Scenario& s, const Checker& checker) {
  if (!checker.knows({"plan.offload"}) || !s.plan.offload.activations) return;
  if (strategies::has_rows(s.plan))
    checker.complain("plan", "recompute",
                     "checkpoint_every keeps few inputs on the device, offload.activations copies "
                     "them all to the host; leave one of them out");
}

void check_recompute(const Scenario& s, const Checker& checker) {
  const auto& plan = s.plan;
  if (!checker.knows({"plan.recompute", "model.layers"})) return;
  const auto given = static_cast<std::int64_t>(plan.recompute_of_stage.size());
  if (given > 0 && checker.knows({"plan.pipeline", "plan.virtual_stages", "plan.schedule"}) &&
      given != plan.pipeline * plan.virtual_stages)
    checker.complain("plan", "recompute",
                     digits(given) + " entries; expected one per virtual stage: pipeline " +
                         digits(plan.pipeline) + " x virtual_stages " +
                         digits(plan.virtual_stages) + " = " +
                         digits(plan.pipeline * plan.virtual_stages));
  const auto all = given > 0 ? std::span(plan.recompute_of_stage) : std::span(&plan.recompute, 1);
  for (const auto& one : all) {
    check_modules("plan", "recompute", one.modules, s, checker);
    if (given == 0 && one.kind == Recompute::Kind::full_layers && one.layers > s.model.layers)
      checker.complain("plan", "recompute",
                       "full_layers " + digits(one.layers) + " is more than the " +
                           digits(s.model.layers) + " layers of the model");
  }
  check_full_layers_of_stages(s, checker);
  check_rows(s, checker);
}

// Checks the number of offloaded layers, which is per pipeline rank, over its virtual stages, of
// which DualPipe's ranks have two.
void check_offloaded_layers(const Scenario& s, const Checker& checker) {
  const auto asked = s.plan.offload.activation_layers;
  if (!asked || !checker.knows({"model.layers"})) return;
  if (*asked > s.model.layers)
    return checker.complain("plan", "offload",
                            "activations of " + digits(*asked) + " layers, but the model has " +
                                digits(s.model.layers));
  const auto layers = layers_of_stages(s, checker);
  std::vector<std::int64_t> held(static_cast<std::size_t>(s.plan.pipeline), 0);
  const auto layout = strategies::layout_of(s.plan);
  const bool mirrored = layout.kind == strategies::Layout::Kind::mirrored;
  for (std::size_t v = 0; v < layers.size(); ++v) {
    const auto stage = strategies::place_of(static_cast<int>(v), layout).stage;
    held[static_cast<std::size_t>(stage)] += layers[v];
    if (mirrored) held[static_cast<std::size_t>(layout.stages - 1 - stage)] += layers[v];
  }
  const auto most = *std::ranges::max_element(held);
  if (most > 0 && *asked > most)
    checker.complain("plan", "offload",
                     "activations of " + digits(*asked) +
                         " layers of each pipeline rank, but none has "
                         "more than " +
                         digits(most));
}

// Checks that every node has the memory and storage that an offloading plan needs.
void check_room(const topology::Node& node, const strategies::Offload& offload,
                const Checker& checker) {
  using enum strategies::Offload::Tier;
  const auto needs = [&](bool there, const std::string& what, const std::string& key) {
    if (!there)
      checker.complain("plan", "offload",
                       "node '" + node.name + "' has no " + what + "; give cluster.node." + key +
                           ", or keep everything on the device");
  };
  const bool storage = offload.optimizer == nvme || offload.parameters == nvme;
  if (storage || offload.optimizer == cpu || offload.parameters == cpu || offload.gradients ||
      offload.activations) {
    needs(node.host.memory.value > 0 && node.host.memory_bandwidth.value > 0, "host memory",
          "host: {memory, memory_bandwidth}");
    needs(node.pcie.bandwidth.value > 0, "way to its host", "pcie: {bandwidth}");
  }
  if (storage)
    needs(node.nvme.capacity.value > 0 && node.nvme.read.value > 0 && node.nvme.write.value > 0,
          "NVMe storage", "nvme: {capacity, read, write}");
}

void check_offload(const Scenario& s, const Checker& checker) {
  const auto& offload = s.plan.offload;
  if (!checker.knows({"plan.offload"})) return;
  check_modules("plan", "offload", offload.activation_modules, s, checker);
  check_offloaded_layers(s, checker);
  if (!checker.knows({"cluster.node"})) return;
  for (std::size_t kind = 0; kind < s.cluster.kinds(); ++kind)
    check_room(s.cluster.kind(kind), offload, checker);
}

}  // namespace

void check_ways(const std::vector<Recompute>& ways, const Scenario& s, const Checker& checker) {
  for (const auto& way : ways) check_modules("search", "recompute", way.modules, s, checker);
}

void check_memory(const Scenario& scenario, const Checker& checker) {
  check_recompute(scenario, checker);
  check_offload(scenario, checker);
  checker.check(strategies::on_states(), scenario);
}

}  // namespace scenarios
