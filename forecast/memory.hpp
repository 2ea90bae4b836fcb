// SPDX-License-Identifier: Apache-2.0
// The device memory of a step, by pipeline rank, and whether the plan fits.
#pragma once
#include <functional>

#include "forecast/forecast.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

// Memory of every pipeline rank: the bytes that it holds throughout, the bytes that the played
// program adds at its peak, and the bytes outside of the allocator; with `replayed`, a replay of
// the allocator on the fullest rank. If tensors nearly fill that rank, the allocator is replayed
// anyway, and the replay kept if it fails. A plan fits if its tensors do, and if with 2 % more room
// no allocation fails. `lowered` may leave out periods that recur; `whole` returns the step with
// nothing left out, for a replay, or null if that is too large; then there is no replay.
Memory memory_of(const Scenario& scenario, const strategies::Lowered& lowered,
                 const std::function<const strategies::Lowered*()>& whole, bool replayed = false);

// The bytes that a process may take of a device with so much usable memory, if `outside` of them
// lie outside the allocator. The pool that XLA takes before the first step does not grow (from
// memory: JAX's notes on GPU memory allocation, XLA_PYTHON_CLIENT_MEM_FRACTION).
units::Bytes room_of(const Scenario& scenario, units::Bytes usable, units::Bytes outside);
// The same of an actor's device, and the bytes of it that lie outside the allocator.
units::Bytes capacity_of(const Scenario& scenario, const strategies::ActorFacts& actor);
units::Bytes outside_of(const Scenario& scenario, const strategies::ActorFacts& actor);

}  // namespace forecast
