// SPDX-License-Identifier: Apache-2.0
// Plans whose tensors fit, but not in the pieces that the caching allocator has.
#include <algorithm>
#include <string>
#include <vector>

#include "forecast/accuracy/memory_spread.hpp"
#include "forecast/forecast.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace fragments_spec {

namespace {

using units::Bytes;
using namespace units::literals;

forecast::Scenario on_device_of(Bytes memory) {
  auto s = tests::small_llama({.data = 4, .micro_batch = 4});
  s.model.vocab = 50000;
  s.training.sequence_length = s.model.max_sequence = 2048;
  s.cluster.node.device.memory = s.cluster.node.device.usable_memory = memory;
  return s;
}

// The room for the allocator's segments.
Bytes room_of(const forecast::Memory& memory) {
  const auto& stage = memory.stages[static_cast<std::size_t>(memory.peak_stage)];
  return stage.capacity - stage.communication - stage.framework;
}

bool warns_of(const forecast::Forecast& forecast, const std::string& words) {
  return std::ranges::any_of(forecast.warnings, [&](const std::string& warning) {
    return warning.find(words) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("a plan that lacks pieces counts as fitting if two per cent more room would have them") {
  int fitting = 0, refused = 0;
  for (double gib = 7.0; gib < 7.2; gib += 0.02) {
    CAPTURE(gib);
    const auto forecast = forecast::simulate(on_device_of(gib * 1.0_GiB), {});
    const auto& memory = forecast.memory;
    REQUIRE(memory.allocator);
    REQUIRE(memory.allocator->failure);
    CHECK(memory.allocator->failure->by_fragments);
    CHECK(memory.peak <= memory.capacity);
    CHECK(memory.fits == (memory.allocator->least_room <= 1.02 * room_of(memory)));
    CHECK(warns_of(forecast, " free in pieces of at most "));
    CHECK(warns_of(forecast, "counts as fitting: 2 % more memory would do") == memory.fits);
    ++(memory.fits ? fitting : refused);
  }
  CHECK(fitting > 0);
  CHECK(refused > 0);
}

TEST_CASE("the least room has a piece for every tensor, and a little less has not") {
  const auto lacking = forecast::simulate(on_device_of(7.1_GiB), {}).memory;
  const auto outside = lacking.capacity - room_of(lacking);
  const auto least = lacking.allocator->least_room + outside;
  const auto fails = [](Bytes memory) {
    const auto replayed = forecast::simulate(on_device_of(memory), {.allocator = true}).memory;
    return replayed.allocator->failure.has_value();
  };
  CHECK_FALSE(fails(least));
  CHECK(fails(0.99 * least));
}

TEST_CASE(
    "a smaller device never has a greater chance of fitting, whatever the replay lacks in it") {
  double chance = 1;
  bool lacked_pieces = false, lacked_bytes = false;
  for (double gib = 8.0; gib > 6.5; gib -= 0.02) {
    CAPTURE(gib);
    const auto memory = forecast::simulate(on_device_of(gib * 1.0_GiB), {.allocator = true}).memory;
    CHECK(forecast::fit_chance_of(memory) <= chance + 1e-9);
    chance = forecast::fit_chance_of(memory);
    if (!memory.allocator->failure) continue;
    (memory.allocator->failure->by_fragments ? lacked_pieces : lacked_bytes) = true;
  }
  CHECK(lacked_pieces);
  CHECK(lacked_bytes);
}

// A tensor of a little more than a power of two bytes takes half as much again.
TEST_CASE("pieces are looked for where tensors take more than four fifths of a device") {
  int sought = 0, unsought = 0;
  for (double gib = 7.0; gib < 10; gib += 0.02) {
    CAPTURE(gib);
    auto s = on_device_of(gib * 1.0_GiB);
    s.training.sequence_length = s.model.max_sequence = 2056;
    s.software.allocator.roundup_power2_divisions = 2;
    const auto replayed = forecast::simulate(s, {.allocator = true}).memory;
    if (!replayed.allocator->failure || !replayed.allocator->failure->by_fragments) continue;
    const auto memory = forecast::simulate(s, {}).memory;
    const auto& stage = memory.stages.front();
    const auto tensors = stage.needed();
    CHECK(memory.allocator.has_value() == (tensors > 0.8 * memory.capacity));
    ++(memory.allocator ? sought : unsought);
  }
  CHECK(sought > 0);
  CHECK(unsought > 0);
}

}  // namespace fragments_spec
