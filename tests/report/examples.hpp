// SPDX-License-Identifier: Apache-2.0
// A small scenario and its forecast, written by hand so that every printed figure can be checked
// with a pencil: two stages, two microbatches, 1F1B, forward 1 s, backward 2 s.
#pragma once
#include "forecast/forecast.hpp"

namespace examples {

inline forecast::Scenario scenario() {
  using namespace units::literals;
  forecast::Scenario scenario;
  scenario.name = "two stages by hand";
  scenario.model = {.name = "toy-1b",
                    .layers = 4,
                    .hidden = 1024,
                    .heads = 16,
                    .kv_heads = 16,
                    .head_dim = 64,
                    .ffn = 4096,
                    .vocab = 50257,
                    .max_sequence = 2048,
                    .window = std::nullopt};
  auto& node = scenario.cluster.node;
  node.name = "toy-node";
  node.gpus = 8;
  node.device.name = "toy-gpu";
  node.device.memory = 80.0_GiB;
  node.device.usable_memory = 80.0_GiB;
  node.device.memory_bandwidth = 2039.0_GBps;
  node.device.peak[static_cast<std::size_t>(units::Precision::bf16)] = 312.0_TFLOPps;
  node.device.sms = 108;
  node.nvlink.bandwidth = 300.0_GBps;
  node.nics = {.count = 8, .bandwidth = 25.0_GBps};
  scenario.cluster.gpus = 16;
  scenario.cluster.fabric.name = "toy-fabric";
  scenario.cluster.fabric.link_bandwidth = 25.0_GBps;
  scenario.training.sequence_length = 1000;
  scenario.training.global_batch = 16;
  scenario.plan.pipeline = 2;
  scenario.plan.data = 8;
  scenario.software.name = "toy-software";
  return scenario;
}

inline forecast::Slice pass(int stage, const char* kind, int microbatch, int start_s, int end_s) {
  return {.stage = stage,
          .rank = stage * 8,
          .lane = "compute",
          .name = std::string(kind) + " m" + std::to_string(microbatch),
          .kind = kind,
          .microbatch = microbatch,
          .chunk = 0,
          .start_ps = start_s * 1'000'000'000'000,
          .end_ps = end_s * 1'000'000'000'000};
}

// Stage 0:  F0 F1 . B0 B0 . B1 B1 O      stage 1:  . F0 B0 B0 F1 B1 B1 . O     (one second a sign)
inline forecast::Timeline timeline() {
  using namespace units::literals;
  forecast::Timeline timeline;
  timeline.slices = {pass(0, "forward", 0, 0, 1),    pass(0, "forward", 1, 1, 2),
                     pass(0, "backward", 0, 4, 6),   pass(0, "backward", 1, 7, 9),
                     pass(0, "optimizer", 0, 9, 10), pass(1, "forward", 0, 1, 2),
                     pass(1, "backward", 0, 2, 4),   pass(1, "forward", 1, 4, 5),
                     pass(1, "backward", 1, 5, 7),   pass(1, "optimizer", 0, 9, 10)};
  for (const std::size_t optimizer : {4u, 9u}) {
    timeline.slices[optimizer].name = "optimizer";
    timeline.slices[optimizer].microbatch = timeline.slices[optimizer].chunk = -1;
  }
  timeline.end_ps = 10'000'000'000'000;
  timeline.arrows = {{0, 5}, {1, 7}, {6, 2}, {8, 3}};
  timeline.link_names = {"nic0.0:out"};
  timeline.links = {{0, 1'000'000'000'000, 0.5}, {0, 2'000'000'000'000, 0}};
  timeline.memory = {{0, 0, 30.0_GiB}, {0, 1'000'000'000'000, 34.0_GiB}, {1, 0, 20.0_GiB}};
  return timeline;
}

// A basis of ten seconds: 2 measured, 3 interpolated, 1 scaled, 4 physics.
inline forecast::Basis basis() {
  using enum forecast::Priced;
  constexpr std::int64_t second = 1'000'000'000'000;
  const units::Kernel product{.kind = units::Kernel::Kind::product,
                              .layout = units::Kernel::Layout::weight_gradient,
                              .m = 4096,
                              .n = 1024,
                              .k = 1000};
  forecast::Basis basis;
  basis.of[static_cast<std::size_t>(products)] = {2 * second, 3 * second, second, 0};
  basis.of[static_cast<std::size_t>(collectives)] = {0, 0, 0, second / 2};
  basis.of[static_cast<std::size_t>(host)] = {0, 0, 0, 7 * second / 2};
  basis.wanted = {
      {.question = {.kernel = product},
       .kind = products,
       .evidence = topology::Evidence::scaled,
       .time_ps = second},
      {.question = {.collective = topology::Collective::all_to_all,
                    .size = {1048576},
                    .group = {.ranks = 16, .nodes = 2, .least_per_node = 8, .most_per_node = 8}},
       .kind = collectives,
       .evidence = topology::Evidence::physics,
       .time_ps = second / 2}};
  return basis;
}

inline forecast::Forecast forecast() {
  using namespace units::literals;
  ::forecast::Forecast forecast;
  forecast.step = {.time = 10.0_s,
                   .time_low = 9.0_s,
                   .time_high = 11.5_s,
                   .tokens = 16000,
                   .useful_tokens = 16000,
                   .tokens_per_second = 1600,
                   .tokens_per_second_per_gpu = 100,
                   .model_flops = {1.6e16},
                   .flops_per_gpu = 100.0_TFLOPps,
                   .mfu = 0.25,
                   .hfu = 0.3125,
                   .microbatches = 2};
  forecast.time[forecast::StepPart::compute] = 5.5_s;
  forecast.time[forecast::StepPart::pipeline_comm] = 0.25_s;
  forecast.time[forecast::StepPart::data_comm] = 0.25_s;
  forecast.time[forecast::StepPart::optimizer] = 1.0_s;
  forecast.time[forecast::StepPart::bubble] = 3.0_s;
  forecast.pipeline.bubble_fraction = 0.3;
  for (int stage = 0; stage < 2; ++stage)
    forecast.pipeline.stages.push_back({.stage = stage,
                                        .layers = 2,
                                        .busy = 7.0_s,
                                        .bubble = 3.0_s,
                                        .peak_in_flight = stage == 0 ? 2.0 : 1.0,
                                        .forward = 1.0_s,
                                        .backward_input = 1.0_s,
                                        .backward_weight = 1.0_s,
                                        .recompute = {}});
  constexpr std::int64_t second = 1'000'000'000'000;
  forecast.pipeline.stages[0].bubble_by_cause = {2 * second, second};
  forecast.pipeline.stages[1].bubble_by_cause = {second, 2 * second};
  forecast.layer = {.forward = 0.25_s,
                    .backward = 0.5_s,
                    .attention_forward = 0.125_s,
                    .attention_backward = 0.25_s,
                    .mlp_forward = 0.125_s,
                    .mlp_backward = 0.25_s,
                    .kept = 2.0_GiB};
  forecast.memory = {.fits = true,
                     .host_fits = true,
                     .capacity = 80.0_GiB,
                     .peak = 40.0_GiB,
                     .peak_allocated = 34.0_GiB,
                     .peak_reserved = 36.0_GiB,
                     .peak_stage = 0,
                     .stages = {}};
  forecast.memory.stages = {{.weights = 4.0_GiB,
                             .gradients = 8.0_GiB,
                             .optimizer = 16.0_GiB,
                             .activations = 4.0_GiB,
                             .temporary = 2.0_GiB,
                             .communication = 2.0_GiB,
                             .framework = 2.0_GiB,
                             .peak = 40.0_GiB,
                             .peak_allocated = 34.0_GiB,
                             .peak_reserved = 36.0_GiB},
                            {.weights = 2.0_GiB,
                             .gradients = 4.0_GiB,
                             .optimizer = 8.0_GiB,
                             .activations = 2.0_GiB,
                             .temporary = 2.0_GiB,
                             .communication = 1.0_GiB,
                             .framework = 1.0_GiB,
                             .peak = 20.0_GiB,
                             .peak_allocated = 18.0_GiB,
                             .peak_reserved = 18.5_GiB}};
  forecast.critical_path = {{forecast::StepPart::compute, 7.0_s},
                            {forecast::StepPart::bubble, 3.0_s}};
  forecast.links = {{"nic0.0:out", "nic", 8, 0.125}, {"gpu0.nvlink:in", "nvlink", 16, 0.03}};
  forecast.slowed = {{"reduce gradients", "send activations", "nic0.0:out", 0.25_s}};
  forecast.simulation = {
      .events = 20, .ranks = 16, .ranks_simulated = 2, .microbatches_played = 2, .wall = 0.001_s};
  forecast.timeline = timeline();
  forecast.validated = {.regime = {"toy-gpu", "toy-software"},
                        .rows = 12,
                        .datasets = 2,
                        .outside = {"fp8 not measured on toy-gpu"}};
  return forecast;
}

// The forecast with the parts that `simulate` asks for.
inline forecast::Forecast simulated() {
  auto simulated = forecast();
  simulated.basis = basis();
  return simulated;
}

}  // namespace examples
