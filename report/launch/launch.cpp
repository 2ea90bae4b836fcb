// SPDX-License-Identifier: Apache-2.0
#include "report/launch/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "plans/duties.hpp"
#include "plans/holdings.hpp"
#include "plans/memory.hpp"
#include "plans/placement.hpp"
#include "report/launch/launch_parts.hpp"
#include "report/terminal.hpp"
#include "report/words.hpp"
#include "strategies/checkpoints.hpp"
#include "strategies/lowering/lower.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using strategies::Degree;
using strategies::Drop;
using strategies::Offload;
using strategies::Plan;

std::string drop_words(const Drop& drop, const std::string& layers) {
  switch (drop.kind) {
    case Drop::nothing:
      break;
    case Drop::modules:
      return names_of(drop.of, ", ") + " of " + layers;
    case Drop::per_op:
      return "all but every second product of " + layers;
    case Drop::everything:
      return layers + " whole";
  }
  return "nothing";
}

std::string stage_words(const std::vector<Drop>& drops) {
  std::string words;
  for (auto drop = drops.begin(); drop != drops.end(); ++drop) {
    if (drop->kind == Drop::nothing || std::find(drops.begin(), drop, *drop) != drop) continue;
    const auto layers = static_cast<std::size_t>(std::ranges::count(drops, *drop));
    const auto counted = layers == drops.size()
                             ? std::string("all layers")
                             : fmt::format("{} of {} layers", layers, drops.size());
    words += (words.empty() ? "" : " and ") + drop_words(*drop, counted);
  }
  return words.empty() ? "nothing" : words;
}

Launch launch_with(const forecast::Scenario& scenario, Framework framework) {
  switch (framework) {
    case Framework::megatron:
      return launch_megatron(scenario);
    case Framework::deepspeed:
      return launch_deepspeed(scenario);
    case Framework::torchtitan:
      return launch_torchtitan(scenario);
    case Framework::nanotron:
      return launch_nanotron(scenario);
  }
  throw std::invalid_argument("no such framework");
}

// Only Megatron-LM has a flag for it.
void lose_master_weights(const Plan& plan, Framework framework, LostKeys& lost) {
  if (plan.master_weights == Plan{}.master_weights || framework == Framework::megatron) return;
  const auto* name = std::ranges::find(framework_names, framework, [](const auto& each) {
                       return each.second;
                     })->first;
  lost.push_back({"master_weights",
                  fmt::format("master_weights {}: {} keeps them in fp32, or as wide as gradients",
                              units::to_text(plan.master_weights), name)});
}

}  // namespace

std::vector<std::string> sentences_of(const std::vector<Lost>& lost) {
  std::vector<std::string> sentences;
  for (const auto& one : lost) sentences.push_back(one.sentence);
  return sentences;
}

std::vector<std::string> launch_names(Framework framework) {
  switch (framework) {
    case Framework::megatron:
      return {"train.sh"};
    case Framework::deepspeed:
      return {"ds_config.json", "config.json", "train.sh"};
    case Framework::torchtitan:
      return {"job.toml"};
    case Framework::nanotron:
      return {"config.yaml"};
  }
  throw std::invalid_argument("no such framework");
}

Launch launch(const forecast::Scenario& scenario, Framework framework) {
  auto made = launch_with(scenario, framework);
  lose_master_weights(scenario.plan, framework, made.not_expressed);
  return made;
}

std::vector<std::int64_t> Stages::layers() const {
  std::vector<std::int64_t> counts;
  for (const auto& stage : drops) counts.push_back(static_cast<std::int64_t>(stage.size()));
  return counts;
}

std::size_t Stages::most_layers() const {
  std::size_t most = 0;
  for (const auto& stage : drops) most = std::max(most, stage.size());
  return most;
}

bool Stages::alike() const {
  return std::ranges::all_of(drops, [&](const auto& s) { return s.size() == drops[0].size(); });
}

