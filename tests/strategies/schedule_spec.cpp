// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "plans/schedules/in_flight.hpp"
#include "strategies/pipeline.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/recorded.hpp"

namespace schedule_spec {

using namespace strategies;
using recorded::Length, recorded::length_of;

namespace {

Length play(ScheduleKind kind, int p, int v, int m, PassTimes times) {
  const auto layout = layout_of(kind, p, v);
  return length_of(run_pipeline(order_of(kind, p, v, m), layout, m, times), p);
}

Layout loop(int stages, int chunks) { return {Layout::Kind::loop, stages, chunks}; }

}  // namespace

TEST_CASE("1F1B: the last of four stages alternates from the start, the first fills before") {
  constexpr auto F = Pass::forward, B = Pass::backward;
  CHECK(one_f_one_b(3, 4, 3) ==
        std::vector<Slot>{{F, 0, 0}, {B, 0, 0}, {F, 1, 0}, {B, 1, 0}, {F, 2, 0}, {B, 2, 0}});
  CHECK(one_f_one_b(0, 4, 3) ==
        std::vector<Slot>{{F, 0, 0}, {F, 1, 0}, {F, 2, 0}, {B, 0, 0}, {B, 1, 0}, {B, 2, 0}});
}

TEST_CASE("interleaved: two stages, two chunks, two microbatches in the published order") {
  constexpr auto F = Pass::forward, B = Pass::backward;
  // Stage 1 warms up with one chunk's forwards (Narayanan et al. 2021, figure 4).
  CHECK(
      interleaved(1, 2, 2, 2) ==
      std::vector<Slot>{
          {F, 0, 0}, {F, 1, 0}, {F, 0, 1}, {B, 0, 1}, {F, 1, 1}, {B, 1, 1}, {B, 0, 0}, {B, 1, 0}});
}

TEST_CASE("every schedule runs every pass of every microbatch and chunk once, forward first") {
  const int p = GENERATE(1, 2, 3, 4, 8), v = GENERATE(1, 2, 3), m = GENERATE(1, 2, 5, 8, 13);
  for (auto kind : {ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::interleaved}) {
    if (v > 1 && kind != ScheduleKind::interleaved) continue;
    const auto order = order_of(kind, p, v, m);
    CHECK(can_run(order, loop(p, v), m));
    for (const auto& slots : order) {
      std::map<std::pair<int, int>, int> seen;
      for (const auto& slot : slots) {
        auto& state = seen[{slot.chunk, slot.microbatch}];
        CHECK(state == (slot.pass == Pass::forward ? 0 : 1));
        ++state;
      }
      CHECK(seen.size() == static_cast<std::size_t>(v * m));
      CHECK(slots.size() == static_cast<std::size_t>(2 * v * m));
    }
  }
}

TEST_CASE("GPipe and 1F1B take (m + p - 1)(F + B): bubble (p-1)/(m+p-1)") {
  const int p = GENERATE(1, 2, 4, 8), m = GENERATE(8, 9, 32);
  const PassTimes times{10, 13, 7, 0};
  CHECK(play(ScheduleKind::gpipe, p, 1, m, times).makespan == (m + p - 1) * 30);
  CHECK(play(ScheduleKind::one_f_one_b, p, 1, m, times).makespan == (m + p - 1) * 30);
}

TEST_CASE("a slow stage leaves the mean stage idle, and itself busy but for the ends") {
  // A forward pass takes 1 and a backward pass 2 on the first stage, twice that on the second, with
  // two microbatches. Stage 1 works from 1 to 13; stage 0 has its last backward pass from 13 to 15.
  const Layout two{Layout::Kind::loop, 2, 1};
  const auto run = run_pipeline(order_of(ScheduleKind::one_f_one_b, 2, 1, 2), two, 2,
                                PassTimes{1, 2, 0, 0}, {1, 2});
  const auto figures = figures_of(run, 2);
  CHECK(figures.makespan == 15);
  CHECK(figures.span == 15);  // of stage 0
  CHECK(figures.work == std::vector<sim::Picoseconds>{6, 12});
  CHECK(figures.bubble_fraction == Approx((9.0 + 3.0) / 2 / 15));
  CHECK(figures.bubble_fraction_max_stage == Approx(3.0 / 15));
}

TEST_CASE("interleaved with v chunks takes m(F+B) + (p-1)(F+B)/v") {
  const int p = GENERATE(2, 4, 8), v = GENERATE(2, 3), rounds = GENERATE(1, 4);
  const int m = rounds * p;
  const PassTimes times{12, 12, 12, 0};
  CHECK(play(ScheduleKind::interleaved, p, v, m, times).makespan == 36 * m + (p - 1) * 36 / v);
}

TEST_CASE(
    "GPipe holds m, 1F1B stage s holds min(m, p-s), interleaved stage 0 min(mv, "
    "2(p-1)+(v-1)p+1)/v") {
  const int p = GENERATE(2, 4, 8), m = GENERATE(8, 16);
  for (int s = 0; s < p; ++s) {
    CHECK(peak_in_flight(gpipe(m), 1) == m);
    CHECK(peak_in_flight(one_f_one_b(s, p, m), 1) == std::min(m, p - s));
  }
  for (int v : {2, 4})
    CHECK(peak_in_flight(interleaved(0, p, v, m), v) ==
          static_cast<double>(std::min(m * v, 2 * (p - 1) + (v - 1) * p + 1)) / v);
}

TEST_CASE("1F1B pays latency C on its zigzag: 2C((p-1)m/p + p-2) beyond the makespan without") {
  const int p = GENERATE(2, 4, 8), rounds = GENERATE(1, 2, 4), C = GENERATE(1, 6);
  const int m = rounds * p;
  const auto without = play(ScheduleKind::one_f_one_b, p, 1, m, {12, 12, 12, 0}).makespan;
  const auto with = play(ScheduleKind::one_f_one_b, p, 1, m, {12, 12, 12, C}).makespan;
  CHECK(with - without == 2 * C * ((p - 1) * m / p + p - 2));
}

TEST_CASE("interleaved needs several live vectors: four stages, two chunks hold (7,4) or (8,3)") {
  CHECK(in_flight_vectors(interleaved(0, 4, 2, 16), 2) ==
        std::vector<std::vector<int>>{{7, 4}, {8, 3}});
  CHECK(in_flight_vectors(one_f_one_b(0, 4, 16), 1) == std::vector<std::vector<int>>{{4}});
}

TEST_CASE("passes of a pair take turns: together they hold no more than before or behind them") {
  const std::vector<Slot> slots{{Pass::forward, 0, 0},
                                {Pass::forward, 1, 0, true},
                                {Pass::backward, 0, 0, false},
                                {Pass::backward, 1, 0, false}};
  CHECK(in_flight_vectors(slots, 1) == std::vector<std::vector<int>>{{2}});
  CHECK(least_in_flight_vectors(slots, 1) == std::vector<std::vector<int>>{{1}});
  for (const auto& alone : {gpipe(4), one_f_one_b(0, 4, 16), interleaved(0, 2, 1, 4)})
    CHECK(least_in_flight_vectors(alone, 1) == in_flight_vectors(alone, 1));
}

TEST_CASE("impossible schedules are refused with the reason") {
  CHECK_THROWS_WITH(order_of(ScheduleKind::gpipe, 0, 1, 4), "a pipeline needs at least one stage");
  CHECK_THROWS_WITH(order_of(ScheduleKind::gpipe, 2, 1, 0), "a step needs at least one microbatch");
  CHECK_THROWS_WITH(order_of(ScheduleKind::interleaved, 2, 0, 4),
                    "a stage needs at least one model chunk");
  CHECK_THROWS_WITH(order_of(ScheduleKind::one_f_one_b, 2, 2, 4),
                    "only the interleaved schedule runs several chunks per stage");
  // A stage whose order has the backward pass before the forward pass can never begin.
  const Order knot{{{Pass::backward, 0, 0}, {Pass::forward, 0, 0}}};
  CHECK_THROWS_WITH(run_pipeline(knot, loop(1, 1), 1, {1, 1, 1, 0}),
                    "the schedule's stages wait for each other for ever");
}

TEST_CASE("a shorter last group holds no more than a full one and takes no longer") {
  const int p = GENERATE(2, 4, 8), v = GENERATE(2, 4), m = GENERATE(1, 3, 5, 9, 21, 69);
  const int padded = (m + p - 1) / p * p;
  const auto order = order_of(ScheduleKind::interleaved, p, v, m);
  const auto full = order_of(ScheduleKind::interleaved, p, v, padded);
  for (std::size_t s = 0; s < order.size(); ++s)
    CHECK(peak_in_flight(order[s], v) <= peak_in_flight(full[s], v));
  const PassTimes times{12, 12, 12, 0};
  CHECK(play(ScheduleKind::interleaved, p, v, m, times).makespan <=
        play(ScheduleKind::interleaved, p, v, padded, times).makespan);
}

}  // namespace schedule_spec
