// SPDX-License-Identifier: Apache-2.0
// Scenarios for laws: small models, every kind of plan, and clusters whose nodes are not always
// full.
#pragma once
#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "forecast/scenario.hpp"
#include "model/narrow.hpp"
#include "plans/shard_groups.hpp"

namespace tests {

inline std::int64_t gpus_of(const strategies::Plan& plan) {
  return plan.tensor * plan.context * plan.pipeline * plan.data;
}

inline topology::Cluster cluster_of(std::int64_t gpus, int per_node, int nics) {
  using namespace units::literals;
  topology::Device device{.name = "device",
                          .memory = 80.0_GiB,
                          .usable_memory = 79.0_GiB,
                          .memory_bandwidth = 2000.0_GBps,
                          .sms = 108};
  device.peak.fill(312.0_TFLOPps);
  topology::Cluster cluster;
  cluster.node = {.name = "node", .gpus = per_node, .device = device};
  cluster.node.nvlink.bandwidth = 300.0_GBps;
  cluster.node.nics = {.count = nics, .bandwidth = 25.0_GBps};
  cluster.node.host = {.memory = 1000.0_GB, .memory_bandwidth = 400.0_GBps};
  cluster.node.nvme = {.capacity = 10000.0_GB, .read = 20.0_GBps, .write = 10.0_GBps};
  cluster.fabric.link_bandwidth = 25.0_GBps;
  cluster.gpus = gpus;
  return cluster;
}

// Draws which kept activations are dropped, copied to the host or compressed.
template <class Pick>
void draw_activations(strategies::Plan& plan, const Pick& pick) {
  using strategies::Module;
  using strategies::Recompute;
  const auto draw = [&] {
    using enum Recompute::Kind;
    Recompute recompute{pick(none, selective, full, full_layers, per_op, modules), pick(1, 2)};
    if (recompute.kind == modules) recompute.modules = {pick(Module::layernorm, Module::mlp)};
    return recompute;
  };
  plan.recompute = draw();
  if (pick(0, 0, 1) == 1)
    for (std::int64_t v = 0; v < plan.pipeline * plan.virtual_stages; ++v)
      plan.recompute_of_stage.push_back(draw());
  plan.offload.activations = pick(false, false, true);
  if (pick(false, true)) plan.offload.activation_layers = pick(1, 2);
  if (pick(false, true))
    plan.offload.activation_modules = {pick(Module::core_attn, Module::layernorm, Module::mlp)};
  if (!plan.offload.activations && pick(false, true)) {
    const auto row = [](Recompute& one, auto every) {
      if (one.kind == Recompute::Kind::full || one.kind == Recompute::Kind::full_layers)
        one.every = std::move(every);
    };
    const auto every = pick(std::vector<std::int64_t>{2}, std::vector<std::int64_t>{3},
                            std::vector<std::int64_t>{4, 2});
    row(plan.recompute, every);
    for (auto& one : plan.recompute_of_stage) row(one, every);
  }
  using strategies::ActivationCompression;
  plan.activation_compression = pick(ActivationCompression::none, ActivationCompression::none,
                                     ActivationCompression::fp8, ActivationCompression::int8);
}

// Now and then divides states over some ranks that share parameters, as far as nodes allow it.
template <class Pick>
void draw_shard_group(forecast::Scenario& s, const Pick& pick) {
  auto& plan = s.plan;
  if (!strategies::shards_alike(plan, s.cluster) ||
      !strategies::groups_hold_all_parts(plan, s.cluster))
    plan.shard_group = strategies::ShardGroup::all;
  const auto sharers = strategies::dense_sharers(plan);
  const auto ranks = pick(std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4},
                          plan.context, plan.data, sharers);
  if (pick(false, true) || sharers % ranks != 0 ||
      !strategies::groups_fill_nodes(plan, ranks, s.cluster))
    return;
  plan.shard_group = strategies::ShardGroup::of(ranks);
  if (!strategies::groups_hold_all_parts(plan, s.cluster))
    plan.shard_group = strategies::ShardGroup::all;
}

