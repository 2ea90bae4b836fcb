// SPDX-License-Identifier: Apache-2.0
// A real run's snapshot of memory, alone or beside a forecast.
#pragma once
#include <string>
#include <string_view>

#include "forecast/forecast.hpp"
#include "forecast/memory_snapshot.hpp"
#include "report/style.hpp"

namespace report {

struct SnapshotReport {
  std::string file;
  const forecast::MemorySnapshot& snapshot;
  // The forecast beside the snapshot, if given: both or none.
  const forecast::Scenario* scenario = nullptr;
  const forecast::Forecast* forecast = nullptr;
};

// The most bytes allocated and reserved on each device, beside the forecast's fullest stage.
std::string snapshot_text(const SnapshotReport& report, const TextOptions& options = {});

// { "file", "settings", "devices": [ { "reserved_bytes", "allocated_bytes", "requested_bytes",
// "most_reserved_bytes", "most_requested_bytes", "events", "out_of_memory" } ], "segments": number,
// "against": the document of simulate --json, or null }.
std::string snapshot_json(const SnapshotReport& report, std::string_view version);

}  // namespace report
