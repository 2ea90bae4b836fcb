// SPDX-License-Identifier: Apache-2.0
// Small whole problems, drawn: from a scenario to its best plan.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "tests/fewer.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/search/every_plan.hpp"

namespace whole {

using tests::fewer;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  template <class First, class... Others>
  First of(First first, Others... others) {
    const std::initializer_list<First> list{first, static_cast<First>(others)...};
    return *(list.begin() + at_most(static_cast<std::int64_t>(list.size()) - 1));
  }
  std::int64_t at_most(std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random_);
  }
  bool one_in(std::int64_t many) { return at_most(many - 1) == 0; }
  // At least one and at most so many items of a list, in its order.
  template <class T>
  std::vector<T> some(std::vector<T> list, std::int64_t most) {
    const auto many = std::min(static_cast<std::int64_t>(list.size()),
                               1 + at_most(std::max<std::int64_t>(most, 1) - 1));
    while (static_cast<std::int64_t>(list.size()) > many)
      list.erase(list.begin() + at_most(static_cast<std::int64_t>(list.size()) - 1));
    return list;
  }

 private:
  std::mt19937 random_;
};

inline topology::Cluster draw_cluster(Draw& draw) {
  using namespace units::literals;
  const int per_node = draw.of(2, 3, 4, 4);
  const int factor = draw.of(1, 2), nodes = draw.of(1, 1, 2, 3, 4);
  auto cluster = tests::cluster_of(per_node * nodes, per_node, factor);
  auto& device = cluster.node.device;
  device.name = "a100";
  device.vector_peak = {19.5e12};
  if (draw.one_in(2)) {
    device.name = "h100";
    device.memory_bandwidth = 3350.0_GBps;
    device.peak.fill({989e12});
    device.vector_peak = {67e12};
    device.sms = 132;
    cluster.node.nvlink.bandwidth = 450.0_GBps;
  }
  cluster.node.nics.bandwidth = {draw.of(1e9, 5e9, 12.5e9)};
  cluster.fabric.link_bandwidth = cluster.node.nics.bandwidth;
  return cluster;
}

inline model::Transformer draw_model(Draw& draw) {
  const std::int64_t hidden = draw.of(256, 512, 1024, 2048), heads = draw.of(4, 8);
  model::Transformer model{.name = "small",
                           .layers = 2 + draw.at_most(4),
                           .hidden = hidden,
                           .heads = heads,
                           .kv_heads = heads,
                           .head_dim = hidden / heads,
                           .ffn = 4 * hidden,
                           .vocab = draw.of(1000, 32000, 50257),
                           .max_sequence = 2048};
  if (draw.one_in(2)) {
    model.activation = model::Activation::swiglu;
    model.norm = model::Norm::rmsnorm;
    model.position = model::Position::rope;
    model.kv_heads = draw.of(std::int64_t{4}, heads);
    model.tied_embeddings = model.biases = model.qkv_biases = false;
    model.dropout = 0;
  }
  if (draw.one_in(4))
    model.moe = model::Moe{.experts = 4,
                           .top_k = draw.of(1, 2),
                           .expert_ffn = hidden,
                           .shared_experts = draw.of(0, 1),
                           .shared_ffn = hidden,
                           .first_dense_layers = draw.of(0, 1),
                           .every = draw.of(1, 2)};
  return model;
}

inline strategies::Software draw_software(Draw& draw) {
  strategies::Software software{.name = "software"};
  software.kernels.attention =
      draw.of(model::AttentionKernel::flash, model::AttentionKernel::unfused);
  software.pipeline_sync = draw.one_in(2);
  software.scatter_gather = draw.one_in(2);
  software.keep_sent_outputs = draw.one_in(2);
  software.keep_gathered_inputs = draw.one_in(2);
  software.overlap_data = !draw.one_in(3);
  software.overlap_tensor = draw.one_in(3);
  software.overlap_pipeline = draw.one_in(2);
  software.overlap_parameters = draw.one_in(2);
  software.interference = draw.of<std::optional<double>>(std::nullopt, 0.0, 0.2);
  software.compile = draw.one_in(3);
  software.cuda_graphs = draw.one_in(4);
  software.post_validation = draw.one_in(4);
  software.limit_all_gathers = draw.one_in(2);
  software.root_unit = draw.one_in(2);
  software.all_reduce_gradients = draw.one_in(4);
  software.step_overhead = {draw.of(0.0, 1e-3)};
  software.bucket = {draw.of(1e6, 25e6, 160e6)};
  software.framework_memory = {draw.of(0.0, 5e8)};
  software.communicator_memory = {draw.of(0.0, 2e7)};
  software.workspace = {draw.of(0.0, 3e7)};
  return software;
}