// Lets some linear layers stay in 16 bit, where the others do not.
template <class Pick>
void draw_in_bf16(forecast::Scenario& s, const Pick& pick) {
  if (!model::is_narrow(s.training.precision)) return;
  using enum model::LinearPart;
  using enum model::LinearGradient;
  auto& in_bf16 = s.training.in_bf16;
  in_bf16.first_layers = std::min<std::int64_t>(pick(0, 0, 1, 2), s.model.layers);
  const auto others = s.model.layers - in_bf16.first_layers;
  in_bf16.last_layers = std::min<std::int64_t>(pick(0, 0, 1, 64), others);
  if (pick(false, true)) in_bf16.parts = {pick(attention, mlp, experts, shared_experts)};
  if (pick(false, true)) in_bf16.gradients = {pick(inputs, weights)};
}

// Draws layers in smaller tensor-parallel groups, where the model and the nodes allow it.
template <class Pick>
void draw_regrouping(forecast::Scenario& s, const Pick& pick) {
  auto& plan = s.plan;
  const bool inside = plan.rank_order.front() == strategies::Degree::tensor &&
                      s.cluster.node.gpus % plan.tensor == 0;
  if (s.model.moe || plan.tensor == 1 || !inside || pick(false, true)) return;
  const auto groups = std::min<std::int64_t>(plan.tensor, pick(2, 2, 4));
  plan.layer_tensor = plan.tensor / groups;
  plan.micro_batch *= groups;
  s.training.global_batch *= groups;
  const std::int64_t last = s.model.layers - 1;
  const auto from = pick(std::int64_t{0}, std::int64_t{1}, last);
  plan.layers.push_back({from, pick(from, last), {}, plan.layer_tensor});
  if (pick(false, true)) plan.layers.back().recompute = strategies::Recompute{};
  if (const auto next = plan.layers.back().to + 2; next <= last)
    plan.layers.push_back({next, last, {}, plan.layer_tensor});
}

