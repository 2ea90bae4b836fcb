// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "forecast/accuracy/correction.hpp"
#include "forecast/accuracy/neighbours.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace correction_spec {

using forecast::Corrections;
using forecast::MeasuredStep;
using forecast::Setting;
using forecast::Similarity;

namespace {

// Forecasts deviate by a tenth, and the 80 % interval reaches 1.2816 deviations to either side.
constexpr double sigma = 0.1;

struct Asked {
  forecast::Scenario scenario = tests::small_llama();
  forecast::Forecast forecast = forecast::simulate(scenario, {.timeline = true, .causes = true});
  Setting here;

  Asked() {
    forecast.step.time_low = std::exp(-1.2816 * sigma) * forecast.step.time;
    forecast.step.time_high = std::exp(1.2816 * sigma) * forecast.step.time;
    here = forecast::setting_of(scenario, forecast);
  }
  // A step measured in that setting, whose logarithm is `log_ratio` above its forecast's.
  MeasuredStep step(const Setting& setting, double log_ratio) const {
    auto step = forecast::measured_step("it", std::exp(log_ratio) * forecast.step.time,
                                        forecast::usual_noise, scenario, forecast);
    step.setting = setting;
    return step;
  }
  forecast::Correction by(const Corrections& corrections) const {
    return forecast::correction_of(scenario, forecast, corrections);
  }
};

Setting on(std::string device, Setting setting) {
  setting.words[0] = std::move(device);
  return setting;
}

Setting doubled(Setting setting, double doublings) {
  setting.numbers[0] += doublings;
  return setting;
}

// The share of a variance of 0.1² that is not noise: 1 - 0.015² / 0.1².
constexpr double shared = 0.9775;

}  // namespace

TEST_CASE("each end of an uneven 80 % interval is 1.28 standard deviations from the forecast") {
  Asked asked;
  auto& step = asked.forecast.step;
  step.time_low = 0.95 * step.time;
  step.time_high = 1.5 * step.time;
  CHECK(forecast::deviations(asked.step(asked.here, std::log(1.5))) ==
        Approx(1.2816).epsilon(1e-4));
  CHECK(forecast::deviations(asked.step(asked.here, std::log(0.95))) ==
        Approx(-1.2816).epsilon(1e-4));
  CHECK(forecast::deviations(asked.step(asked.here, 0)) == 0);
}

TEST_CASE("without measured steps a forecast stays as it is") {
  const Asked asked;
  const auto correction = asked.by({});
  CHECK(correction.factor == 1);
  CHECK(correction.low == Approx(std::exp(-1.2816 * sigma)));
  CHECK(correction.high == Approx(std::exp(1.2816 * sigma)));
  CHECK(correction.from.empty());
}

TEST_CASE("a step measured in the very same scenario moves the forecast there, but for its noise") {
  const Asked asked;
  const auto correction = asked.by({{asked.step(asked.here, 0.2)}, Similarity{.own = 0.3}});
  CHECK(std::log(correction.factor) == Approx(shared * 0.2));
  CHECK(correction.from.front().correlation == 1);
  CHECK(correction.from.front().weight == Approx(shared));
  // A share of 1 - 0.9775² of the variance is left, nearly that of two measurements, 2 · 0.015².
  CHECK(correction.width == Approx(2 * 1.2816 * sigma * std::sqrt(1 - shared * shared)));
  CHECK(correction.width == Approx(2 * 1.2816 * 0.015 * std::sqrt(2)).epsilon(0.01));
}

TEST_CASE("a neighbour's step counts by its correlation, and its own deviation not at all") {
  const Asked asked;
  Similarity similarity{.own = 0.2};
  similarity.doubling[0] = 0.1;
  const auto correction = asked.by({{asked.step(doubled(asked.here, 3), 0.2)}, similarity});
  const double like = 0.8 * std::exp(-0.3);
  CHECK(correction.from.front().correlation == Approx(like));
  CHECK(std::log(correction.factor) == Approx(shared * like * 0.2));
  CHECK(correction.width / correction.width_before ==
        Approx(std::sqrt(1 - std::pow(shared * like, 2))));
}

TEST_CASE("far away the correction fades to none, and the interval to the uncorrected one") {
  const Asked asked;
  Similarity similarity;
  similarity.difference[0] = 50;
  const auto correction = asked.by({{asked.step(on("other", asked.here), 1)}, similarity});
  CHECK(correction.factor == Approx(1));
  CHECK(correction.width == Approx(correction.width_before));
}

TEST_CASE("two measurements of one scenario that differ by their noise meet in the middle") {
  const Asked asked;
  const auto correction =
      asked.by({{asked.step(asked.here, 0.03), asked.step(asked.here, -0.03)}, {}});
  CHECK(correction.factor == Approx(1));
  CHECK(correction.contradiction == 0);
  CHECK(correction.width < correction.width_before / 4);
}

