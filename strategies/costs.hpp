// SPDX-License-Identifier: Apache-2.0
// Where durations come from: strategies ask, whoever calls answers.
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

// A GPU as kernels see it: of which kind of node, and how much slower than its kind.
struct Gpu {
  std::size_t kind = 0;
  double slowdown = 1;
  friend auto operator<=>(const Gpu&, const Gpu&) = default;
};

// What was asked of a cluster: how long a kernel takes, or a collective.
struct Question {
  std::optional<units::Kernel> kernel;  // of `gpu`; absent: a collective
  Gpu gpu = {};
  topology::Collective collective{};
  units::Bytes size;
  topology::GroupShape group = {};
  bool stands_in = false;  // for something else, which is taken to be like it
};

// Questions in the order in which they were asked, numbered from one.
class Questions {
 public:
  std::uint32_t add(const Question& question) {
    all_.push_back(question);
    return static_cast<std::uint32_t>(all_.size());
  }
  const Question& operator[](std::uint32_t number) const { return all_[number - 1]; }
  void stands_in(std::uint32_t number) { all_[number - 1].stands_in = true; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(all_.size()); }

 private:
  std::vector<Question> all_;
};

struct Costs {
  std::function<units::Seconds(const units::Kernel&, const Gpu&)> kernel;
  std::function<topology::Sending(topology::Collective, units::Bytes, const topology::GroupShape&)>
      collective;
  // One message between GPUs.
  std::function<topology::Sending(units::Bytes, std::int64_t from, std::int64_t to)> transfer;
  // What a GPU asks of its host, all GPUs of the node at once; asked only where the plan offloads.
  std::function<units::Seconds(const topology::OffloadWork&, const Gpu&)> host = {};
  // Where somebody wants to know what a program was made of, what was asked; null: nobody does.
  // Collectives carry their number (Sending::asked).
  std::shared_ptr<Questions> questions = {};
  // Returns the number of a product or an attention that was asked for, 0 of any other kernel.
  std::uint32_t asked(const units::Kernel& of, const Gpu& gpu) const {
    const bool shaped =
        of.kind == units::Kernel::Kind::product || of.kind == units::Kernel::Kind::attention;
    return questions && shaped ? questions->add({.kernel = of, .gpu = gpu}) : 0;
  }
};

}  // namespace strategies