inline forecast::Scenario random_scenario(std::mt19937& random) {
  const auto pick = [&](auto... choices) {
    const auto list = {choices...};
    return *(list.begin() + std::uniform_int_distribution<std::ptrdiff_t>(
                                0, static_cast<std::ptrdiff_t>(sizeof...(choices)) - 1)(random));
  };
  forecast::Scenario s;
  s.name = "random";
  const bool llama = pick(false, true);
  s.model = {.name = "small",
             .layers = pick(4, 5, 8, 12),
             .hidden = pick(256, 1024),
             .heads = 8,
             .kv_heads = 8,
             .head_dim = 64,
             .ffn = 1024,
             .vocab = pick(1000, 50257),
             .max_sequence = 512};
  if (llama) {
    s.model.activation = model::Activation::swiglu;
    s.model.norm = model::Norm::rmsnorm;
    s.model.position = model::Position::rope;
    s.model.kv_heads = pick(2, 8);
    s.model.tied_embeddings = s.model.biases = s.model.qkv_biases = false;
    s.model.dropout = 0;
  }
  auto& plan = s.plan;
  plan.tensor = pick(1, 2, 4, 8);
  plan.pipeline = pick(1, 2, 3, 4);
  plan.data = pick(1, 2, 3, 4);
  plan.context = pick(1, 1, 2, 4);
  using strategies::ContextMethod;
  plan.context_method =
      pick(ContextMethod::ring, ContextMethod::ulysses, ContextMethod::all_gather);
  if (plan.context_method == ContextMethod::ulysses && plan.context * plan.tensor > s.model.heads)
    plan.context = 1;
  plan.micro_batch = pick(1, 2);
  plan.sequence_parallel = pick(false, true);
  plan.schedule = pick(strategies::ScheduleKind::gpipe, strategies::ScheduleKind::one_f_one_b,
                       strategies::ScheduleKind::interleaved);
  if (plan.schedule == strategies::ScheduleKind::interleaved && s.model.layers >= 2 * plan.pipeline)
    plan.virtual_stages = pick(1, 2);
  if (plan.pipeline * plan.virtual_stages > s.model.layers) plan.virtual_stages = 1;
  using strategies::ScheduleKind;
  if (pick(0, 0, 1) == 1) {
    plan.schedule = pick(ScheduleKind::zb_h1, ScheduleKind::zb_h2);
    plan.virtual_stages = 1;
    if (s.model.layers >= 2 * plan.pipeline && pick(false, true)) {
      plan.schedule = pick(ScheduleKind::zb_v, ScheduleKind::v_half, ScheduleKind::v_min);
      plan.virtual_stages = 2;
    }
  }
  plan.zero = pick(0, 0, 1, 2, 3);
  plan.reshard_after_forward = pick(false, true);
  plan.shard_group = pick(strategies::ShardGroup::all, strategies::ShardGroup::node);
  draw_activations(plan, pick);
  if (pick(false, true)) plan.overlap.data = pick(false, true);
  if (pick(false, true)) plan.overlap.pipeline = pick(false, true);
  if (pick(false, true)) plan.overlap.tensor = pick(false, true);
  if (pick(false, true)) plan.overlap.parameters = pick(false, true);
  plan.bucket = units::Bytes{pick(1e6, 1e8)};
  using strategies::Degree;
  if (pick(0, 0, 1) == 1)
    plan.rank_order = {Degree::tensor, Degree::pipeline, Degree::context, Degree::expert,
                       Degree::data};
  if (pick(0, 0, 0, 1) == 1)
    plan.rank_order = {Degree::data, Degree::tensor, Degree::context, Degree::expert,
                       Degree::pipeline};

  s.training.sequence_length = pick(128, 512);
  s.training.global_batch = plan.data * plan.micro_batch * pick(1, 2, 4, 7);
  s.software.name = "software";
  s.software.kernels.attention =
      pick(model::AttentionKernel::unfused, model::AttentionKernel::flash);
  s.software.pipeline_sync = pick(false, true);
  s.software.scatter_gather = pick(false, true);
  s.software.keep_sent_outputs = pick(false, true);
  s.software.interference = pick(0.0, 0.2);
  s.software.compile = pick(false, false, true);
  using units::Precision;
  s.training.precision = pick(Precision::bf16, Precision::bf16, Precision::bf16, Precision::fp8,
                              Precision::mxfp8, Precision::nvfp4);
  if (pick(0, 0, 1) == 1) {
    s.model.moe = model::Moe{.experts = 24,
                             .top_k = pick(1, 2, 4),
                             .expert_ffn = 256,
                             .shared_experts = pick(0, 1),
                             .shared_ffn = 128,
                             .first_dense_layers = pick(0, 1),
                             .every = pick(1, 2),
                             .imbalance = pick(1.0, 1.5)};
    if (pick(false, true)) s.model.moe->capacity_factor = 1.25;
    plan.sequence_parallel = true;
    using strategies::MoeDispatcher;
    s.software.moe_dispatcher = pick(MoeDispatcher::all_to_all, MoeDispatcher::all_gather,
                                     MoeDispatcher::deepep, MoeDispatcher::hybridep);
    using model::ExpertProducts;
    s.software.kernels.expert_products =
        pick(ExpertProducts::grouped, ExpertProducts::one_by_one, ExpertProducts::fused);
    // Experts lie on ranks arranged anew, as far as the degrees allow it.
    const auto ranks = plan.tensor * plan.context * plan.data;
    plan.expert_tensor = pick(1, 2, static_cast<int>(plan.tensor));
    if (ranks % *plan.expert_tensor != 0) plan.expert_tensor = 1;
    plan.expert = pick(1, 2, 3, 4, 6, 8, 12, 24);
    while (ranks % (plan.expert * *plan.expert_tensor) != 0 || 24 % plan.expert != 0) --plan.expert;
    if (pick(0, 0, 1) == 1)
      std::swap(*std::ranges::find(plan.rank_order, Degree::expert),
                *std::ranges::find(plan.rank_order, Degree::data));
  }
  if (llama && pick(0, 0, 1) == 1) {
    s.model.latent = model::LatentAttention{.q_lora_rank = pick(0, 64),
                                            .kv_lora_rank = 32,
                                            .qk_nope_head_dim = 48,
                                            .qk_rope_head_dim = 16,
                                            .v_head_dim = 32};
    s.model.kv_heads = s.model.heads;
  }
  s.model.multi_token_prediction = pick(0, 0, 0, 1, 2);
  using model::AttentionKernel;
  if (pick(0, 0, 1) == 1)
    s.software.kernels.attention =
        pick(AttentionKernel::flash_1, AttentionKernel::flash_3, AttentionKernel::memory_efficient);
  s.software.tensor_overlap =
      pick(strategies::TensorOverlap::async, strategies::TensorOverlap::pipelined);
  s.software.cuda_graphs = pick(0, 0, 0, 1) == 1;
  if (pick(0, 0, 0, 1) == 1) s.software.graphed_parts = {strategies::GraphedPart::attn};
  // Loaders range from one that stalls a step to one that nobody notices.
  if (pick(0, 0, 1) == 1) s.software.data_loader = {pick(1e2, 1e3, 1e5), pick(0, 1, 2, 9)};
  s.software.post_validation = pick(false, true);
  if (pick(0, 0, 0, 1) == 1) {
    const bool mirrored = plan.pipeline % 2 == 0 && pick(false, true);
    if (mirrored || s.model.layers >= 2 * plan.pipeline) {
      plan.schedule = mirrored ? ScheduleKind::dualpipe : ScheduleKind::dualpipe_v;
      plan.virtual_stages = mirrored ? 1 : 2;
      if (!plan.recompute_of_stage.empty())
        plan.recompute_of_stage.resize(
            static_cast<std::size_t>(plan.pipeline * plan.virtual_stages));
      s.training.global_batch = plan.data * plan.micro_batch * (2 * plan.pipeline + pick(0, 2, 4));
    }
  }
  const int per_node = pick(2, 3, 4, 8), nics = pick(1, 2, 8);
  s.cluster = cluster_of(gpus_of(plan), per_node, nics);
  s.software.keep_gathered_inputs = pick(false, true);
  s.software.kernels.copies_attention_output = pick(false, true);
  s.software.kernels.joined_projections = pick(false, true);
  draw_regrouping(s, pick);
  s.software.keep_gradients = per_node % 2 == 0;
  s.software.kernels.autocast = per_node == 3;
  s.software.kernels.einsum_dispatch = nics == 8;
  draw_shard_group(s, pick);
  draw_in_bf16(s, pick);
  s.software.kernels.repeats_kv = pick(false, true);
  s.software.blockwise_context = pick(false, true);
  if (pick(false, true)) s.software.interference.reset();
  return s;
}

