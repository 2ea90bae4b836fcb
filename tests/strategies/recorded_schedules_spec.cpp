// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/in_flight.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/recorded.hpp"

namespace recorded_schedules_spec {

using namespace strategies;
using recorded::length_of, recorded::Recording;

namespace {

bool searched(ScheduleKind kind) { return memory_limit(kind, 1).has_value(); }

struct Played {
  recorded::Length length;
  std::vector<double> peaks;
  double most() const { return *std::ranges::max_element(peaks); }
};

Played play(const Recording& row) {
  const auto layout = layout_of(row.kind, row.stages, row.chunks);
  const auto order = order_of({row.kind,
                               row.stages,
                               row.chunks,
                               row.microbatches,
                               chunk_times(layout, row.times, row.slow),
                               row.times.latency,
                               {}});
  Played played;
  played.length =
      length_of(run_pipeline(order, layout, row.microbatches, row.times, row.slow), row.stages);
  for (const auto& slots : order) played.peaks.push_back(peak_in_flight(slots, layout.parts()));
  return played;
}

std::string letters(const Slot& slot) {
  return std::string(1, "FBIW"[static_cast<int>(slot.pass)]) + std::to_string(slot.microbatch) +
         "ab"[slot.chunk];
}

}  // namespace

TEST_CASE("fixed schedules equal the recorded ones in all six cost cases: times and memory") {
  int rows = 0;
  for (const auto& cells : recorded::rows_of("pipeline_schedules.csv")) {
    const auto row = recorded::row_of(cells);
    if (searched(row.kind)) continue;
    INFO(row.text);
    const auto found = play(row);
    CHECK(found.length.makespan == row.length.makespan);
    CHECK(found.length.span == row.length.span);
    CHECK(found.peaks == row.peaks);
    ++rows;
  }
  CHECK(rows == 456);
}

TEST_CASE("searched schedules hold no more than the recorded ones") {
  int rows = 0;
  for (const auto& cells : recorded::rows_of("pipeline_schedules.csv")) {
    const auto row = recorded::row_of(cells);
    if (!searched(row.kind)) continue;
    INFO(row.text);
    CHECK(play(row).most() <= *std::ranges::max_element(row.peaks));
    ++rows;
  }
  CHECK(rows == 378);
}

TEST_CASE("searched schedules are no longer than the recorded ones, in makespan and in span") {
  int rows = 0;
  for (const auto& cells : recorded::rows_of("pipeline_schedules.csv")) {
    const auto row = recorded::row_of(cells);
    if (!searched(row.kind)) continue;
    INFO(row.text);
    const auto found = play(row).length;
    CHECK(found.makespan <= row.length.makespan);
    CHECK(found.span <= row.length.span);
    ++rows;
  }
  CHECK(rows == 378);
}

TEST_CASE("fixed schedules hold the recorded vectors of live chunks") {
  int rows = 0;
  for (const auto& cells : recorded::rows_of("pipeline_in_flight.csv")) {
    const int p = std::stoi(cells[1]), m = std::stoi(cells[2]), v = std::stoi(cells[3]);
    const auto kind = recorded::kind_named(cells[0]);
    std::string vectors;
    for (const auto& slots : order_of(kind, p, v, m)) {
      vectors += vectors.empty() ? "" : ";";
      std::string stage;
      for (const auto& vector : in_flight_vectors(slots, layout_of(kind, p, v).chunks)) {
        stage += stage.empty() ? "" : " ";
        for (std::size_t c = 0; c < vector.size(); ++c)
          stage += (c ? "/" : "") + std::to_string(vector[c]);
      }
      vectors += stage;
    }
    INFO(cells[0] << ' ' << p << ' ' << v << ' ' << m);
    CHECK(vectors == cells[4]);
    ++rows;
  }
  CHECK(rows == 76);
}

TEST_CASE("DualPipe and DualPipe-V run their passes in the recorded order") {
  int rows = 0;
  for (const auto& cells : recorded::rows_of("dualpipe_orders.csv")) {
    const int p = std::stoi(cells[1]), m = std::stoi(cells[2]), stage = std::stoi(cells[3]);
    const auto slots = cells[0] == "dualpipe" ? dualpipe(stage, p, m) : dualpipe_v(stage, p, m);
    std::string text;
    bool joined = true;
    for (const auto& slot : slots) {
      text += (joined ? "" : " ") + letters(slot) + (slot.paired ? "+" : "");
      joined = slot.paired;
    }
    INFO(cells[0] << ' ' << p << ' ' << m << ' ' << stage);
    CHECK(text == cells[4]);
    ++rows;
  }
  CHECK(rows == 68);
}

}  // namespace recorded_schedules_spec
