// SPDX-License-Identifier: Apache-2.0
// The parts that a step's time is the sum of: one list, from which every document, text and table
// takes them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "units/quantity.hpp"

namespace forecast {

enum class StepPart : std::uint8_t {
  compute,
  recompute,
  tensor_comm,
  context_comm,
  expert_comm,
  pipeline_comm,
  data_comm,
  offload,
  optimizer,
  bubble,
  other
};

struct StepPartFacts {
  enum class Sort : std::uint8_t { computation, communication, rest };
  StepPart part;
  Sort sort;
  const char* key;    // key of its seconds in documents and tables: "tensor_comm_s"
  const char* words;  // for people: "tensor comm"

  // The part's name as a kind of time on the critical path and of slices of the timeline, such as
  // "tensor_comm".
  constexpr std::string_view name() const {
    const std::string_view seconds(key);
    return seconds.substr(0, seconds.size() - 2);
  }
};

// Indexed by StepPart.
inline constexpr std::array step_parts{
    StepPartFacts{StepPart::compute, StepPartFacts::Sort::computation, "compute_s", "compute"},
    StepPartFacts{StepPart::recompute, StepPartFacts::Sort::computation, "recompute_s",
                  "recompute"},
    StepPartFacts{StepPart::tensor_comm, StepPartFacts::Sort::communication, "tensor_comm_s",
                  "tensor comm"},
    StepPartFacts{StepPart::context_comm, StepPartFacts::Sort::communication, "context_comm_s",
                  "context comm"},
    StepPartFacts{StepPart::expert_comm, StepPartFacts::Sort::communication, "expert_comm_s",
                  "expert comm"},
    StepPartFacts{StepPart::pipeline_comm, StepPartFacts::Sort::communication, "pipeline_comm_s",
                  "pipeline comm"},
    StepPartFacts{StepPart::data_comm, StepPartFacts::Sort::communication, "data_comm_s",
                  "data comm"},
    StepPartFacts{StepPart::offload, StepPartFacts::Sort::rest, "offload_s", "offload"},
    StepPartFacts{StepPart::optimizer, StepPartFacts::Sort::computation, "optimizer_s",
                  "optimizer"},
    StepPartFacts{StepPart::bubble, StepPartFacts::Sort::rest, "bubble_s", "bubble"},
    StepPartFacts{StepPart::other, StepPartFacts::Sort::rest, "other_s", "other"}};

constexpr const StepPartFacts& facts_of(StepPart part) {
  return step_parts[static_cast<std::size_t>(part)];
}

struct PartTime {
  StepPart part{};
  units::Seconds time;
};

// Exposed time on the rank that ends last, or, where steps overlap, whose own span is the longest;
// the parts sum to the step time.
class TimeParts {
 public:
  constexpr units::Seconds& operator[](StepPart part) {
    return of_[static_cast<std::size_t>(part)];
  }
  constexpr units::Seconds operator[](StepPart part) const {
    return of_[static_cast<std::size_t>(part)];
  }

  // The time of all parts of a sort.
  constexpr units::Seconds sum(StepPartFacts::Sort sort) const {
    units::Seconds all;
    for (const auto& facts : step_parts)
      if (facts.sort == sort) all += (*this)[facts.part];
    return all;
  }
  constexpr units::Seconds computation() const { return sum(StepPartFacts::Sort::computation); }
  constexpr units::Seconds communication() const { return sum(StepPartFacts::Sort::communication); }

 private:
  std::array<units::Seconds, step_parts.size()> of_{};
};

}  // namespace forecast