bool Stages::all(const Drop& drop) const {
  return predictions.value_or(drop) == drop && std::ranges::all_of(drops, [&](const auto& stage) {
           return std::ranges::all_of(stage, [&](const Drop& one) { return one == drop; });
         });
}

bool Stages::recompute() const { return !all({}); }

Stages stages_of(const forecast::Scenario& scenario) {
  Stages stages;
  for (const auto& blocks :
       strategies::blocks_of(scenario.model, scenario.training, scenario.plan)) {
    auto& drops = stages.drops.emplace_back();
    for (const auto& block : blocks)
      if (block.kind == strategies::Block::Kind::layer)
        drops.push_back(block.drop);
      else if (block.kind == strategies::Block::Kind::prediction)
        stages.predictions = block.drop;
  }
  return stages;
}

Stages one_per_rank(const Stages& stages, std::int64_t ranks) {
  Stages merged{.predictions = stages.predictions};
  merged.drops.resize(static_cast<std::size_t>(ranks));
  const auto chunks = stages.drops.size() / merged.drops.size();
  for (std::size_t v = 0; v < stages.drops.size(); ++v) {
    auto& into = merged.drops[v / chunks];
    into.insert(into.end(), stages.drops[v].begin(), stages.drops[v].end());
  }
  return merged;
}

std::string names_of(const strategies::ModuleSet& modules, std::string_view separator) {
  std::string names;
  for (int i = 1; i < model::modules; ++i)
    if (const auto module = static_cast<model::Module>(i); modules.has(module))
      names.append(names.empty() ? "" : separator).append(word(module));
  return names;
}

void lose_rows(const strategies::Plan& plan, const char* framework, LostKeys& lost) {
  if (strategies::has_rows(plan))
    lost.push_back({"recompute.checkpoint_every",
                    fmt::format("recompute.checkpoint_every: {} keeps the input of every layer "
                                "that is recomputed, which takes more memory and no more time",
                                framework)});
}

std::string recompute_words(const Stages& stages) {
  for (const auto& drops : stages.drops)
    if (!drops.empty() && stages.all(drops[0])) return drop_words(drops[0], "all layers");
  std::string words;
  const auto count = stages.drops.size();
  for (std::size_t first = 0, next = 0; first < count; first = next) {
    const auto of_first = stage_words(stages.drops[first]);
    for (next = first + 1; next < count && stage_words(stages.drops[next]) == of_first;) ++next;
    words += fmt::format("{}{}: {}", words.empty() ? "" : "; ",
                         next == first + 1 ? fmt::format("stage {}", first)
                                           : fmt::format("stages {}-{}", first, next - 1),
                         of_first);
  }
  if (stages.predictions) words += "; prediction modules: " + stage_words({*stages.predictions});
  return words;
}

strategies::Overlaps overlaps_of(const forecast::Scenario& scenario) {
  return strategies::overlaps_of(scenario.plan, scenario.software);
}

units::Precision gradient_precision_of(const forecast::Scenario& scenario) {
  return strategies::reduced_gradient_precision(scenario.plan, scenario.training,
                                                scenario.software);
}

std::int64_t bucket_elements(const forecast::Scenario& scenario) {
  return static_cast<std::int64_t>(
      strategies::gradient_bucket(scenario.plan, scenario.training, scenario.software));
}

std::int64_t expert_replicas_of(const Plan& plan) {
  return plan.tensor * plan.context * plan.data / (plan.expert * strategies::expert_tensor(plan));
}

