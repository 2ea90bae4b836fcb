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

// Whether the fullest rank's replay ends for want of one piece, though its bytes would fit.
bool fails_by_fragments(const Memory& memory);

// Such a plan counts as fitting if it would fit with this share more room: sizes and orders of
// tensors are not known better, for two of three published runs measured a peak that is further
// from its forecast (accuracy/memory_spread.cpp).
constexpr double unknown_room = 0.02;

allocator::Settings settings_of(const strategies::AllocatorSettings& settings);
// The bytes that the allocator may take: the device's memory without the part that lies outside the
// allocator.
allocator::Limits limits_of(const Scenario& scenario, const strategies::ActorFacts& actor);

}  // namespace forecast