TEST_CASE("measurements that contradict each other widen the interval until it has both") {
  const Asked asked;
  const auto correction =
      asked.by({{asked.step(asked.here, 0.1), asked.step(asked.here, -0.1)}, {}});
  CHECK(std::log(correction.factor) == Approx(0).margin(1e-12));
  // Two of equal weight w have w² · 0.2² of spread, less the square of three deviations of their
  // difference, 2 · 0.015².
  const double weight = correction.from.front().weight;
  CHECK(weight == Approx(0.9775 / 1.9775));
  CHECK(correction.contradiction == Approx(weight * std::sqrt(0.04 - 9 * 2 * std::pow(0.015, 2))));
  CHECK(std::log(correction.high) > 0.1);
  CHECK(std::log(correction.low) < -0.1);
}

TEST_CASE("contradictions of steps that are not alike widen nothing") {
  const Asked asked;
  Similarity similarity;
  similarity.difference[0] = 50;
  const auto far = on("other", asked.here);
  const auto correction = asked.by({{asked.step(far, 0.3), asked.step(far, -0.3)}, similarity});
  CHECK(correction.width == Approx(correction.width_before));
  // Nor does one step that is far off: no other one contradicts it.
  CHECK(asked.by({{asked.step(asked.here, 1)}, {}}).contradiction == 0);
}

TEST_CASE("an asymmetric interval keeps its shape around the factor") {
  Asked asked;
  asked.forecast.step.time_low = std::exp(-0.05) * asked.forecast.step.time;
  asked.forecast.step.time_high = std::exp(0.15) * asked.forecast.step.time;
  const auto correction = asked.by({{asked.step(asked.here, 0.1)}, {}});
  CHECK(std::log(correction.high / correction.factor) ==
        Approx(3 * std::log(correction.factor / correction.low)));
}

TEST_CASE("steps that agree never widen the interval, and one more never widens it again") {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> word(0, 2);
  std::uniform_real_distribution<double> number(0, 8), share(0, 0.5), error(-0.03, 0.03);
  const Asked asked;
  for (int trial = 0; trial < 200; ++trial) {
    Corrections corrections{{}, Similarity{.own = share(random)}};
    for (auto& one : corrections.similarity.difference) one = share(random);
    for (auto& one : corrections.similarity.doubling) one = share(random) / 4;
    double before = asked.by(corrections).width;
    for (int i = 0; i < 12; ++i) {
      Setting setting = asked.here;
      for (auto& one : setting.words) one = std::to_string(word(random));
      for (auto& one : setting.numbers) one = number(random);
      corrections.steps.push_back(asked.step(setting, error(random)));
      const auto correction = asked.by(corrections);
      CHECK(correction.width <= before * (1 + 1e-9));
      CHECK(correction.low <= correction.factor);
      CHECK(correction.factor <= correction.high);
      before = correction.width;
    }
  }
}

TEST_CASE("the order in which steps are listed does not matter") {
  const Asked asked;
  const auto similarity = forecast::usual_similarity();
  const auto a = asked.step(doubled(asked.here, 1), 0.1), b = asked.step(asked.here, 0.2),
             c = asked.step(on("x", asked.here), -0.1);
  const auto one = asked.by({{a, b, c}, similarity}), other = asked.by({{c, a, b}, similarity});
  CHECK(one.factor == Approx(other.factor).epsilon(1e-12));
  CHECK(one.from.front().weight == Approx(other.from.front().weight).epsilon(1e-12));
  CHECK(one.from.front().measured == b.measured);  // the same scenario weighs most
}

TEST_CASE("in a corrected forecast parts still sum to wholes, and rates fit times") {
  strategies::Plan plan;
  plan.pipeline = 4;
  plan.data = 2;
  Asked asked;
  asked.scenario = tests::small_llama(plan);
  asked.forecast =
      forecast::simulate(asked.scenario, {.timeline = true, .causes = true, .basis = true});
  const auto simulated = asked.forecast;
  auto corrected = simulated;
  forecast::stretch(corrected, 1.37);
  units::Seconds sum;
  for (const auto& facts : forecast::step_parts) sum += corrected.time[facts.part];
  CHECK(corrected.step.time.value == Approx(1.37 * simulated.step.time.value).epsilon(1e-12));
  CHECK(sum.value == Approx(corrected.step.time.value).epsilon(1e-9));
  CHECK(corrected.step.tokens_per_second * corrected.step.time.value ==
        Approx(corrected.step.tokens).epsilon(1e-12));
  CHECK(corrected.step.mfu == Approx(simulated.step.mfu / 1.37));
  CHECK(corrected.memory.peak == simulated.memory.peak);
  units::Seconds path;
  for (const auto& part : corrected.critical_path) path += part.time;
  CHECK(path.value == Approx(corrected.step.time.value).epsilon(1e-9));
  const auto evidence = corrected.basis->total();
  CHECK(static_cast<double>(std::accumulate(evidence.begin(), evidence.end(), std::int64_t{0})) *
            1e-12 ==
        Approx(corrected.step.time.value).epsilon(1e-9));
  REQUIRE_FALSE(corrected.basis->wanted.empty());
  CHECK(corrected.basis->wanted.front().time_ps ==
        std::llround(1.37 * static_cast<double>(simulated.basis->wanted.front().time_ps)));
  for (std::size_t i = 0; i < corrected.pipeline.stages.size(); ++i) {
    const auto& stage = corrected.pipeline.stages[i];
    const auto& causes = *stage.bubble_by_cause;
    const auto all = std::accumulate(causes.begin(), causes.end(), std::int64_t{0});
    CHECK(static_cast<double>(all) * 1e-12 == Approx(stage.bubble.value).margin(2e-12));
  }
  for (const auto& idle : corrected.timeline.idle)
    CHECK(std::accumulate(idle.by_cause.begin(), idle.by_cause.end(), std::int64_t{0}) ==
          idle.end_ps - idle.start_ps);
  const auto& slices = corrected.timeline.slices;
  REQUIRE(slices.size() == simulated.timeline.slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i)
    CHECK(slices[i].end_ps ==
          std::llround(1.37 * static_cast<double>(simulated.timeline.slices[i].end_ps)));
  CHECK(corrected.timeline.end_ps == std::ranges::max(slices, {}, &forecast::Slice::end_ps).end_ps);
}

