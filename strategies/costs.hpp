// SPDX-License-Identifier: Apache-2.0
// The source of durations: strategies ask for them, the caller answers.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "topology/collective.hpp"
#include "topology/offload_time.hpp"
#include "units/kernel.hpp"

namespace strategies {

// A GPU as kernels see it: its kind of node, and the factor by which it is slower than its kind.
struct Gpu {
  std::size_t kind = 0;
  double slowdown = 1;
  friend auto operator<=>(const Gpu&, const Gpu&) = default;
};

// A query to a cluster: the time of a kernel or of a collective.
struct CostQuery {
  std::optional<units::Kernel> kernel;  // of `gpu`; absent: a collective
  Gpu gpu = {};
  topology::Collective collective{};
  units::Bytes size;
  topology::GroupShape group = {};
  bool stands_in = false;  // for something else, which is taken to be like it
};

// Queries in the order in which they were asked, numbered from one.
class CostQueries {
 public:
  std::uint32_t add(const CostQuery& question) {
    all_.push_back(question);
    return static_cast<std::uint32_t>(all_.size());
  }
  const CostQuery& operator[](std::uint32_t number) const { return all_[number - 1]; }
  void stands_in(std::uint32_t number) { all_[number - 1].stands_in = true; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(all_.size()); }

 private:
  std::vector<CostQuery> all_;
};

struct Costs {
  std::function<units::Seconds(const units::Kernel&, const Gpu&)> kernel;
  std::function<topology::Sending(topology::Collective, units::Bytes, const topology::GroupShape&)>
      collective;
  // One message between GPUs.
  std::function<topology::Sending(units::Bytes, std::int64_t from, std::int64_t to)> transfer;
  // The time of work that every GPU of a node asks of its host at once. Asked only if the plan
  // offloads.
  std::function<units::Seconds(const topology::OffloadWork&, const Gpu&)> host = {};
  // The slowest host's time for a call of the framework over that in software profiles.
  double call_time = 1;
  // A record of all questions, for callers that want to know what a program was made of; null if
  // nobody does. Collectives carry the number of their question (Sending::asked).
  std::shared_ptr<CostQueries> questions = {};
  // The host's time for what a software profile says takes this long.
  units::Seconds by_host(units::Seconds in_profile) const { return call_time * in_profile; }
  // Returns the number of a product or an attention that was asked for, 0 of any other kernel.
  std::uint32_t asked(const units::Kernel& of, const Gpu& gpu) const {
    const bool shaped =
        of.kind == units::Kernel::Kind::product || of.kind == units::Kernel::Kind::attention;
    return questions && shaped ? questions->add({.kernel = of, .gpu = gpu}) : 0;
  }
};

}  // namespace strategies
