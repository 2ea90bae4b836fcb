// SPDX-License-Identifier: Apache-2.0
// Forecasts judged by rules of operators.
#include "forecast/alerts.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/forecast/small_llama.hpp"

namespace alerts_spec {

using namespace units::literals;
using forecast::Alert;
using forecast::AlertFigure;
using forecast::AlertRule;
using forecast::AlertUnit;
using forecast::StepPart;

namespace {

AlertRule rule(AlertFigure figure, AlertRule::Raised raised, double threshold) {
  return {.figure = figure,
          .raised = raised,
          .unit = forecast::facts_of(figure).unit,
          .threshold = threshold};
}

Alert evaluated(const AlertRule& rule, const forecast::Forecast& forecast,
                forecast::Scenario scenario = {}) {
  scenario.alerts = {rule};
  return forecast::alerts_of(scenario, forecast).front();
}

// A step of ten seconds, of which the mean GPU computes six; four are exposed communication or
// bubble on the rank that ends last.
forecast::Forecast ten_seconds() {
  forecast::Forecast f;
  f.step = {.time = 10.0_s, .time_low = 10.0_s, .time_high = 10.0_s};
  f.step.tokens_per_second = 1600;
  f.step.tokens_per_second_per_gpu = 100;
  f.step.mfu = 0.4;
  f.time[StepPart::compute] = 6.0_s;
  f.time[StepPart::tensor_comm] = 0.125_s;
  f.time[StepPart::context_comm] = 0.25_s;
  f.time[StepPart::expert_comm] = 0.5_s;
  f.time[StepPart::pipeline_comm] = 0.625_s;
  f.time[StepPart::data_comm] = 1.0_s;
  f.time[StepPart::bubble] = 1.5_s;
  f.gpus = {.computing = 0.6, .longest_wait = 4.5_s};
  f.pipeline.bubble_fraction = 0.15;
  f.memory.peak = 60.0_GiB;
  f.memory.capacity = 80.0_GiB;
  return f;
}

double value(AlertFigure figure) {
  return *evaluated(rule(figure, AlertRule::Raised::above, 0), ten_seconds()).value;
}

}  // namespace

TEST_CASE("an alert compares its figure of the forecast with its threshold") {
  using enum AlertFigure;
  CHECK(value(gpu_utilisation) == 0.6);
  CHECK(value(memory) == 0.75);
  CHECK(value(communication_overhead) == 0.25);  // 2.5 s of 10 s
  CHECK(value(synchronisation) == 4.5);
  CHECK(value(throughput) == 1600);
  CHECK(value(throughput_per_gpu) == 100);
  CHECK(value(mfu) == 0.4);
  CHECK(value(step_time) == 10);
  CHECK(value(bubble) == 0.15);
  auto size = rule(memory, AlertRule::Raised::above, (72.0_GiB).value);
  size.unit = AlertUnit::bytes;
  CHECK(evaluated(size, ten_seconds()).value == (60.0_GiB).value);
}

TEST_CASE("at its threshold an alert is raised only by a comparison that includes it") {
  using enum AlertRule::Raised;
  const auto state = [](AlertRule::Raised raised, double threshold) {
    return evaluated(rule(AlertFigure::bubble, raised, threshold), ten_seconds()).state;
  };
  const auto quiet = Alert::State::quiet, raised = Alert::State::raised;
  CHECK(state(below, 0.15) == quiet);
  CHECK(state(above, 0.15) == quiet);
  CHECK(state(at_most, 0.15) == raised);
  CHECK(state(at_least, 0.15) == raised);
  CHECK(state(below, 0.16) == raised);
  CHECK(state(above, 0.14) == raised);
  CHECK(state(at_most, 0.14) == quiet);
  CHECK(state(at_least, 0.16) == quiet);
}

TEST_CASE("nodes of a job fail as often as their number over the mean time between failures") {
  forecast::Scenario scenario;
  scenario.cluster = tests::cluster_of(1024, 8, 8);
  auto failures = rule(AlertFigure::node_failure_rate, AlertRule::Raised::above, 0.5 / 86400);
  failures.node_mtbf = 200 * 86400.0_s;
  CHECK(*evaluated(failures, {}, scenario).value * 86400 == Approx(0.64));  // 128 nodes / 200 days
  CHECK(evaluated(failures, {}, scenario).state == Alert::State::raised);
  failures.gpu_mtbf = 2560 * 86400.0_s;
  CHECK(*evaluated(failures, {}, scenario).value * 86400 == Approx(1.04));  // and 1024 / 2560
  failures.node_mtbf.reset();
  CHECK(*evaluated(failures, {}, scenario).value * 86400 == Approx(0.4));
  CHECK(evaluated(failures, {}, scenario).state == Alert::State::quiet);
}

TEST_CASE("a figure that only the running job knows is not simulated, and never raised") {
  for (const auto& facts : forecast::alert_figures()) {
    CAPTURE(facts.name);
    CHECK(&forecast::facts_of(facts.figure) == &facts);
    const auto alert = evaluated(rule(facts.figure, AlertRule::Raised::at_least, 0), ten_seconds());
    const bool needs_more = facts.figure == AlertFigure::node_failure_rate;
    CHECK((alert.state == Alert::State::not_simulated) == (!facts.simulated || needs_more));
    CHECK(alert.value.has_value() == (facts.simulated && !needs_more));
    CHECK(alert.why_not.empty() == alert.value.has_value());
  }
}

TEST_CASE("an alert whose threshold lies inside the step's interval is not certain") {
  using enum AlertRule::Raised;
  auto f = ten_seconds();
  f.step.time_low = 8.0_s;
  f.step.time_high = 16.0_s;
  const auto slow = evaluated(rule(AlertFigure::step_time, above, 12), f);
  CHECK(slow.state == Alert::State::quiet);
  CHECK_FALSE(slow.certain);
  CHECK(*slow.low == 8);
  CHECK(*slow.high == 16);
  CHECK(evaluated(rule(AlertFigure::step_time, above, 17), f).certain);
  CHECK(evaluated(rule(AlertFigure::step_time, above, 7), f).certain);
  const auto rate = evaluated(rule(AlertFigure::throughput, below, 1900), f);
  CHECK(rate.state == Alert::State::raised);
  CHECK_FALSE(rate.certain);
  CHECK(*rate.low == 1000);   // 1600 · 10 s / 16 s
  CHECK(*rate.high == 2000);  // 1600 · 10 s / 8 s
  CHECK_FALSE(evaluated(rule(AlertFigure::memory, above, 0.76), f).low);
}

TEST_CASE("figures with several rules are named once where any is raised") {
  forecast::Scenario scenario;
  using enum AlertRule::Raised;
  scenario.alerts = {rule(AlertFigure::memory, above, 0.7), rule(AlertFigure::memory, above, 0.5),
                     rule(AlertFigure::mfu, above, 0.9), rule(AlertFigure::bubble, above, 0.1)};
  CHECK(forecast::raised_in(forecast::alerts_of(scenario, ten_seconds())) ==
        std::vector<std::string>{"memory", "bubble"});
}

TEST_CASE("one GPU alone computes but for its host's time, and waits for no other GPU") {
  strategies::Plan plan;
  plan.recompute.kind = strategies::Recompute::Kind::full;
  const auto f = forecast::simulate(tests::small_llama(plan));
  CHECK(f.time[StepPart::recompute].value > 0);
  CHECK(f.gpus.longest_wait.value == 0);
  CHECK(f.gpus.computing == Approx((f.time[StepPart::compute] + f.time[StepPart::recompute] +
                                    f.time[StepPart::optimizer]) /
                                   f.step.time));
}

TEST_CASE("all GPUs count as they do when each is simulated; none waits longer than the longest") {
  const auto seed = GENERATE(range(0u, 60u / tests::fewer));
  std::mt19937 random(seed + 900);
  const auto scenario = tests::rough_scenario(random);
  INFO("seed " << seed);
  const auto folded = forecast::simulate(scenario);
  const auto full = forecast::simulate(scenario, {.full = true});
  CHECK(folded.gpus.longest_wait == full.gpus.longest_wait);
  CHECK(folded.gpus.computing == Approx(full.gpus.computing).epsilon(1e-12));
  CHECK(folded.gpus.computing > 0);
  CHECK(folded.gpus.computing <= 1);
  const auto& time = folded.time;
  const auto last = time[StepPart::bubble] + time.communication();
  CHECK(folded.gpus.longest_wait.value >= last.value * (1 - 1e-12));
  for (const auto& stage : folded.pipeline.stages) CHECK(folded.gpus.longest_wait >= stage.bubble);
}

}  // namespace alerts_spec
