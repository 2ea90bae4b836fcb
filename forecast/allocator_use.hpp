// SPDX-License-Identifier: Apache-2.0
// Private to the room: one rank's memory as the caching allocator holds it.
#pragma once
#include <cstdint>

#include "allocator/settings.hpp"
#include "forecast/forecast.hpp"
#include "strategies/lowered.hpp"

namespace forecast {

// Replays an actor's steps through the caching allocator, until the allocator's state recurs or
// allocator::most_states steps were played. O(events of the steps played · log blocks)
AllocatorUse allocator_use(const Scenario& scenario, const strategies::Lowered& lowered,
                           std::uint32_t actor);

allocator::Settings settings_of(const strategies::AllocatorSettings& settings);
// The bytes that the allocator may take: the device's memory without the part that lies outside the
// allocator.
allocator::Limits limits_of(const Scenario& scenario, const strategies::ActorFacts& actor);

}  // namespace forecast
