// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "forecast/forecast.hpp"
#include "strategies/lowering/lower.hpp"

namespace forecast {

// Memory of every pipeline rank: what it holds throughout, what the played program adds at its
// peak, and what lies outside the allocator; with `replayed`, what the allocator makes of the
// fullest. Where tensors nearly fill that, it is played anyway, and kept where it fails: a plan
// fits if its tensors do and no allocation fails.
Memory memory_of(const Scenario& scenario, const strategies::Lowered& lowered,
                 bool replayed = false);

// The bytes that a process may take of an actor's device, and the bytes of it that lie outside the
// allocator.
units::Bytes capacity_of(const Scenario& scenario, const strategies::ActorFacts& actor);
units::Bytes outside_of(const Scenario& scenario, const strategies::ActorFacts& actor);

}  // namespace forecast
