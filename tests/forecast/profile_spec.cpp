// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <random>

#include "forecast/profile.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"

namespace profile_spec {

using namespace forecast;

namespace {

double on(const StepBreakdown& step, GpuWork kind) {
  return step.exposed[static_cast<std::size_t>(kind)].value;
}

}  // namespace

// compute  AAAA..BBBB......   0-4, 6-10
// all-reduce  ...CCCC.....    3-7
// copy     ......DDDDDDD...   6-13
TEST_CASE("an instant counts once: computing, else communicating, else copying, else idle") {
  const Profile profile{.rank = {},
                        .world_size = {},
                        .work = {{GpuWork::compute, 7, 0, 4},
                                 {GpuWork::compute, 7, 6, 10},
                                 {GpuWork::all_reduce, 20, 3, 7},
                                 {GpuWork::copy, 9, 6, 13}},
                        .steps = {{"one", 0, 5}, {"two", 5, 16}}};
  const auto found = break_down(profile);
  REQUIRE(found.steps.size() == 2);
  CHECK(on(found.steps[0], GpuWork::compute) == Approx(4e-9));
  CHECK(on(found.steps[0], GpuWork::all_reduce) == Approx(1e-9));
  CHECK(found.steps[0].communicating.value == Approx(2e-9));
  CHECK(found.steps[0].hidden.value == Approx(1e-9));
  CHECK(found.steps[0].idle.value == 0);
  CHECK(on(found.steps[1], GpuWork::all_reduce) == Approx(1e-9));
  CHECK(on(found.steps[1], GpuWork::copy) == Approx(3e-9));
  CHECK(found.steps[1].idle.value == Approx(3e-9));
  CHECK(found.typical == 0);  // the lower of the two in the middle
  REQUIRE(found.streams.size() == 3);
  CHECK(found.streams[0].stream == 7);
  CHECK(found.streams[0].works == 2);
  CHECK(found.streams[0].busy.value == Approx(8e-9));
  CHECK(found.streams[2].mostly == GpuWork::all_reduce);
}

// compute  AA.....BB..........CC   0-2, 7-9, 19-21
// receive  ..rrrrr.....wwrrrrr..   2-7, 12-19: the second is 2 longer than the shortest
// receive  ............r........   12-13, of fewer elements
TEST_CASE("a message that takes longer than the shortest alike waits before, which is idle") {
  const auto message = [](std::int64_t start, std::int64_t end, std::int64_t elements) {
    return ProfiledWork{.kind = GpuWork::pipeline_comm,
                        .stream = 20,
                        .start_ns = start,
                        .end_ns = end,
                        .elements = elements};
  };
  Profile profile;
  profile.work = {{GpuWork::compute, 7, 0, 2}, {GpuWork::compute, 7, 7, 9},
                  message(2, 7, 100),          message(12, 19, 100),
                  message(12, 13, 10),         {GpuWork::compute, 7, 19, 21}};
  const auto step = break_down(profile).steps.front();
  CHECK(on(step, GpuWork::pipeline_comm) == Approx(11e-9));  // 5 + 1 + 5
  CHECK(step.idle.value == Approx(4e-9));                    // 9-12 and 13-14
  CHECK(step.waiting.value == Approx(1e-9));                 // 13-14; 12-13 has the other message
  CHECK(step.communicating.value == Approx(11e-9));
  for (auto& work : profile.work) work.elements = 0;  // not said: nothing is told apart
  CHECK(on(break_down(profile).steps.front(), GpuWork::pipeline_comm) == Approx(12e-9));
  CHECK(break_down(profile).steps.front().waiting.value == 0);
}

TEST_CASE("without marks a profile is one step from its first work to its last") {
  const auto found =
      break_down({.rank = {},
                  .world_size = {},
                  .work = {{GpuWork::copy, 1, 50, 60}, {GpuWork::compute, 1, 10, 20}},
                  .steps = {}});
  REQUIRE(found.steps.size() == 1);
  CHECK(found.steps[0].time.value == Approx(50e-9));
  CHECK(found.steps[0].idle.value == Approx(30e-9));
  CHECK_THROWS_AS(break_down({}), std::invalid_argument);
}

TEST_CASE("the parts of every step sum to it, as counted nanosecond by nanosecond") {
  const auto seed = GENERATE(range(0u, 100u / tests::fewer));
  std::mt19937 random(seed);
  const auto upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  Profile profile;
  for (auto left = 1 + upto(30); left > 0; --left) {
    const auto start = upto(200);
    profile.work.push_back(
        {static_cast<GpuWork>(upto(gpu_works - 1)), upto(4), start, start + upto(60)});
  }
  for (auto left = upto(4); left > 0; --left) {
    const auto start = upto(250);
    profile.steps.push_back({"step", start, start + upto(80)});
  }
  const auto found = break_down(profile);
  if (profile.steps.empty()) return;
  std::ranges::stable_sort(profile.steps, {}, &ProfiledStep::start_ns);
  for (std::size_t s = 0; s < found.steps.size(); ++s) {
    auto end = profile.steps[s].end_ns;
    if (s + 1 < profile.steps.size()) end = std::min(end, profile.steps[s + 1].start_ns);
    std::array<std::int64_t, gpu_works + 1> counted{};
    std::int64_t hidden = 0;
    for (auto now = profile.steps[s].start_ns; now < end; ++now) {
      std::size_t first = gpu_works;
      bool communicates = false;
      for (const auto& work : profile.work) {
        if (work.start_ns > now || work.end_ns <= now) continue;
        first = std::min(first, static_cast<std::size_t>(work.kind));
        communicates = communicates || is_communication(work.kind);
      }
      ++counted[first];
      if (communicates && first == 0) ++hidden;
    }
    for (std::size_t kind = 0; kind < gpu_works; ++kind)
      CHECK(found.steps[s].exposed[kind].value ==
            Approx(static_cast<double>(counted[kind]) * 1e-9));
    CHECK(found.steps[s].idle.value == Approx(static_cast<double>(counted[gpu_works]) * 1e-9));
    CHECK(found.steps[s].hidden.value == Approx(static_cast<double>(hidden) * 1e-9));
  }
}

}  // namespace profile_spec
