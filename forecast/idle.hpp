// SPDX-License-Identifier: Apache-2.0
// Causes of idle time of stages, and the critical path of the step.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace forecast {

// The cause of a stage's rank being idle, instant by instant: follow what held back the next work,
// and what held back that, to the work under way at the instant. If this is
//   a message, or a collective among others: communication;
//   a host, a data loader, a copy from or to a host, or the launch of a kernel: host;
//   a pass of another rank of the same stage, which came later to where they meet: what made it
//     late, going back to the origin of its wait: communication for as long as messages that only
//     it waited for lasted; straggler for the rest;
//   a pass of another stage, before the idle rank's first backward pass (warm-up) or after its last
//     forward pass (drain): straggler for the share by which a GPU that straggles stretches it; of
//     the rest imbalance for the share by which passes of that sort take longer on that stage than
//     on the mean one; and what is left is the phase's own;
//   a pass of another stage, between: as the origin of the wait, the first on the chain that was
//     busy before it: a GPU that straggles, a lane of messages, else imbalance;
//   an optimizer step of another stage, or the next step's turn where steps overlap: imbalance.
// Inside of passes, where no interval is told apart: expert_imbalance, the wait of the mean rank of
// an expert-parallel group for the fullest, which has more token copies (strategies/experts.hpp).
enum class IdleCause : std::uint8_t {
  warm_up,
  drain,
  imbalance,
  straggler,
  communication,
  host,
  expert_imbalance
};
inline constexpr std::size_t idle_causes = 7;
inline constexpr std::size_t interval_causes = 6;  // the first: those of intervals
std::string_view to_text(IdleCause cause);         // "warm-up"

using IdleByCause = std::array<std::int64_t, idle_causes>;  // picoseconds, indexed by IdleCause

inline constexpr std::size_t no_slice = std::numeric_limits<std::size_t>::max();

// Something that was waited for.
struct Awaited {
  std::size_t slice = no_slice;  // index into Timeline::slices; no_slice: its rank is not drawn
  int stage = 0;
  std::int64_t rank = 0;
  std::string_view lane;  // a slice's; "host": a launch, or a partner that was not there
  std::string name;       // a slice's; "" on lane "host"
  std::int64_t start_ps = 0, end_ps = 0;
};

// An interval in which a stage's rank neither computed nor waited for communication of its own. The
// intervals of a stage and its expert_imbalance sum to its bubble.
struct Idle {
  int stage = 0;
  std::int64_t rank = 0;
  std::int64_t start_ps = 0, end_ps = 0;
  IdleCause cause{};             // cause of most of it; of equal ones the first
  IdleByCause by_cause{};        // sums to end - start
  std::size_t until = no_slice;  // the slice that it waits to begin; no_slice: none, the step ends
  // The awaited work, the work that this waited for, and so on, latest first, back to the work
  // under way when the interval began, on to the origin, or to the step's begin. Empty: the next
  // step's turn.
  std::vector<Awaited> chain;
};

}  // namespace forecast
