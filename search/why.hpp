// SPDX-License-Identifier: Apache-2.0
// Why a search answers as it does: what bounds the step, and what would make it shorter. Numbers;
// the words are made by those who report them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/search.hpp"

namespace search {

// A plan beside the best one. The losses sum to the difference of the two steps.
struct Runner {
  std::size_t rank = 1;  // in Answer::plans, from 0
  units::Seconds slower;
  // The difference of each part, the largest amount first, without zeros; negative: the part is
  // shorter.
  std::vector<forecast::PartTime> losses;
};

// A resource of a device, a node or the fabric.
enum class Resource {
  flops,             // peak of the devices, inside and outside the matrix units
  memory_bandwidth,  // of the devices
  node_links,        // NVLink; PCIe of nodes that have none
  network            // NICs and links of the fabric
};

// The best plan on a cluster that has a tenth more of a resource everywhere. The share over a tenth
// is the elasticity of the step time, as a finite difference: at this plan, with all that else
// holds it up. Tables of collectives that were measured on the fabric stay as they are.
struct Help {
  Resource resource = Resource::flops;
  units::Seconds gain;  // negative where more of it makes the step longer, as can be
  double share = 0;     // of the step
};

// The best plan near the answer if devices had that much more memory.
struct MemoryChange {
  double change = 0;                   // share of the memory that the job may use; negative: less
  std::optional<units::Seconds> time;  // absent: nothing near the answer fits
};

struct Why {
  // The best plan's critical path and its time (forecast::TimeParts), the largest part first;
  // neither has parts that are zero.
  std::vector<forecast::PartTime> path, exposed;
  std::optional<Runner> runner;  // the fastest plan of other degrees; absent: there is none
  std::vector<Help> helps;       // the greatest gain first
  // −20 %, −10 %, 10 % … 50 % of memory, ascending; none where the search was told to stop. The
  // plans looked at are those of the answer; the best plan's degrees and stages with the best
  // recomputation; even stages of the degrees of the first plans in all combinations, and of half
  // and twice their tensor, pipeline and micro_batch. A search of everything might find more.
  std::vector<MemoryChange> memory_changes;
};

// The number of plans of an answer that are taken to explain it.
inline constexpr std::size_t compared = 5;

// Simulates the best plan of the answer four times and looks at up to two small spaces for each of
// seven amounts of memory; of the options it takes for_each and stop. Throws std::invalid_argument
// for an answer without a plan.
Why why(const Question& question, const Answer& answer, const Options& options = {});

}  // namespace search
