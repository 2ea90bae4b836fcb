// SPDX-License-Identifier: Apache-2.0
// One pipeline schedule as text, JSON and a timeline. Times are in whatever unit the user gave.
#pragma once
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/schedule_waits.hpp"
#include "report/style.hpp"

namespace report {

struct ScheduleStage {
  double work = 0, idle = 0;
  double peak_in_flight = 0;                        // full-stage activations
  std::vector<std::vector<int>> in_flight_vectors;  // each: live microbatches of every chunk
};

struct ScheduleOperation {
  int stage = 0, chunk = 0, microbatch = 0;
  std::string pass;  // "F", "B" (input gradient), "W" (weight gradient), "BW" (both at once)
  double start = 0, end = 0;
  bool paired = false;  // runs together with the next one, which starts and ends with it
};

struct ScheduleReport {
  std::string name;  // "1f1b"; may be empty
  double makespan = 0, span = 0;
  double bubble_fraction = 0, bubble_fraction_max_stage = 0;
  std::vector<ScheduleStage> stages;
  std::vector<ScheduleOperation> operations;  // by (stage, start)
  // The causes of idle time for timelines, if known, in ticks; `ticks` of them are one unit.
  forecast::ScheduleWaits waits;
  double ticks = 1;
  bool in_seconds = false;  // durations were given; else times are in a unit that is not known
};

// The document of `schedule --json`, one line per stage and operation.
// Throws std::domain_error that names the key if a number is not finite.
std::string schedule_json(const ScheduleReport& schedule);

// The figures, the picture and a line per stage; at most 32 stages are drawn.
std::string schedule_text(const ScheduleReport& schedule, const TextOptions& options = {});

// Returns the schedule as a timeline for traces: the earliest start is time zero, and one unit is a
// second, or a millisecond, microsecond or nanosecond if the schedule would otherwise last longer
// than 46 days.
forecast::Timeline schedule_timeline(const ScheduleReport& schedule);

}  // namespace report