// One such scenario, always the same, under this plan on nodes of eight GPUs.
inline forecast::Scenario scenario_under(const strategies::Plan& plan, std::int64_t global_batch) {
  std::mt19937 random(1);
  auto s = random_scenario(random);
  s.plan = plan;
  s.training.global_batch = global_batch;
  s.cluster = cluster_of(gpus_of(plan), 8, 8);
  return s;
}

// A random scenario whose choices for states and gradients of data parallelism are drawn afresh.
inline forecast::Scenario sharded_scenario(std::mt19937& random) {
  auto s = random_scenario(random);
  const auto at_most = [&](int most) {
    return std::uniform_int_distribution<int>(0, most)(random);
  };
  using namespace strategies;
  auto& plan = s.plan;
  plan.zero = at_most(3);
  if (plan.zero == 3) plan.wrap.layers = at_most(3);
  s.software.limit_all_gathers = at_most(2) > 0;
  s.software.root_unit = at_most(1) == 0;
  s.software.copies_parameters = at_most(2) == 0;
  s.software.copies_gradients = at_most(2) == 0;
  if (at_most(1) == 0) plan.gather_bucket = units::Bytes{1e6 * (1 + at_most(50))};
  if (at_most(3) == 0) s.training.precision = units::Precision::fp16;
  s.training.optimizer = static_cast<Optimizer>(at_most(7));
  if (plan.zero >= 2 && s.training.optimizer == Optimizer::onebit_adam)
    s.training.optimizer = Optimizer::adam;
  if (at_most(1) == 0)
    plan.gradient_compression =
        static_cast<GradientCompression>(plan.zero >= 2 ? 2 * at_most(1) : at_most(2));
  if (at_most(3) == 0) plan.gradient_precision = units::Precision::bf16;
  s.software.launch_blocking = at_most(3) == 0;
  s.software.all_reduce_gradients = at_most(2) == 0;
  s.software.states_by_tensor = at_most(1) == 0;
  const auto draw_sync = [&] {
    if (at_most(2) > 0) return;
    plan.gradient_sync = at_most(2) == 0 ? GradientSync::microbatch : GradientSync::step;
    if (at_most(1) == 0) plan.reshard_after_forward = plan.zero < 3;
  };
  if (at_most(1) == 0) {
    draw_sync();
    return s;
  }
  using Tier = Offload::Tier;
  s.training.optimizer = at_most(1) == 0 ? Optimizer::adamw : Optimizer::sgd;
  plan.offload.optimizer = static_cast<Tier>(at_most(2));
  if (plan.zero == 3) plan.offload.parameters = static_cast<Tier>(at_most(2));
  plan.offload.gradients =
      plan.zero >= 2 && plan.offload.optimizer != Tier::none && at_most(1) == 0;
  draw_sync();
  return s;
}

