// SPDX-License-Identifier: Apache-2.0
// Zero Bubble Pipeline Parallelism (Qi et al. 2023, arXiv 2401.10241): pass times as its authors
// profiled them (Table 9), the bubble rates that they compute from these (Table 5) and the
// throughput that they measured (Table 4). The test takes the model of computation out of the
// comparison and leaves the schedule.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "forecast/forecast.hpp"
#include "scenarios/published.hpp"
#include "strategies/pipeline.hpp"
#include "tests/catch.hpp"

namespace zero_bubble_spec {

using namespace strategies;

namespace {

// The milliseconds of one microbatch on one stage: forward, input and weight gradient, message.
struct Profile {
  const char* model;
  int stages, microbatches;
  double forward, backward, weight, message;
  // Bubble rates of Table 5: 1F1B, interleaved 1F1B, ZB-1p.
  double one_f_one_b, interleaved, zb_1p;
};
constexpr std::array profiles{
    Profile{"1.5B", 8, 24, 18.522, 18.086, 9.337, 0.601, 0.2431, 0.1055, 0.1585},
    Profile{"1.5B", 8, 32, 18.513, 18.086, 9.331, 0.626, 0.1985, 0.0818, 0.1242},
    Profile{"1.5B", 8, 64, 18.546, 18.097, 9.321, 0.762, 0.1240, 0.0443, 0.0674},
    Profile{"6.2B", 8, 24, 29.718, 29.444, 19.927, 0.527, 0.2347, 0.0808, 0.1323},
    Profile{"6.2B", 8, 32, 29.802, 29.428, 19.530, 0.577, 0.1898, 0.0628, 0.1045},
    Profile{"6.2B", 8, 64, 29.935, 29.621, 19.388, 0.535, 0.1091, 0.0320, 0.0554},
    Profile{"14.6B", 16, 48, 11.347, 11.248, 8.132, 0.377, 0.2552, 0.1104, 0.1397},
    Profile{"14.6B", 16, 64, 11.307, 11.254, 8.101, 0.379, 0.2082, 0.0852, 0.1088},
    Profile{"14.6B", 16, 128, 11.325, 11.308, 8.109, 0.378, 0.1251, 0.0445, 0.0576},
    Profile{"28.3B", 32, 96, 10.419, 10.207, 7.715, 0.408, 0.2646, 0.1493, 0.1421},
    Profile{"28.3B", 32, 128, 10.408, 10.204, 7.703, 0.408, 0.2168, 0.1164, 0.1106},
    Profile{"28.3B", 32, 256, 10.402, 10.248, 7.698, 0.460, 0.1352, 0.0624, 0.0594}};

// Seconds from the first start to the last end, or of the longest stage. `blocking`: a message
// occupies the stage that sends it instead of travelling beside its next pass.
double played(const Profile& profile, ScheduleKind schedule, int chunks, bool blocking = false) {
  const auto ticks = [](double ms) { return static_cast<sim::Picoseconds>(ms * 1e9 + 0.5); };
  const double sent = blocking ? profile.message * chunks : 0;
  const PassTimes times{ticks(profile.forward + sent), ticks(profile.backward + sent),
                        ticks(profile.weight), blocking ? 0 : ticks(profile.message)};
  const auto layout = layout_of(schedule, profile.stages, chunks);
  const auto order = order_of({schedule,
                               profile.stages,
                               chunks,
                               profile.microbatches,
                               chunk_times(layout, times),
                               times.latency,
                               {}});
  const auto run = run_pipeline(order, layout, profile.microbatches, times);
  std::map<int, std::pair<sim::Picoseconds, sim::Picoseconds>> spans;
  sim::Picoseconds makespan = 0, longest = 0;
  for (const auto& op : run.operations) {
    auto& [first, last] = spans.try_emplace(op.stage, op.start, op.end).first->second;
    first = std::min(first, op.start);
    last = std::max(last, op.end);
    makespan = std::max(makespan, last);
    longest = std::max(longest, last - first);
  }
  const bool zero_bubble = memory_limit(schedule, 1).has_value();
  return static_cast<double>(zero_bubble ? longest : makespan) * 1e-12;
}

double bubble_rate(const Profile& profile, ScheduleKind schedule, int chunks = 1) {
  const auto work =
      1e-3 * profile.microbatches * (profile.forward + profile.backward + profile.weight);
  return 1 - work / played(profile, schedule, chunks);
}

// The measured seconds of a row of Table 4, and the forecast seconds of its step's end: the
// optimizer and the reduction of the tied embedding.
struct StepParts {
  double measured, end;
  int chunks;
};
StepParts row_of(const Profile& profile, const std::string& name) {
  static const auto dataset = scenarios::load_dataset(
      std::filesystem::path(STEPCAST_SOURCE_DIR) / "scenarios/published/zero_bubble_table4.yaml");
  const auto id = std::string("zb_t4_") + profile.model + "_" + name + "_m" +
                  std::to_string(profile.microbatches);
  const auto row = std::ranges::find(dataset.rows, id, &scenarios::PublishedRow::id);
  REQUIRE(row != dataset.rows.end());
  auto scenario = *row->scenario;
  scenario.software.post_validation = false;
  const auto f = forecast::simulate(scenario, {.timeline = true});
  std::int64_t drained = 0;
  for (const auto& slice : f.timeline.slices)
    if (slice.kind.starts_with("backward")) drained = std::max(drained, slice.end_ps);
  return {row->measured_step_time_s, f.step.time.value - static_cast<double>(drained) * 1e-12,
          static_cast<int>(scenario.plan.virtual_stages)};
}

// The least and the most relative error, over all profiles, of the played passes and the step's
// end.
struct Range {
  double least = INFINITY, most = -INFINITY;
};
Range errors(const char* name, ScheduleKind schedule, bool blocking) {
  Range range;
  for (const auto& profile : profiles) {
    const auto row = row_of(profile, name);
    const auto step = played(profile, schedule, row.chunks, blocking) + row.end;
    range.least = std::min(range.least, step / row.measured - 1);
    range.most = std::max(range.most, step / row.measured - 1);
  }
  return range;
}

}  // namespace

TEST_CASE("1F1B and ZB-1p have the bubble rates that the authors compute, to the last digit") {
  for (const auto& profile : profiles) {
    CAPTURE(profile.model, profile.microbatches);
    CHECK(std::abs(bubble_rate(profile, ScheduleKind::one_f_one_b) - profile.one_f_one_b) < 6e-5);
    CHECK(std::abs(bubble_rate(profile, ScheduleKind::zb_h1) - profile.zb_1p) < 6e-5);
  }
}

TEST_CASE("interleaved 1F1B has the authors' bubble rate to 0.4 points: p messages more") {
  for (const auto& profile : profiles) {
    CAPTURE(profile.model, profile.microbatches);
    const auto rate =
        bubble_rate(profile, ScheduleKind::interleaved, row_of(profile, "1F1B-I").chunks);
    CHECK(rate > profile.interleaved);
    CHECK(rate < profile.interleaved + 0.004);
  }
}

// The forecast misses by more than the 3 % that the passes promise. Steps were measured longer, by
// a share that hardly depends on the schedule. The authors' own bubble rates leave the same rest,
// so it is no bubble: their passes took longer in the pipeline than in the profile. Throughput is
// printed to two or three digits, which is an error of up to 0.7 %.
TEST_CASE("with the optimizer and a reduction, 1F1B and ZB-1p are forecast 2 to 7 % too short") {
  const auto plain = errors("1F1B", ScheduleKind::one_f_one_b, false);
  CHECK(plain.least > -0.07);
  CHECK(plain.most < -0.02);
  const auto zero = errors("ZB-1p", ScheduleKind::zb_h1, false);
  CHECK(zero.least > -0.07);
  CHECK(zero.most < -0.035);
}

// Megatron's interleaved schedule waits for each message, so its 2v messages a microbatch occupy
// the stage. That halves the gap, and leaves the rest that other schedules have.
TEST_CASE("interleaved 1F1B falls short by 6 to 13 %; with messages that block, by 2 to 8 %") {
  const auto beside = errors("1F1B-I", ScheduleKind::interleaved, false);
  CHECK(beside.least > -0.13);
  CHECK(beside.most < -0.06);
  const auto blocking = errors("1F1B-I", ScheduleKind::interleaved, true);
  CHECK(blocking.least > -0.08);
  CHECK(blocking.most < -0.02);
}

// The authors release most of a microbatch's activations when the input gradient is done, and so
// hold more microbatches in the same memory: their bubbles are nearly zero, ours are not.
TEST_CASE("ZB-2p is within 1 % above and 7 % below, with more bubble than the authors'") {
  const auto range = errors("ZB-2p", ScheduleKind::zb_h2, false);
  CHECK(range.least > -0.07);
  CHECK(range.most < 0.01);
  CHECK(bubble_rate(profiles[2], ScheduleKind::zb_h2) > 0.04);  // the authors have 0.0026
}

}  // namespace zero_bubble_spec