TEST_CASE("the distance of settings is a metric, and nothing is as like as the same") {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> word(0, 2);
  std::uniform_real_distribution<double> number(0, 8);
  const auto similarity = forecast::usual_similarity();
  const auto any = [&] {
    Setting setting;
    for (auto& one : setting.words) one = std::to_string(word(random));
    for (auto& one : setting.numbers) one = number(random);
    return setting;
  };
  for (int trial = 0; trial < 1000; ++trial) {
    const auto a = any(), b = any(), c = any();
    CHECK(forecast::distance(a, b, similarity) == forecast::distance(b, a, similarity));
    CHECK(forecast::distance(a, c, similarity) <=
          forecast::distance(a, b, similarity) + forecast::distance(b, c, similarity) + 1e-12);
    CHECK(forecast::correlation(a, a, similarity) == 1);
    CHECK(forecast::correlation(a, b, similarity) <= 1 - similarity.own);
  }
}

TEST_CASE("a scenario that takes another simulated time is not the same") {
  const Asked asked;
  auto other = asked.here;
  other.simulated = 2 * other.simulated;
  CHECK(forecast::correlation(asked.here, other, Similarity{.own = 0.3}) == 0.7);
}

TEST_CASE("a fit finds along which dimensions errors differ, and leaves unmeasured ones alone") {
  // All forecasts of a family on a device are off by the same, independently of other devices; the
  // number of GPUs makes no difference, and all have the same software.
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<forecast::Family> families;
  for (int family = 0; family < 40; ++family) {
    auto& runs = families.emplace_back();
    for (const char* device : {"a", "b"}) {
      const double off = normal(random);
      for (int gpus = 0; gpus < 4; ++gpus) {
        forecast::Deviation deviation{.value = off + 0.1 * normal(random)};
        deviation.setting.words[0] = device;
        deviation.setting.numbers[0] = gpus;
        deviation.setting.simulated = {static_cast<double>(gpus)};
        runs.push_back(deviation);
      }
    }
  }
  Similarity usual{.own = 0.15};
  usual.difference.fill(0.25);
  usual.doubling.fill(0.05);
  const auto fitted = forecast::fit_similarity(families, usual);
  CHECK(fitted.difference[0] > 2 * usual.difference[0]);  // device
  CHECK(fitted.difference[2] == usual.difference[2]);     // software
  CHECK(fitted.doubling[0] < usual.doubling[0]);          // gpus
  CHECK(fitted.own < usual.own);
}

namespace {

// A set of four runs, all alike but for the number of GPUs, whose forecasts are `off` too short.
forecast::MeasuredSet set_off_by(const std::string& name, double off) {
  forecast::MeasuredSet set{name, {}};
  for (int i = 0; i < 4; ++i) {
    forecast::MeasuredRun run{{{"a100", "mine"}, "a100", 8, 2048, {}}, {}, {}, {1.0}};
    run.setting.numbers[0] = i;
    run.setting.simulated = run.forecast;
    run.measured = std::exp(off + 0.01 * (i - 1.5)) * run.forecast;
    set.runs.push_back(run);
  }
  return set;
}

}  // namespace

TEST_CASE("where a cluster is off throughout, one measured step takes most of the error away") {
  const auto scores = forecast::score_neighbours(
      {set_off_by("a", 0.1), set_off_by("b", -0.1), set_off_by("c", 0.2), set_off_by("d", -0.2)});
  REQUIRE(scores.size() == 4);
  for (const auto& score : scores) {
    CHECK(score.runs == 4);
    CHECK(score.any.error < 0.5 * score.plain.error);
    CHECK(score.rest.error < 0.5 * score.plain.error);
    CHECK(score.any.width < score.plain.width);
  }
  // The mean of |exp(-0.1 + 0.015) - 1| and so on, over the four runs of the first set.
  const double plain =
      (4 - std::exp(-0.085) - std::exp(-0.095) - std::exp(-0.105) - std::exp(-0.115)) / 4;
  CHECK(scores.front().plain.error == Approx(plain));
  CHECK(forecast::mean_of(scores).runs == 16);
}

}  // namespace correction_spec