inline Space draw_space(Draw& draw, const model::Transformer& model) {
  using enum ScheduleKind;
  Space space;
  space.schedules = draw.some(std::vector{gpipe, one_f_one_b, one_f_one_b, interleaved, zb_h1,
                                          zb_h2, zb_v, v_half, v_min, dualpipe, dualpipe_v},
                              3);
  space.zero.listed = draw.some(std::vector<std::int64_t>{0, 1, 2, 3}, 2);
  space.micro_batch.listed = draw.some(std::vector<std::int64_t>{1, 2, 4}, 2);
  space.tensor.most = draw.of(1, 2, 4);
  space.context.most = draw.of(1, 1, 1, 2);
  space.expert.most = draw.of(1, 2, 4);
  space.expert_tensor.most = draw.of(1, 1, 2);
  space.pipeline.least = draw.of(1, 1, 2);
  space.pipeline.most = draw.of(2, 4, 16);
  if (!draw.one_in(3)) space.sequence_parallel = true;
  space.recompute_ways = draw.some(ways_of(model), 3);
  if (draw.one_in(2)) space.recompute_ways.front() = {};
  if (draw.one_in(8)) space.partition = false;
  if (draw.one_in(8)) space.recompute = false;
  return space;
}

// Draws a share of memory at which some of the plans fit: between the needs of the smallest and of
// the largest plan, or a little beyond.
inline double draw_memory_fraction(Draw& draw, Question question) {
  question.space.recompute_ways = {{}};
  std::vector<double> needs;
  auto scenario = question.scenario;
  double capacity = 1;
  for (const auto kind : {Recompute::Kind::none, Recompute::Kind::full})
    for_each_plan(question.scenario, question.space, [&](const Plan& plan) {
      if (needs.size() > 40) return;
      scenario.plan = plan;
      scenario.plan.recompute.kind = kind;
      const auto forecast = forecast::simulate(scenario);
      needs.push_back(needed(forecast, 0));
      capacity = forecast.memory.capacity.value;
    });
  const auto [least, most] = std::ranges::minmax(needs);
  const double part = static_cast<double>(draw.at_most(24)) / 20 - 0.05;
  return std::min(1.0, (least + part * (most - least)) / capacity);
}

// Now and then adds things that a search varies or keeps only when it is told to.
inline Question with_more(Question question, unsigned seed) {
  Draw draw(seed + 1'000'000);
  auto& space = question.space;
  auto& plan = question.scenario.plan;
  space.chunks = draw.one_in(2);
  if (draw.one_in(6)) space.recompute_ways.push_back({Recompute::Kind::per_op, 0, {}});
  if (draw.one_in(6)) plan.shard_group = strategies::ShardGroup::node;
  if (draw.one_in(8))
    plan.offload.optimizer =
        draw.of(strategies::Offload::Tier::cpu, strategies::Offload::Tier::nvme);
  if (draw.one_in(10)) plan.offload.activations = true;
  if (draw.one_in(10)) plan.gradient_compression = strategies::GradientCompression::fp8;
  if (draw.one_in(10)) plan.activation_compression = strategies::ActivationCompression::int8;
  if (draw.one_in(6)) question.scenario.training.precision = units::Precision::fp16;
  if (draw.one_in(4)) plan.gradient_sync = strategies::GradientSync::step;
  if (draw.one_in(4)) plan.reshard_after_forward = false;
  return question;
}

// The first of all seeds: STEPCAST_SEED in the environment, or 0. Other seeds give other problems.
inline unsigned first_seed() {
  const char* asked = std::getenv("STEPCAST_SEED");
  return asked ? static_cast<unsigned>(std::strtoul(asked, nullptr, 10)) : 0;
}

// Whether all of the usual problems are drawn; tests know their counts and medians.
inline bool usual_problems() { return fewer == 1 && first_seed() == 0; }

// Draws a question that at most `most` simulations answer.
inline Question draw_question(unsigned seed, std::int64_t most = 300) {
  seed += first_seed();
  Draw draw(seed);
  while (true) {
    Question question;
    auto& scenario = question.scenario;
    scenario.name = "random";
    scenario.model = draw_model(draw);
    scenario.cluster = draw_cluster(draw);
    if (seed % 3 == 0) scenario.cluster.node.host.call_time = 1.4;
    scenario.software = draw_software(draw);
    scenario.training = {.sequence_length = draw.of(256, 512, 1024, 2048),
                         .global_batch = draw.of(4, 6, 8, 12, 16)};
    scenario.plan.reshard_after_forward = draw.one_in(2);
    if (draw.one_in(4)) scenario.plan.recompute = {Recompute::Kind::full, 0, {}};
    question.space = draw_space(draw, scenario.model);
    const auto many = simulations_of(question, most);
    if (many < 2 || many > most) continue;
    auto other = with_more(question, seed);
    if (const auto more = simulations_of(other, most); more >= 2 && more <= most)
      question = std::move(other);
    scenario.cluster.memory_fraction = draw_memory_fraction(draw, question);
    if (draw.one_in(6)) question.memory_headroom = 0.1;
    scenario.software.tensor_units = draw.one_in(4);
    scenario.software.copies_parameters = draw.one_in(4);
    scenario.software.copies_gradients = draw.one_in(4);
    return question;
  }
}

}  // namespace whole
