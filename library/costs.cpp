// SPDX-License-Identifier: Apache-2.0
#include "library/costs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "model/builder.hpp"
#include "scenarios/catalog.hpp"

namespace library {
namespace {

using units::Kernel;

void check_size(double value, const char* name) {
  if (!(value >= 0) || !std::isfinite(value))
    throw std::invalid_argument(std::string(name) + ": expected a finite number, 0 or more");
}

// Returns the shape of a group of distinct GPUs. Throws std::invalid_argument for GPUs that the
// cluster does not have, or that are twice in the group.
topology::GroupShape shape_on(const topology::Cluster& cluster, std::span<const std::int64_t> gpus,
                              int sharing) {
  if (gpus.empty()) throw std::invalid_argument("a group of no GPUs; expected one or more");
  if (sharing < 1) throw std::invalid_argument("sharing: at least 1, the group itself");
  const auto refuse = [&](std::int64_t gpu) {
    throw std::invalid_argument("no GPU " + std::to_string(gpu) + " in a cluster of " +
                                std::to_string(cluster.gpus) + "; they count from 0");
  };
  for (const auto gpu : gpus)
    if (gpu < 0 || gpu >= cluster.gpus) refuse(gpu);
  const auto twice = [](std::int64_t gpu) {
    throw std::invalid_argument("GPU " + std::to_string(gpu) + " is twice in the group");
  };
  if (std::ranges::adjacent_find(gpus, std::greater_equal<>()) != gpus.end()) {  // not in order
    std::vector<std::int64_t> sorted(gpus.begin(), gpus.end());
    std::ranges::sort(sorted);
    const auto same = std::ranges::adjacent_find(sorted);
    if (same != sorted.end()) twice(*same);
  }
  auto shape = topology::shape_of(gpus, cluster);
  shape.sharing = sharing;
  return shape;
}

Kernel attention_kernel(const Kernel& asked) {
  if (asked.m != asked.n)
    throw std::invalid_argument(
        "attention of other key than query tokens: flops and traffic must be given");
  const model::Transformer one{
      .heads = asked.batch, .kv_heads = asked.batch, .head_dim = asked.k, .causal = asked.causal};
  const model::Extent extent{.sequence = asked.m, .heads = asked.batch, .kv_heads = asked.batch};
  const model::Kernels kernels;
  const model::Builder make{one, extent, kernels, asked.precision};
  for (const auto& op : model::attention(make, 0)) {
    const auto& pass = asked.layout == Kernel::Layout::forward ? op.forward : op.input_gradient;
    for (const auto& kernel : pass)
      if (kernel.kind == Kernel::Kind::attention) {
        auto complete = asked;
        complete.flops = kernel.flops;
        complete.traffic = kernel.traffic;
        return complete;
      }
  }
  return asked;
}

}  // namespace

SharedCluster cluster_of(std::string_view text) {
  return std::make_shared<const topology::Cluster>(scenarios::described_cluster(text, "cluster"));
}

Group::Group(SharedCluster cluster, std::span<const std::int64_t> gpus, int sharing)
    : cluster_(std::move(cluster)),
      shape_(shape_on(*cluster_, gpus, sharing)),
      times_(shape_, *cluster_) {}

units::Seconds Group::time(topology::Collective collective, units::Bytes size) const {
  check_size(size.value, "bytes");
  return times_.of(collective, size);
}

Device::Device(std::string_view text)
    : device_(scenarios::described_device(text, "device")), times_(device_) {}

units::Seconds Device::time(const Kernel& kernel) const { return times_.of(completed(kernel)); }

Kernel completed(const Kernel& kernel) {
  check_size(kernel.flops.value, "flops");
  check_size(kernel.traffic.value, "bytes");
  if (kernel.flops.value > 0 || kernel.traffic.value > 0) return kernel;
  if (kernel.kind == Kernel::Kind::stream || kernel.kind == Kernel::Kind::random) return kernel;
  if (std::min({kernel.batch, kernel.m, kernel.n, kernel.k}) < 1)
    throw std::invalid_argument("a product or attention needs sizes of at least one");
  if (kernel.kind == Kernel::Kind::attention) return attention_kernel(kernel);
  const model::Transformer none;
  const model::Extent nothing;
  const model::Kernels kernels;
  const auto same = model::Builder{none, nothing, kernels, kernel.precision}.product(
      kernel.layout, kernel.m, kernel.n, kernel.k, kernel.batch);
  auto complete = kernel;
  complete.flops = same.flops;
  complete.traffic = same.traffic;
  return complete;
}

}  // namespace library