bool placed_as(const Plan& plan, const std::vector<Degree>& order) {
  // Experts arrange the ranks of a stage anew, so their degrees differ from those of other layers.
  const auto tensor = strategies::expert_tensor(plan);
  const auto replicas = expert_replicas_of(plan);
  using Sizes = std::vector<std::pair<Degree, std::int64_t>>;
  const Sizes of_layers{{Degree::tensor, plan.tensor},
                        {Degree::context, plan.context},
                        {Degree::data, plan.data},
                        {Degree::pipeline, plan.pipeline}};
  const Sizes of_experts{
      {Degree::tensor, tensor}, {Degree::expert, plan.expert}, {Degree::data, replicas}};
  const auto seen = [](std::vector<Degree> degrees, const Sizes& sizes) {
    std::erase_if(degrees, [&](Degree degree) {
      const auto size = std::ranges::find(sizes, degree, &Sizes::value_type::first);
      return size == sizes.end() || size->second == 1;
    });
    return degrees;
  };
  return seen(plan.rank_order, of_layers) == seen(order, of_layers) &&
         (plan.expert == 1 || seen(plan.rank_order, of_experts) == seen(order, of_experts));
}

std::int64_t emitted_sharers(const Plan& plan) { return plan.data * plan.context; }

std::int64_t shards_of(const forecast::Scenario& scenario) {
  const auto sharers = emitted_sharers(scenario.plan);
  if (scenario.plan.shard_group == strategies::ShardGroup::all) return sharers;
  auto dense = scenario.plan;
  dense.schedule = strategies::ScheduleKind::one_f_one_b;
  dense.expert = 1;
  dense.expert_tensor.reset();
  dense.zero = std::max(1, dense.zero);
  const strategies::Placement placement(dense);
  const auto on_node = strategies::shards_of(dense, placement, scenario.cluster).with_layer;
  return std::gcd(sharers, on_node);
}

Machines machines_of(const topology::Cluster& cluster) {
  const auto per_node = std::min<std::int64_t>(cluster.node.gpus, cluster.gpus);
  return {cluster.nodes(), per_node, cluster.gpus - (cluster.nodes() - 1) * per_node};
}

std::string headline(const forecast::Scenario& scenario) {
  const auto& name = scenario.name.empty() ? scenario.model.name : scenario.name;
  return fmt::format("{}, {} GPU{}", printable(name, true), scenario.cluster.gpus,
                     scenario.cluster.gpus == 1 ? "" : "s");
}

std::vector<Offloading> offloads(const Offload& offload) {
  using enum Offload::Tier;
  std::vector<Offloading> keys;
  const auto add = [&](const char* key, Offload::Tier tier) {
    if (tier != none) keys.push_back({key, fmt::format("{} {}", key, word(tier))});
  };
  add("offload.optimizer", offload.optimizer);
  add("offload.gradients", offload.gradients ? cpu : none);
  add("offload.parameters", offload.parameters);
  if (!offload.activations) return keys;
  std::string of;
  for (const auto module : offload.activation_modules)
    of.append(of.empty() ? " of " : " and ").append(word(module));
  if (offload.activation_layers)
    of += fmt::format(" in {} layers of each rank", *offload.activation_layers);
  keys.push_back({"offload.activations", "offload.activations cpu" + of});
  return keys;
}

void lose_rank_order(const Plan& plan, std::string_view framework, LostKeys& lost) {
  if (!placed_as(plan))
    lost.push_back(
        {"rank_order",
         fmt::format("rank_order {}: {} places ranks as tp-cp-ep-dp-pp, which is written instead",
                     word(plan.rank_order), framework)});
}

std::string wrap_words(const strategies::Wrap& wrap) {
  return wrap.layers == 0 ? "wrap model" : fmt::format("wrap {{layers: {}}}", wrap.layers);
}

void lose_gathering(const Plan& plan, std::string_view framework, LostKeys& lost) {
  if (plan.zero < 3) return;
  if (!plan.reshard_after_forward)
    lost.push_back(
        {"reshard_after_forward",
         fmt::format("reshard_after_forward false: {} keeps parameters whole here, at all times",
                     framework)});
  if (plan.wrap.layers != 1)
    lost.push_back({"wrap", fmt::format("{}: {} keeps parameters whole here, and gathers none",
                                        wrap_words(plan.wrap), framework)});
}

