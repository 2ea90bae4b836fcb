// SPDX-License-Identifier: Apache-2.0
// Private to the sub-room: one step of a real run as several ranks saw it, each by its own clock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "forecast/profile.hpp"
#include "forecast/rank_times.hpp"
#include "forecast/scenario.hpp"

namespace forecast {

inline constexpr std::uint32_t none_seen = std::numeric_limits<std::uint32_t>::max();

struct SeenWork {
  ProfiledWork of;
  StepPart part = StepPart::other;    // the forecast's part of a communication
  std::uint32_t meeting = none_seen;  // index into SeenStep::meetings
};

// A time in which a GPU does one thing: the first computation under way, else a communication, else
// a copy.
struct SeenStretch {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t work = none_seen;  // none: idle
};

struct SeenRank {
  std::int64_t rank = 0;
  std::size_t profile = 0;   // index of its profile
  std::size_t expected = 0;  // index into the forecast's ranks
  std::int64_t start_ns = 0, end_ns = 0;
  std::vector<SeenWork> works;         // works that begin in the step, by start
  std::vector<SeenStretch> stretches;  // cover the step without gaps
};

// A collective or a message, in the traces of those who took part. They leave it at the same
// instant, whatever their clocks say; so the one whose kernel is the shortest came last, and as
// long as its kernel ran, all had come.
struct Meeting {
  std::int64_t transfer_ns = std::numeric_limits<std::int64_t>::max();
  std::uint32_t last = 0, last_work = 0;  // who came last: of SeenStep::ranks, and of its works
  std::uint32_t present = 0;              // ranks that took part and are traced
  bool complete = false;                  // all who took part are traced
};

struct SeenStep {
  std::string name;
  std::vector<SeenRank> ranks;  // by rank
  std::vector<Meeting> meetings;
  units::Seconds time;  // step time of the rank that took longest
};

// The step of median time among those that all profiles have (by name, else counted from the last).
// A profile without a rank has the number of its place. `expected` are the forecast's ranks.
// Throws NothingSeen where a profile has no work, or none in that step.
SeenStep see_step(const std::vector<Profile>& profiles, const Scenario& scenario,
                  const std::vector<RankTimes>& expected);

// The part of the step that a forecast counts a communication in: by its group's name, else the
// only part that the scenario allows.
StepPart part_in(const Scenario& scenario, const ProfiledWork& work, const ProfiledGroup* group);

}  // namespace forecast
