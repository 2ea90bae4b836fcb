// SPDX-License-Identifier: Apache-2.0
// Steps of training as the caching allocator sees them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/caching_allocator.hpp"

namespace allocator {

// Events [begin, end) of a list happen `count` times, one round after the other.
struct Rounds {
  std::size_t begin = 0, end = 0;
  std::int64_t count = 1;
};

// Events that happen in the first step alone, before the event `at` of that step, which is none of
// its rounds.
struct Once {
  Events events;
  std::size_t at = 0;
};

// The events that happen once, and those of every step after them.
struct Timeline {
  Events before, step;
  Rounds rounds = {};  // of the step; a round frees what it allocates, and allocates what it frees
  Once once = {};
};

// An allocation that there was no memory for.
struct Failure {
  enum class Cause : std::uint8_t {
    tensors,    // the tensors, this one included, exceed what there is
    fragments,  // they do not, but no free piece is large enough, and none is a whole segment
  };
  Cause cause = Cause::tensors;
  std::int64_t step = -1;  // from 0 on; -1: before the first
  std::size_t event = 0;   // of the list of the step, in any of its rounds, before it, or of `once`
  TensorId tensor = 0;
  Size requested = 0, allocated = 0, reserved = 0;
  Size limit = 0;         // of what may be reserved
  Size largest_free = 0;  // block that is free in its pool, of its stream
  friend bool operator==(const Failure&, const Failure&) = default;
};

// The allocator after `after` steps is as it was `period` steps before.
struct Recurrence {
  std::int64_t after = 0, period = 0;
  friend bool operator==(const Recurrence&, const Recurrence&) = default;
};

struct Replayed {
  // Counts of the events before the first step, of that step, of later steps, and of all. Peaks and
  // calls of the driver are those since the beginning of each.
  Counts before, first, steady, all;
  std::optional<Recurrence> recurrence;  // absent: none within the steps that were compared
  std::int64_t played = 0;               // steps; the others were found by the recurrence
  std::optional<Failure> failure;        // nothing is played after it
};

// Steps, and rounds of one step, whose states are compared.
inline constexpr std::int64_t most_states = 32;

// Plays `before`, then `step` `steps` times. Where the allocator is after a step as it was after an
// earlier one, the rest repeats and is not played: the result is that of playing all steps but for
// `played` and `recurrence`. Rounds of a step are skipped likewise. States are compared after the
// first `compared` steps or rounds; where none recurs, all are played. `steady` has the most of the
// last period, or of the last step where there is none. `allocator` must be new, and is left as it
// is after the last step. O(events of the steps played · log blocks)
Replayed replay(CachingAllocator& allocator, const Timeline& timeline, std::int64_t steps,
                std::int64_t compared = most_states);

// Plays one list of events. Returns the index of the first event for which there was no memory,
// after which nothing is played, or nothing if all were played.
std::optional<std::size_t> play(CachingAllocator& allocator, const Events& events);

}  // namespace allocator
