// SPDX-License-Identifier: Apache-2.0
// Private to the room: one rank's memory as the caching allocator holds it.
#pragma once
#include <cstdint>

#include "allocator/settings.hpp"
#include "forecast/forecast.hpp"
#include "strategies/lowered.hpp"

namespace forecast {

// What an actor's steps make of the allocator: they are played until its state recurs, or
// allocator::most_states of them. O(events of the steps played · log blocks)
AllocatorUse allocator_use(const Scenario& scenario, const strategies::Lowered& lowered,
                           std::uint32_t actor);

allocator::Settings settings_of(const strategies::AllocatorSettings& settings);
// What the allocator may have: the device's memory beside what lies outside of it.
allocator::Limits limits_of(const Scenario& scenario, const strategies::ActorFacts& actor);

}  // namespace forecast
