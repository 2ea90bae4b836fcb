// SPDX-License-Identifier: Apache-2.0
#include "forecast/costs.hpp"

#include <utility>

#include "topology/collective.hpp"

namespace forecast {

Prices::Prices(const topology::Cluster& cluster) : cluster_(&cluster) {
  std::vector<topology::KernelTimes> kernels;
  for (std::size_t kind = 0; kind < cluster.kinds(); ++kind)
    kernels.emplace_back(cluster.kind(kind).device);
  kernels_ = std::make_shared<const std::vector<topology::KernelTimes>>(std::move(kernels));
}

strategies::Costs Prices::costs() const {
  return {
      .kernel =
          [kernels = kernels_](const units::Kernel& kernel, const strategies::Gpu& gpu) {
            return gpu.slowdown * (*kernels)[gpu.kind].of(kernel);
          },
      .collective =
          [&cluster = *cluster_](topology::Collective kind, units::Bytes size,
                                 const topology::GroupShape& group) {
            return topology::collective_sending(kind, size, group, cluster);
          },
      .transfer =
          [&cluster = *cluster_](units::Bytes size, std::int64_t from, std::int64_t to) {
            return topology::transfer_sending(size, from, to, cluster);
          },
      .host =
          [&cluster = *cluster_](const topology::OffloadWork& work, const strategies::Gpu& gpu) {
            return topology::offload_time(work, cluster, gpu.kind);
          },
      .call_time = cluster_->slowest_call_time()};
}

strategies::Costs Prices::costs_with_questions() const {
  auto costs = this->costs();
  costs.questions = std::make_shared<strategies::CostQueries>();
  costs.collective = [answer = std::move(costs.collective), questions = costs.questions](
                         topology::Collective kind, units::Bytes size,
                         const topology::GroupShape& group) {
    auto sending = answer(kind, size, group);
    if (group.ranks > 1)
      sending.asked = questions->add({.collective = kind, .size = size, .group = group});
    return sending;
  };
  return costs;
}

topology::Evidence Prices::evidence(const strategies::CostQuery& question) const {
  if (question.kernel) return (*kernels_)[question.gpu.kind].evidence(*question.kernel);
  const auto evidence =
      topology::collective_evidence(question.collective, question.size, question.group, *cluster_);
  return question.stands_in ? weaker(evidence, topology::Evidence::scaled) : evidence;
}

}  // namespace forecast