// A random scenario with less network than the plan would like, and with things that break
// symmetry: tiers that are too narrow, links that degrade or fail, slower GPUs, nodes of a second
// kind.
inline forecast::Scenario rough_scenario(std::mt19937& random, bool sharded = false) {
  auto s = sharded ? sharded_scenario(random) : random_scenario(random);
  const auto at_most = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  auto& cluster = s.cluster;
  auto& fabric = cluster.fabric;
  // Links are slow, so that messages last as long as passes do.
  const double slow = at_most(1) == 0 ? 1 : 0.01;
  fabric.link_bandwidth = slow * fabric.link_bandwidth;
  cluster.node.nvlink.bandwidth = slow * cluster.node.nvlink.bandwidth;
  cluster.node.pcie.bandwidth = slow * cluster.node.pcie.bandwidth;
  using Kind = topology::Fabric::Kind;
  constexpr Kind kinds[] = {Kind::fat_tree,       Kind::rail_fat_tree, Kind::rail_only,
                            Kind::dragonfly_plus, Kind::torus_3d,      Kind::single_switch};
  fabric.kind = kinds[at_most(5)];
  fabric.radix = static_cast<int>(4 + 2 * at_most(3));
  if (at_most(1) == 0) fabric.oversubscription = {1.0 + static_cast<double>(at_most(2))};
  if (at_most(3) == 0) cluster.node.nvlink.kind = topology::NvLink::Kind::pairs;
  if (at_most(5) == 0) cluster.node.nvlink.kind = topology::NvLink::Kind::none;
  if (at_most(2) == 0)
    cluster.stragglers.push_back(
        {{at_most(cluster.gpus - 1)}, 1.0 + 0.1 * static_cast<double>(1 + at_most(9))});
  if (at_most(2) == 0 && cluster.nodes() > 1) {
    const auto node = at_most(cluster.nodes() - 1);
    cluster.degraded_links.push_back(
        {"nic" + std::to_string(node) + ".0", at_most(1) == 0 ? 0.5 : 0.25});
  }
  if (at_most(3) == 0 && cluster.nodes() > 1) {
    auto other = cluster.node;
    other.device.peak.fill({150e12});
    other.nics.bandwidth = 0.5 * other.nics.bandwidth;
    cluster.others.push_back({other, 1 + at_most(cluster.nodes() - 2)});
  }
  return s;
}

}  // namespace tests
