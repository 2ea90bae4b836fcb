// SPDX-License-Identifier: Apache-2.0
// Times of single kernels and collectives, on machines that are read once and asked often.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "topology/collective_times.hpp"
#include "topology/kernel_time.hpp"

namespace library {

using SharedCluster = std::shared_ptr<const topology::Cluster>;

// Reads a cluster as a scenario writes it, in YAML or JSON. Throws scenarios::Error.
SharedCluster cluster_of(std::string_view text);

// A group of GPUs of a cluster, which it keeps alive. Asking changes nothing: any number of threads
// may.
class Group {
 public:
  // GPUs from 0 on, distinct, in ring order; `sharing`: such groups that use each node's NICs at
  // the same time. Throws std::invalid_argument for GPUs that are not there, or are no group.
  Group(SharedCluster cluster, std::span<const std::int64_t> gpus, int sharing);

  const topology::GroupShape& shape() const { return shape_; }
  // Returns the time of a collective of `size`, which counts bytes as topology::collective_time
  // does. Throws std::invalid_argument for a negative or infinite size.
  units::Seconds time(topology::Collective collective, units::Bytes size) const;

 private:
  SharedCluster cluster_;
  topology::GroupShape shape_;
  topology::CollectiveTimes times_;
};

// A device, by name or as a mapping over one; safe to ask from any number of threads.
class Device {
 public:
  explicit Device(std::string_view text);  // throws scenarios::Error
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Returns the time of a kernel. If it gives no flops and traffic, a product, or attention with as
  // many query as key tokens, has those that a layer of a model has. Throws std::invalid_argument
  // for a kernel that cannot be.
  units::Seconds time(const units::Kernel& kernel) const;
  const topology::Device& data() const { return device_; }

 private:
  topology::Device device_;
  topology::KernelTimes times_;
};

// Flops and traffic of a kernel that gives none of them, as a layer of a model has them.
units::Kernel completed(const units::Kernel& kernel);

}  // namespace library
