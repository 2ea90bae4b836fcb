// SPDX-License-Identifier: Apache-2.0
// Schedules with split backwards, two directions or a V: closed forms, laws, refusals.
#include <random>

#include "plans/schedules/in_flight.hpp"
#include "plans/schedules/schedule_file.hpp"
#include "tests/catch.hpp"
#include "tests/strategies/recorded.hpp"

namespace split_schedules_spec {

using namespace strategies;
using recorded::Length, recorded::length_of;

namespace {

constexpr std::array searched{ScheduleKind::zb_h1, ScheduleKind::zb_h2, ScheduleKind::zb_v,
                              ScheduleKind::v_half, ScheduleKind::v_min};

int chunks_of(ScheduleKind kind) { return layout_of(kind, 1, 1).kind == Layout::Kind::v ? 2 : 1; }

Length play(ScheduleKind kind, int p, int m, PassTimes times) {
  const auto layout = layout_of(kind, p, chunks_of(kind));
  const auto order =
      order_of({kind, p, chunks_of(kind), m, chunk_times(layout, times), times.latency, {}});
  return length_of(run_pipeline(order, layout, m, times), p);
}

// Whether every pass is there once, and each stage's passes of a microbatch and chunk come in the
// order F, B, W.
bool complete(const std::vector<Slot>& slots, int chunks, int microbatches) {
  std::map<std::pair<int, int>, int> state;
  for (const auto& slot : slots) {
    auto& now = state[{slot.chunk, slot.microbatch}];
    const int needed = slot.pass == Pass::forward ? 0 : slot.pass == Pass::backward_weight ? 2 : 1;
    if (now != needed) return false;
    now = slot.pass == Pass::backward ? 3 : now + 1;
  }
  return state.size() == static_cast<std::size_t>(chunks * microbatches) &&
         std::ranges::all_of(state, [](const auto& each) { return each.second == 3; });
}

}  // namespace

TEST_CASE("V: chunk 0 goes down the stages and chunk 1 comes back up") {
  const auto layout = layout_of(ScheduleKind::zb_v, 4, 2);
  CHECK(virtual_stage_of(1, 0, layout) == 1);
  CHECK(virtual_stage_of(1, 1, layout) == 6);
  CHECK(before({3, 1}, layout) == ChunkPlace{3, 0});  // the turn stays on its device
  CHECK(behind({1, 1}, layout) == ChunkPlace{0, 1});
  CHECK(!before({0, 0}, layout));
  CHECK(!behind({0, 1}, layout));
}

TEST_CASE("mirrored: every virtual stage sits on two devices, one for each direction") {
  const auto layout = layout_of(ScheduleKind::dualpipe, 4, 1);
  CHECK(layout.virtual_stages() == 4);
  CHECK(place_of(1, layout, 0) == ChunkPlace{1, 0});
  CHECK(place_of(1, layout, 1) == ChunkPlace{2, 1});
  CHECK(!before({3, 1}, layout));
  CHECK(before({2, 1}, layout) == ChunkPlace{3, 1});
  CHECK(!behind({0, 1}, layout));
}

TEST_CASE("a place and its virtual stage name each other in every layout") {
  for (auto kind : {ScheduleKind::interleaved, ScheduleKind::v_min, ScheduleKind::dualpipe}) {
    const auto layout = layout_of(kind, 6, 3);
    for (int stage = 0; stage < 6; ++stage)
      for (int chunk = 0; chunk < layout.chunks; ++chunk)
        CHECK(place_of(virtual_stage_of(stage, chunk, layout), layout, chunk) ==
              ChunkPlace{stage, chunk});
  }
}

TEST_CASE(
    "DualPipe takes m(F+B+W) + (p/2-1)(F+2B-W) where F = B = W, DualPipe-V (p-1)/2 for p/2-1") {
  // The authors' bubble is (p/2 - 1) · ((F&B) + (B+W) - 3W), where a pair F&B takes F+B+W.
  const int p = GENERATE(2, 4, 8, 12), rounds = GENERATE(2, 5);
  const int m = rounds * p;
  const PassTimes times{12, 12, 12, 0};
  CHECK(play(ScheduleKind::dualpipe, p, m, times).makespan == 36 * m + (p / 2 - 1) * 24);
  CHECK(play(ScheduleKind::dualpipe_v, p, m, times).makespan == 36 * m + (p - 1) * 12);
}

TEST_CASE("DualPipe holds p + 1 full stages, DualPipe-V p + 1/2") {
  const int p = GENERATE(2, 4, 8, 10);
  for (const auto& slots : order_of(ScheduleKind::dualpipe, p, 1, 4 * p))
    CHECK(peak_in_flight(slots, 1) == p + 1);
  for (const auto& slots : order_of(ScheduleKind::dualpipe_v, p, 2, 4 * p))
    CHECK(peak_in_flight(slots, 2) == p + 0.5);
}

TEST_CASE("ZB-H1 takes m(F+B+W) + (p-1)(F+B-W)") {
  const int p = GENERATE(2, 4, 6, 8, 12), rounds = GENERATE(1, 2, 4);
  const int m = rounds * p;
  CHECK(play(ScheduleKind::zb_h1, p, m, {12, 12, 12, 0}).makespan == 36 * m + (p - 1) * 12);
  CHECK(play(ScheduleKind::zb_h1, p, m, {12, 16, 8, 0}).makespan == 36 * m + (p - 1) * 20);
}

TEST_CASE("ZB-H2's longest stage has no bubble where F = B = W, yet all stages take ZB-H1's time") {
  const int p = GENERATE(2, 4, 6, 8, 12), rounds = GENERATE(2, 4);
  const int m = rounds * p;
  const PassTimes times{12, 12, 12, 0};
  const auto h2 = play(ScheduleKind::zb_h2, p, m, times);
  CHECK(h2.span == 36 * m);
  CHECK(h2.makespan == play(ScheduleKind::zb_h1, p, m, times).makespan);
}

TEST_CASE("ZB-V's longest stage has no bubble where F = B = W, with the memory of 1F1B") {
  const int p = GENERATE(2, 4, 6, 8), m = GENERATE(16, 32);
  CHECK(play(ScheduleKind::zb_v, p, m, {12, 12, 12, 0}).span == 36 * m);
}

TEST_CASE(
    "bubbles where F = B = W, against 1F1B's (p-1)T: a third, none, none, a half, two thirds") {
  // The authors (Qi et al. 2023, 2024) print these bubbles for ZB1P, ZB2P, ZBV, V-Half and V-Min,
  // and O(n) for V-Min, where there is none here. The first is exact; makespans are those where all
  // stages wait for each other.
  const int p = GENERATE(4, 6, 8, 12), m = 4 * p;
  const PassTimes times{12, 12, 12, 0};
  const int T = 36, of_1f1b = (p - 1) * T;
  CHECK(play(ScheduleKind::zb_h1, p, m, times).makespan - m * T == of_1f1b / 3);
  CHECK(play(ScheduleKind::zb_h2, p, m, times).span == m * T);
  CHECK(play(ScheduleKind::zb_v, p, m, times).span == m * T);
  CHECK(play(ScheduleKind::v_half, p, m, times).makespan - m * T <= of_1f1b / 2);
  CHECK(play(ScheduleKind::v_min, p, m, times).makespan - m * T <= of_1f1b * 2 / 3);
}

TEST_CASE("ZB-H1 never takes longer than 1F1B, which holds as much") {
  std::mt19937 random(GENERATE(range(0u, 40u)));
  const auto pick = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  const int p = pick(1, 10), m = pick(1, 24);
  const PassTimes times{pick(1, 20), pick(1, 20), pick(1, 20), pick(0, 1) * pick(0, 20)};
  CHECK(play(ScheduleKind::zb_h1, p, m, times).makespan <=
        play(ScheduleKind::one_f_one_b, p, m, times).makespan);
}

TEST_CASE("activations against 1F1B's p: as many, twice as many, as many, a half, a third") {
  // The limits are those of the same table; a schedule holds at most a microbatch and a third more.
  const int p = GENERATE(4, 6, 8, 12), m = 4 * p;
  const auto held = [&](ScheduleKind kind) {
    double most = 0;
    for (const auto& slots : order_of(kind, p, chunks_of(kind), m))
      most = std::max(most, peak_in_flight(slots, chunks_of(kind)));
    return most;
  };
  CHECK(held(ScheduleKind::zb_h1) == p);
  CHECK(held(ScheduleKind::zb_h2) == 2 * p - 1);
  CHECK(held(ScheduleKind::zb_v) <= p);
  CHECK(held(ScheduleKind::v_half) <= p / 2.0 + 1);
  CHECK(held(ScheduleKind::v_min) <= (p + 4) / 3.0);
}

TEST_CASE("searched schedules are whole, stay inside their memory, and beat no bound") {
  std::mt19937 random(GENERATE(range(0u, 60u)));
  const auto pick = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  const int p = pick(1, 9), m = pick(1, 20);
  for (const auto kind : searched) {
    const int chunks = chunks_of(kind);
    OrderInput input{kind, p, chunks, m, {}, pick(0, 2) * pick(0, 9), {}};
    for (int stage = 0; stage < p; ++stage)
      input.times.push_back({pick(1, 20), pick(1, 20), pick(1, 20)});
    if (pick(0, 1)) input.limit = pick(1, 2 * p);
    const auto layout = layout_of(kind, p, chunks);
    const auto order = order_of(input);
    REQUIRE(can_run(order, layout, m));
    for (const auto& slots : order) {
      CHECK(complete(slots, chunks, m));
      CHECK(peak_in_flight(slots, chunks) <= input.limit.value_or(*memory_limit(kind, p)));
    }
    // With the times of stage 0 on every stage, a full stage takes `chunks` times its chunk.
    const auto& times = input.times.front();
    const auto length = length_of(run_pipeline(order, layout, m,
                                               {chunks * times.forward, chunks * times.backward,
                                                chunks * times.weight, input.latency}),
                                  p);
    const auto work = m * chunks * (times.forward + times.backward + times.weight);
    CHECK(length.makespan >= work);
    CHECK(length.makespan >= p * chunks * (times.forward + times.backward) + times.weight +
                                 2 * (p - 1) * chunks * input.latency);
    CHECK(length.span >= work);
    CHECK(order_of(input) == order);
  }
}

TEST_CASE("DualPipe is whole for every even pipeline and enough microbatches") {
  const int p = GENERATE(2, 4, 6, 10), more = GENERATE(0, 2, 6);
  const int m = 2 * p + more;
  const auto order = order_of(ScheduleKind::dualpipe, p, 1, m);
  CHECK(can_run(order, layout_of(ScheduleKind::dualpipe, p, 1), m));
  for (const auto& slots : order) CHECK(complete(slots, 1, m));
  const auto folded = order_of(ScheduleKind::dualpipe_v, p + 1, 2, m + 2);
  CHECK(can_run(folded, layout_of(ScheduleKind::dualpipe_v, p + 1, 2), m + 2));
  for (const auto& slots : folded) CHECK(complete(slots, 2, m + 2));
}

TEST_CASE("two passes that run together wait for both and take the sum of their times") {
  const auto layout = layout_of(ScheduleKind::dualpipe, 2, 1);
  const auto run = run_pipeline(order_of(ScheduleKind::dualpipe, 2, 1, 4), layout, 4, {2, 3, 4, 1});
  for (std::size_t i = 0; i < run.operations.size(); ++i) {
    const auto& op = run.operations[i];
    if (!op.slot.paired) continue;
    CHECK(op.end - op.start == 9);
    CHECK(run.operations[i + 1].start == op.start);
    CHECK(run.operations[i + 1].end == op.end);
  }
}

TEST_CASE("schedules refuse inputs that they cannot run, with the reason") {
  CHECK_THROWS_WITH(order_of(ScheduleKind::zb_v, 4, 1, 8),
                    "the V schedules run two chunks per stage, not 1");
  CHECK_THROWS_WITH(order_of(ScheduleKind::dualpipe_v, 4, 3, 8),
                    "the V schedules run two chunks per stage, not 3");
  CHECK_THROWS_WITH(order_of(ScheduleKind::dualpipe, 3, 1, 8),
                    "dualpipe needs an even number of stages");
  CHECK_THROWS_WITH(order_of(ScheduleKind::dualpipe, 4, 1, 9),
                    "dualpipe needs an even number of microbatches: half of them go each way");
  CHECK_THROWS_WITH(order_of(ScheduleKind::dualpipe, 4, 1, 6),
                    "dualpipe needs at least two microbatches per stage: 8");
  CHECK_THROWS_WITH(order_of(ScheduleKind::dualpipe_v, 4, 2, 7),
                    "dualpipe-v needs at least two microbatches per stage: 8");
  CHECK_THROWS_WITH(order_of(ScheduleKind::dualpipe, 4, 2, 8),
                    "dualpipe divides no stage into chunks");
  CHECK_THROWS_WITH(order_of(ScheduleKind::zb_h1, 4, 2, 8),
                    "only the interleaved schedule runs several chunks per stage");
  CHECK_THROWS_WITH(order_of({ScheduleKind::one_f_one_b, 4, 1, 8, {}, 0, 4}),
                    "only the zero-bubble schedules take a memory limit");
  CHECK_THROWS_WITH(order_of({ScheduleKind::zb_h1, 4, 1, 8, {}, 0, 0}),
                    "a stage must be able to hold at least one microbatch");
  CHECK_THROWS_WITH(order_of({ScheduleKind::zb_h1, 4, 1, 8, {{1, 1, 1}}, 0, {}}),
                    "pass times are needed for every stage, or for none");
}

namespace {

// Reads an order that has no mistakes.
WrittenOrder read_sound_order(std::string_view csv) {
  return read_order(csv, [](const OrderMistake& wrong) { FAIL(wrong.text); });
}

}  // namespace

TEST_CASE("an order written as CSV is read: a loop with idle cells and split backwards") {
  constexpr auto F = Pass::forward, B = Pass::backward, I = Pass::backward_input,
                 W = Pass::backward_weight;
  const auto written = read_sound_order("0F0,0F1,,0I0,0W0,0B1\n,1F0,1B0,1F1,1B1,\r\n");
  CHECK(written.microbatches == 2);
  CHECK(written.layout == Layout{Layout::Kind::loop, 2, 1});
  CHECK(written.order == Order{{{F, 0, 0}, {F, 1, 0}, {I, 0, 0}, {W, 0, 0}, {B, 1, 0}},
                               {{F, 0, 0}, {B, 0, 0}, {F, 1, 0}, {B, 1, 0}}});
}

TEST_CASE("an order written as CSV is read: a V is told from a loop, pairs run together") {
  const auto v = read_sound_order("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n");
  CHECK(v.layout == Layout{Layout::Kind::v, 2, 2});
  CHECK(can_run(v.order, v.layout, 1));
  CHECK(read_sound_order("0F0,2F0,2B0,0B0\n1F0,3F0,3B0,1B0\n").layout ==
        Layout{Layout::Kind::loop, 2, 2});
  const auto pair = read_sound_order("0F0,(0F1;0B0)OVERLAP_F_B,0B1");
  CHECK(pair.order.front()[1] == Slot{Pass::forward, 1, 0, true});
  CHECK(pair.order.front()[2] == Slot{Pass::backward, 0, 0});
}

TEST_CASE("all mistakes in a written order are named by line and column") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"0F0, 0X0\n\n0B,x",
       "1:6 '0X0' is not a pass; expected STAGE, F, B, I or W, MICROBATCH, e.g. 0F0\n"
       "3:1 '0B' is not a pass; expected STAGE, F, B, I or W, MICROBATCH, e.g. 0F0\n"
       "3:4 'x' is not a pass; expected STAGE, F, B, I or W, MICROBATCH, e.g. 0F0\n"},
      {"0F0,0B0\n\n0F1", "3:1 virtual stage 0 belongs to device 0, not 1\n"},
      {"0F0,,0F0,0B0,0W0,0B1",
       "1:6 virtual stage 0's pass of microbatch 0 runs twice\n"
       "1:14 virtual stage 0's pass of microbatch 0 runs twice\n"
       "1:18 virtual stage 0's pass of microbatch 1 runs before its forward\n"},
      {"0F0,0W0", "1:5 virtual stage 0's pass of microbatch 0 runs before its input gradient\n"},
      {"(0F0;0F1)OVERLAP_F_B",
       "1:1 '(0F0;0F1)OVERLAP_F_B' is not a forward and a whole backward\n"},
      {"(0F0)OVERLAP_F_B",
       "1:1 '(0F0)OVERLAP_F_B' is not a pair; expected e.g. (3F1;4B0)OVERLAP_F_B\n"},
      {"0F0,0I0", "1:1 virtual stage 0 has no weight pass of microbatch 0\n"},
      {"0F1,0B1\n1F0",
       "1:1 virtual stage 0 has no forward of microbatch 0\n"
       "2:1 virtual stage 1 has no backward of microbatch 0\n"},
      {" \n", "1:1 no line holds a pass\n"}};
  for (const auto& [text, says] : cases) {
    INFO(text);
    std::string said;
    read_order(text, [&](const OrderMistake& wrong) {
      said +=
          std::to_string(wrong.line) + ":" + std::to_string(wrong.column) + " " + wrong.text + "\n";
    });
    CHECK(said == says);
  }
}

}  // namespace split_schedules_spec
