// SPDX-License-Identifier: Apache-2.0
// A profile of one GPU in a real run, broken down into the parts of a forecast.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/kernel_class.hpp"
#include "forecast/step_parts.hpp"
#include "units/quantity.hpp"

namespace forecast {

// Communication is of a parallel group where the profiler names one, else of a sort of collective.
// An instant at which several went on counts as the first of them in this order.
enum class GpuWork : std::uint8_t {
  compute,
  tensor_comm,
  context_comm,
  expert_comm,
  pipeline_comm,
  data_comm,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  send_receive,
  other_comm,
  copy,
};
inline constexpr std::size_t gpu_works = 13;
constexpr bool is_communication(GpuWork work) {
  return work != GpuWork::compute && work != GpuWork::copy;
}
// The part of a forecast step that such work is held against; none: of a collective whose group the
// profiler does not name.
std::optional<StepPart> part_of(GpuWork work);
std::string_view to_text(GpuWork work);  // "tensor comm", "all-reduce"

// The pass of a kernel of attention; helpers that prepare or convert for it have neither.
enum class AttentionPass : std::uint8_t { unknown, forward, backward };

// The format of the numbers that a product multiplies, as far as its name tells: of 8 bits or
// fewer, or of more.
enum class ProductFormat : std::uint8_t { unknown, narrow, wide };

struct ProfiledWork {
  GpuWork kind{};
  std::int64_t stream = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  KernelClass sort = KernelClass::others;  // class of a computation, by its name
  AttentionPass attention = AttentionPass::unknown;
  ProductFormat format = ProductFormat::unknown;
  std::uint32_t group = 0;    // communication: Profile::groups[group - 1]; 0: not said
  std::int64_t elements = 0;  // communication: sent by this rank; 0: not said
  std::int64_t source = -1, destination = -1;  // message: ranks as numbered in its group
};

// The ranks that communicate with each other, as the trace lists them.
struct ProfiledGroup {
  std::string name;       // as told, ranks included: that of the same group in another rank's trace
  GpuWork kind{};         // its parallelism; other_comm: not told
  std::int64_t size = 0;  // ranks; 0: not said
  friend bool operator==(const ProfiledGroup&, const ProfiledGroup&) = default;
};

struct ProfiledStep {
  std::string name;
  std::int64_t start_ns = 0, end_ns = 0;
};

struct Profile {
  std::optional<std::int64_t> rank, world_size;
  std::vector<ProfiledWork> work;
  std::vector<ProfiledStep> steps;  // as marked; may be empty
  std::vector<ProfiledGroup> groups;
  std::string device;                // the driver's name of the GPU; empty: not said
  std::vector<std::string> formats;  // formats of communicated numbers ("BFloat16"), sorted
};

// The times of a step. Every nanosecond counts once: as computing, else communicating, else
// copying, else idle. A kernel of a message lasts from when its rank asks for it; it communicates
// at the end of that, for as long as the shortest message of as many elements between the same
// ranks on the same stream, and waits before. Where a trace names no elements all of it counts.
struct StepBreakdown {
  std::string name;
  units::Seconds time;
  std::array<units::Seconds, gpu_works> exposed{};
  units::Seconds idle;
  units::Seconds communicating, hidden;  // communication in all, and its part under computation
  units::Seconds waiting;                // part of `idle` in which a message waited
};

// The work of a stream over all steps.
struct StreamBreakdown {
  std::int64_t stream = 0;
  std::int64_t works = 0;
  units::Seconds busy;
  GpuWork mostly{};
};

struct Breakdown {
  std::vector<StepBreakdown> steps;  // by start
  std::size_t typical = 0;           // index of the step with the median time
  std::vector<StreamBreakdown> streams;
};

// Returns the marked steps by start, each ending where the next begins; without marks, one step,
// "whole trace", from the first work to the last. The profile must have work.
std::vector<ProfiledStep> steps_of(const Profile& profile);

// A profile without marked steps is one step from its first work to its last. Steps that overlap
// end where the next begins. O(work log work). Throws std::invalid_argument if there is no work.
Breakdown break_down(const Profile& profile);

}  // namespace forecast
