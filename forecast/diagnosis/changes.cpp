// SPDX-License-Identifier: Apache-2.0
#include "forecast/diagnosis/changes.hpp"

#include <algorithm>

#include "plans/duties.hpp"
#include "plans/holdings.hpp"
#include "units/text.hpp"

namespace forecast {

namespace {

using strategies::Recompute;

std::string four_digits(double value) { return units::significant(value, 4); }

std::string rate_text(units::BytesPerSecond rate) {
  return four_digits(rate.value / 1e9) + " GB/s";
}

class Changes {
 public:
  explicit Changes(const Scenario& scenario) : scenario_(scenario) {}

  std::vector<LikelyChange> all() {
    add_passes();
    add_overlap();
    add_launches();
    add_rates();
    add_ranks();
    return std::move(all_);
  }

 private:
  void as_it_is(bool possible, std::string words, std::string set) {
    if (possible) all_.push_back({std::move(words), std::move(set)});
  }
  void by(bool possible, std::string words, double most, std::function<std::string(double)> set) {
    if (!possible) return;
    auto first = set(1);
    all_.push_back({std::move(words), std::move(first), std::move(set), most});
  }

  void add_passes() {
    const auto kind = scenario_.plan.recompute.kind;
    const bool plain = scenario_.plan.recompute_of_stage.empty();
    as_it_is(plain && kind != Recompute::Kind::full, "every layer is computed again",
             "plan.recompute=full");
    as_it_is(plain && kind == Recompute::Kind::none, "the attention core is computed again",
             "plan.recompute=selective");
    as_it_is(scenario_.software.kernels.attention != model::AttentionKernel::unfused,
             "attention without a fused kernel", "software.attention=unfused");
    as_it_is(scenario_.training.precision != units::Precision::bf16 &&
                 scenario_.training.precision != units::Precision::fp16,
             "products in bf16", "training.precision=bf16");
  }

  void add_overlap() {
    const auto& plan = scenario_.plan;
    const auto& software = scenario_.software;
    const auto on = strategies::overlaps_of(plan, software);
    as_it_is(strategies::sums_gradients(plan) && on.data,
             "gradients are reduced with nothing beside it", "plan.overlap.data=false");
    as_it_is(plan.tensor > 1 && on.tensor, "tensor-parallel communication with nothing beside it",
             "plan.overlap.tensor=false");
    as_it_is(plan.zero > 0 && on.parameters, "parameters are gathered with nothing beside it",
             "plan.overlap.parameters=false");
    as_it_is(plan.pipeline > 1 && on.pipeline, "messages between stages with nothing beside them",
             "plan.overlap.pipeline=false");
    as_it_is(plan.expert > 1 && on.expert, "tokens are dispatched with nothing beside it",
             "plan.overlap.expert=false");
  }

  void add_launches() {
    const auto& software = scenario_.software;
    as_it_is(software.cuda_graphs || !software.graphed_parts.empty(),
             "kernels are launched one by one", "software.cuda_graphs=false");
    as_it_is(!software.launch_blocking, "the host waits for every kernel (CUDA_LAUNCH_BLOCKING=1)",
             "software.launch_blocking=true");
    by(true, "the host launches forward passes more slowly", 20, [&software](double factor) {
      return "software.launch_forward=" +
             four_digits(software.launch_forward.value * 1e6 * factor) + " us";
    });
  }

  void add_rates() {
    const auto& cluster = scenario_.cluster;
    const auto& device = cluster.node.device;
    by(cluster.others.empty(), "matrix products run at a lower clock", 3, [&device](double factor) {
      return "cluster.node.device.efficiency.sustained_clock=" +
             four_digits(device.efficiency.sustained_clock / factor);
    });
    by(cluster.others.empty() && device.memory_bandwidth.value > 0, "device memory is slower", 10,
       [&device](double factor) {
         return "cluster.node.device.memory_bandwidth=" +
                rate_text(device.memory_bandwidth / factor);
       });
    by(cluster.others.empty() && cluster.node.nvlink.bandwidth.value > 0,
       "links inside of nodes are slower", 20, [&cluster](double factor) {
         return "cluster.node.nvlink.bandwidth=" +
                rate_text(cluster.node.nvlink.bandwidth / factor);
       });
    by(cluster.others.empty() && cluster.gpus > cluster.node.gpus &&
           cluster.node.nics.bandwidth.value > 0,
       "NICs are slower", 20, [&cluster](double factor) {
         return "cluster.node.nics.bandwidth=" +
                rate_text(std::min(cluster.node.nics.bandwidth, cluster.fabric.link_bandwidth) /
                          factor);
       });
  }

  void add_ranks() {
    by(scenario_.cluster.stragglers.empty() && scenario_.cluster.gpus > 1, "one GPU is slower", 3,
       [](double factor) {
         return "cluster.stragglers=[{gpus: [0], slowdown: " + four_digits(factor) + "}]";
       });
    by(scenario_.plan.expert > 1 && scenario_.model.moe.has_value(),
       "the fullest experts have more tokens", 8,
       [](double factor) { return "model.moe.imbalance=" + four_digits(factor); });
    by(true, "the host takes time in every step (data, logging, checkpoints)", 1e5,
       [&software = scenario_.software](double factor) {
         return "software.step_overhead=" +
                four_digits(std::max(1e-3, software.step_overhead.value) * factor) + " s";
       });
  }

  const Scenario& scenario_;
  std::vector<LikelyChange> all_;
};

}  // namespace

std::vector<LikelyChange> likely_changes(const Scenario& scenario) {
  return Changes(scenario).all();
}

}  // namespace forecast
