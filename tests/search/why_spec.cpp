// SPDX-License-Identifier: Apache-2.0
// The explanation of an answer.
#include <algorithm>

#include "search/why.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace why_spec {

using namespace search;
using namespace units::literals;

namespace {

using forecast::StepPart;

Ranked ranked(std::int64_t tensor, units::Seconds time,
              std::initializer_list<forecast::PartTime> parts) {
  Ranked one;
  one.plan.tensor = tensor;
  one.forecast.step.time = time;
  for (const auto& [part, spent] : parts) one.forecast.time[part] = spent;
  one.forecast.memory.peak = one.forecast.memory.capacity = 1.0_GiB;
  return one;
}

// The explanation of an answer, with the search stopped so that nothing is searched again.
Why of(const Question& question, const Answer& answer) {
  const std::atomic<bool> stop{true};
  return why(question, answer, {.stop = &stop});
}

// A scenario of one GPU and a host without latencies: each kernel takes the time of its memory
// traffic or of its operations.
forecast::Scenario one_gpu() {
  auto s = tests::small_llama();
  s.cluster.node.device.efficiency.kernel_gap = {};
  s.software.launch_forward = s.software.launch_backward = s.software.step_overhead = {};
  return s;
}

Answer answer_of(const Question& question) { return search::search(question, {.top = compared}); }

const Help& help(const Why& why, Resource resource) {
  return *std::ranges::find(why.helps, resource, &Help::resource);
}

}  // namespace

TEST_CASE("the parts in which the next plan is slower sum to its lag, the largest first") {
  Question question{.scenario = one_gpu()};
  Answer answer;
  answer.plans = {
      ranked(1, 8.0_s,
             {{StepPart::compute, 5.0_s}, {StepPart::data_comm, 1.0_s}, {StepPart::bubble, 2.0_s}}),
      ranked(1, 8.5_s, {{StepPart::compute, 8.5_s}}),  // the same degrees
      ranked(
          2, 9.0_s,
          {{StepPart::compute, 5.0_s}, {StepPart::tensor_comm, 0.5_s}, {StepPart::bubble, 3.5_s}})};
  const auto why = of(question, answer);
  REQUIRE(why.runner);
  CHECK(why.runner->rank == 2);
  CHECK(why.runner->slower == 1.0_s);
  const auto& losses = why.runner->losses;
  REQUIRE(losses.size() == 3);
  CHECK((losses[0].part == StepPart::bubble && losses[0].time == 1.5_s));
  CHECK((losses[1].part == StepPart::data_comm && losses[1].time == -1 * 1.0_s));
  CHECK((losses[2].part == StepPart::tensor_comm && losses[2].time == 0.5_s));
  REQUIRE(why.exposed.size() == 3);
  CHECK(why.exposed[0].part == StepPart::compute);
  CHECK(why.exposed[1].part == StepPart::bubble);
  CHECK(why.memory_changes.empty());
  answer.plans.resize(2);
  CHECK_FALSE(of(question, answer).runner);
  CHECK_THROWS_AS(search::why(question, {}), std::invalid_argument);
}

TEST_CASE("a tenth more of the rate that bounds every kernel takes an eleventh off the step") {
  Question question{.scenario = one_gpu()};
  auto& device = question.scenario.cluster.node.device;
  const auto gains = [&] {
    Answer answer;
    answer.plans.push_back({question.scenario.plan, forecast::simulate(question.scenario), {}});
    return of(question, answer);
  };
  device.memory_bandwidth = {1e24};
  auto why = gains();
  CHECK(why.helps.front().resource == Resource::flops);
  CHECK(why.helps.front().share == Approx(1 - 1 / 1.1).epsilon(1e-3));
  CHECK(help(why, Resource::memory_bandwidth).share == Approx(0).margin(1e-6));
  CHECK(help(why, Resource::node_links).gain.value == 0);
  CHECK(help(why, Resource::network).gain.value == 0);
  device.memory_bandwidth = {2e12};
  device.peak.fill({1e24});
  why = gains();
  CHECK(why.helps.front().resource == Resource::memory_bandwidth);
  CHECK(why.helps.front().share == Approx(1 - 1 / 1.1).epsilon(1e-2));
}

TEST_CASE("among links, links that the plan uses help") {
  const auto with = [](const strategies::Plan& plan) {
    Question question{.scenario = tests::small_llama(plan)};
    Answer answer;
    answer.plans.push_back({plan, forecast::simulate(question.scenario), {}});
    return of(question, answer);
  };
  const auto inside = with({.tensor = 8});
  CHECK(help(inside, Resource::node_links).gain.value > 0);
  CHECK(help(inside, Resource::network).gain.value == 0);
  const auto across = with({.tensor = 8, .data = 2});
  CHECK(help(across, Resource::network).gain.value > 0);
}

TEST_CASE("more memory never makes the best plan slower, and less never makes it faster") {
  Question question{.scenario = tests::small_llama()};
  question.space.tensor.most = 2;
  question.space.context.most = 1;
  question.space.schedules = {strategies::ScheduleKind::one_f_one_b};
  auto& scenario = question.scenario;
  scenario.cluster.gpus = 4;
  const auto roomy = answer_of(question);
  // The memory is a little too small for the fastest plan of all.
  const auto& memory = roomy.plans.front().forecast.memory;
  scenario.cluster.memory_fraction = 0.95 * (memory.peak / memory.capacity);
  const auto answer = answer_of(question);
  REQUIRE_FALSE(answer.plans.empty());
  const auto best = answer.plans.front().forecast.step.time;
  const auto why = search::why(question, answer);
  REQUIRE(why.memory_changes.size() == 7);
  CHECK(why.memory_changes.front().change == -0.2);
  CHECK(why.memory_changes.back().change == 0.5);
  std::optional<units::Seconds> before;
  for (const auto& one : why.memory_changes) {
    CAPTURE(one.change);
    if (before) REQUIRE(one.time);
    if (before) CHECK(*one.time <= *before);
    if (one.time) CHECK((one.change > 0 ? *one.time <= best : *one.time >= best));
    before = one.time;
  }
  CHECK(*why.memory_changes.back().time == roomy.plans.front().forecast.step.time);

  auto loose = answer;  // as a search with a wide gap may end
  REQUIRE(loose.plans.size() > 1);
  loose.plans.erase(loose.plans.begin());
  for (const auto& one : search::why(question, loose).memory_changes)
    if (one.change < 0 && one.time) CHECK(*one.time >= loose.plans.front().forecast.step.time);
}

}  // namespace why_spec