void lose_gradient_sync(const forecast::Scenario& s, bool once, std::string_view framework,
                        LostKeys& lost) {
  const auto& plan = s.plan;
  if (plan.zero < 2 || strategies::microbatches_of(plan, s.training) == 1) return;
  if (strategies::sums_whole_gradients(plan, s.training, s.software) == once) return;
  lost.push_back(
      {"gradient_sync",
       fmt::format(
           "gradient_sync {}: {} reduces gradients {}",
           word(once ? strategies::GradientSync::microbatch : strategies::GradientSync::step),
           framework, once ? "of a pipeline once a step" : "after every microbatch")});
}

void lose_gradient_compression(const Plan& plan, std::string_view framework, LostKeys& lost) {
  if (plan.gradient_compression != strategies::GradientCompression::none)
    lost.push_back({"gradient_compression",
                    fmt::format("gradient_compression {}: {} reduces gradients uncompressed",
                                word(plan.gradient_compression), framework)});
}

void lose_groups(const strategies::Routing& routing, std::string_view framework, LostKeys& lost) {
  if (routing.locality == strategies::Locality::group_limited)
    lost.push_back({"training.routing",
                    fmt::format("training.routing group_limited: {} leaves the router to the model",
                                framework)});
}

void lose_narrow_weights(const forecast::Scenario& scenario, std::string_view framework,
                         LostKeys& lost) {
  using enum units::Precision;
  const auto precision = scenario.training.precision;
  if (scenario.software.narrow_weights && (precision == fp8 || precision == mxfp8))
    lost.push_back(
        {"software.narrow_weights",
         fmt::format(
             "software.narrow_weights: {} keeps 16-bit weights beside those that products read",
             framework)});
}

void lose_key_heads(const forecast::Scenario& scenario, std::string_view framework,
                    LostKeys& lost) {
  const auto& m = scenario.model;
  const auto tensor = scenario.plan.tensor;
  if (m.latent || m.kv_heads % tensor == 0) return;
  lost.push_back(
      {"tensor",
       fmt::format("tensor {}: {} divides key heads whole, and does not run with {} of {}", tensor,
                   framework, m.kv_heads, m.heads),
       Lost::Effect::never_starts});
}

void lose_common(const forecast::Scenario& scenario, std::string_view framework, LostKeys& lost) {
  const auto& plan = scenario.plan;
  if (scenario.software.kernels.loss_chunks != 1)
    lost.push_back(
        {"software.loss_chunks",
         fmt::format(
             "software.loss_chunks: {} is written without; the logits of all tokens are in memory",
             framework)});
  if (plan.layer_tensor)
    lost.push_back(
        {"layers", fmt::format("layers with tensor {}: {} divides all layers alike, by tensor {}",
                               *plan.layer_tensor, framework, plan.tensor)});
  if (plan.activation_compression != strategies::ActivationCompression::none)
    lost.push_back(
        {"activation_compression",
         fmt::format("activation_compression {}: {} keeps activations as they are computed",
                     word(plan.activation_compression), framework)});
  if (scenario.training.padding > 0)
    lost.push_back(
        {"training.padding", fmt::format("training.padding {}: what {} is fed decides it",
                                         scenario.training.padding, framework)});
  const auto& routing = scenario.training.routing;
  if (routing.skew != strategies::Skew::balanced)
    lost.push_back({"training.routing",
                    fmt::format("training.routing skew {}: what {} is fed and its router decide it",
                                word(routing.skew), framework)});
  if (routing.locality == strategies::Locality::neighbours)
    lost.push_back({"training.routing",
                    fmt::format("training.routing neighbours: a gate of benchmarks, which {} lacks",
                                framework)});
  const auto machines = machines_of(scenario.cluster);
  if (machines.on_last != machines.per_node)
    lost.push_back({"cluster.gpus",
                    fmt::format("{} GPUs: start {} processes on the last node, {} on the others",
                                scenario.cluster.gpus, machines.on_last, machines.per_node)});
}

}  // namespace report
