// SPDX-License-Identifier: Apache-2.0
#include "search/purchase/dividing_counts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "search/purchase/machine_prices.hpp"
#include "search/space.hpp"

namespace search {
namespace {

using Count = std::int64_t;

constexpr Count all_looked_at = 256;  // nodes; of more, an octave has half as many numbers

// The batches that training may have, the largest last.
std::vector<Count> batches_of(const Workload& workload, Count first) {
  std::vector<Count> all{first};
  while (2 * all.back() <= workload.max_global_batch.value_or(first)) all.push_back(2 * all.back());
  return all;
}

bool has_degrees(const Question& question, const std::vector<Count>& batches) {
  for (std::size_t i = 0; i <= question.others.size(); ++i) {
    auto scenario = question.scenario_of(i);
    const auto& space = i == 0 ? question.space : question.others[i - 1].space;
    for (const auto batch : batches) {
      scenario.training.global_batch = batch;
      if (any_plan_in(scenario, space)) return true;
    }
  }
  return false;
}

// The evenness of a number of nodes; 0: some workload has no plan.
double evenness_of(const Purchase& purchase, const PurchaseOption& option) {
  const auto gpus = option.cluster().gpus;
  double least = 1;
  for (std::size_t i = 0; i < purchase.workloads.size(); ++i) {
    const auto& question = option.questions[i];
    const auto batches = batches_of(purchase.workloads[i], question.scenario.training.global_batch);
    if (!has_degrees(question, batches)) return 0;
    least = std::min(
        least, static_cast<double>(std::gcd(gpus, batches.back())) / static_cast<double>(gpus));
  }
  return least;
}

std::vector<Count> looked_at(Count least, Count most) {
  std::vector<Count> all{least};
  Count step = 1;
  for (auto nodes = least + 1; nodes < most; nodes = (nodes / step + 1) * step) {
    all.push_back(nodes);
    while (nodes >= all_looked_at * step) step *= 2;
  }
  if (most > least) all.push_back(most);
  return all;
}

}  // namespace

PurchaseOption with_nodes(PurchaseOption option, std::int64_t nodes) {
  const auto change = [nodes](topology::Cluster& cluster) {
    cluster.gpus = nodes * cluster.node.gpus;
  };
  for (auto& question : option.questions) {
    change(question.scenario.cluster);
    for (auto& other : question.others) change(other.scenario.cluster);
  }
  if (option.price && option.price->network_of_catalog)
    option.price->network_per_node = switches_per_node(option.cluster());
  return option;
}

std::vector<DividingCount> dividing_counts(const Purchase& purchase, const PurchaseOption& option,
                                           std::int64_t least, std::int64_t most) {
  std::vector<DividingCount> all;
  for (const auto nodes : looked_at(least, most))
    if (const auto evenness = evenness_of(purchase, with_nodes(option, nodes)); evenness > 0)
      all.push_back({nodes, evenness});
  return all;
}

}  // namespace search
