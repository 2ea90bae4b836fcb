// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/correction.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "forecast/accuracy/quantile.hpp"

namespace forecast {
namespace {

using Eigen::Index;

double width_of(const Step& step) { return std::log(step.time_high / step.time_low); }

double log_ratio(const MeasuredStep& step) { return std::log(step.measured / step.forecast); }

// Share of the variance of log(measured / forecast) that is no noise.
double shared(double deviation, double noise) {
  if (!(deviation > noise)) return 0;
  return 1 - std::pow(noise / deviation, 2);
}

// Steps that differ by more standard deviations than this contradict each other.
constexpr double contradictory = 3;

struct Kriging {
  Eigen::MatrixXd among;    // correlations of the measured steps, noise included
  Eigen::VectorXd weights;  // of the deviations
  double left = 1;          // share of the variance
};

Kriging kriging_of(const Setting& setting, double deviation, const Corrections& corrections) {
  const auto& [steps, similarity] = corrections;
  const auto size = static_cast<Index>(steps.size());
  Eigen::MatrixXd among = Eigen::MatrixXd::Identity(size, size);
  Eigen::VectorXd to(size), share(size);
  for (Index i = 0; i < size; ++i) {
    const auto& step = steps[static_cast<std::size_t>(i)];
    share(i) = std::sqrt(shared(step.deviation, step.noise));
    to(i) = share(i) * std::sqrt(shared(deviation, usual_noise)) *
            correlation(setting, step.setting, similarity);
    for (Index j = 0; j < i; ++j)
      among(i, j) = among(j, i) =
          share(i) * share(j) *
          correlation(step.setting, steps[static_cast<std::size_t>(j)].setting, similarity);
  }
  Kriging kriging{among, among.ldlt().solve(to)};
  kriging.left = std::clamp(1 - to.dot(kriging.weights), 0.0, 1.0);
  return kriging;
}

// Returns the variance of the factor's logarithm that measured steps add if they contradict each
// other: the sum over all pairs of the product of their weights, times the square of the difference
// of their logarithms as far as it exceeds the square of `contradictory` standard deviations of
// that difference. O(steps²)
double contradiction(const std::vector<MeasuredStep>& steps, const Kriging& kriging,
                     double deviation) {
  const auto weight = [&](std::size_t i) {
    const auto& step = steps[i];
    return step.deviation > 0
               ? std::abs(kriging.weights(static_cast<Index>(i))) * deviation / step.deviation
               : 0;
  };
  double variance = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double a = steps[i].deviation, b = steps[j].deviation;
      const double alike = kriging.among(static_cast<Index>(i), static_cast<Index>(j));
      const double expected = a * a + b * b - 2 * a * b * alike;
      const double square = std::pow(log_ratio(steps[i]) - log_ratio(steps[j]), 2);
      const double excess = square - contradictory * contradictory * expected;
      variance += weight(i) * weight(j) * std::max(0.0, excess);
    }
  return variance;
}

std::int64_t stretched(std::int64_t ps, double factor) {
  return std::llround(static_cast<double>(ps) * factor);
}

// Stretches the parts so that they sum to `length`, if they are not all zero.
void stretch_to(std::int64_t length, IdleByCause& causes) {
  const auto all = std::accumulate(causes.begin(), causes.end(), std::int64_t{0});
  if (all == 0) return;
  const double factor = static_cast<double>(length) / static_cast<double>(all);
  std::int64_t before = 0;
  for (auto& cause : causes) {
    const auto end = before + cause;
    cause = stretched(end, factor) - stretched(before, factor);
    before = end;
  }
}

template <class Placed>
void place(Placed& placed, double factor) {
  placed.start_ps = stretched(placed.start_ps, factor);
  placed.end_ps = stretched(placed.end_ps, factor);
}

void stretch(Timeline& timeline, double factor) {
  for (auto& slice : timeline.slices) place(slice, factor);
  timeline.end_ps = stretched(timeline.end_ps, factor);
  for (auto& pass : timeline.passes)
    for (auto& step : pass) place(step, factor);
  for (auto& sample : timeline.memory) sample.time_ps = stretched(sample.time_ps, factor);
  for (auto& sample : timeline.links) sample.time_ps = stretched(sample.time_ps, factor);
  for (auto& awaited : timeline.critical_path) place(awaited, factor);
  for (auto& idle : timeline.idle) {
    place(idle, factor);
    stretch_to(idle.end_ps - idle.start_ps, idle.by_cause);
    for (auto& awaited : idle.chain) place(awaited, factor);
  }
}

// Stretches the seconds of each kind of evidence; they still sum to the step.
void stretch(Basis& basis, double factor) {
  std::int64_t before = 0;
  for (auto& of : basis.of)
    for (auto& time : of) {
      const auto end = before + time;
      time = stretched(end, factor) - stretched(before, factor);
      before = end;
    }
  for (auto& wanted : basis.wanted) wanted.time_ps = stretched(wanted.time_ps, factor);
}

void stretch(Pipeline& pipeline, double factor) {
  for (auto& stage : pipeline.stages) {
    for (auto* time : {&stage.busy, &stage.bubble, &stage.forward, &stage.backward_input,
                       &stage.backward_weight, &stage.recompute})
      *time = factor * *time;
    if (stage.bubble_by_cause) {
      const auto& causes = *stage.bubble_by_cause;
      const auto all = std::accumulate(causes.begin(), causes.end(), std::int64_t{0});
      stretch_to(stretched(all, factor), *stage.bubble_by_cause);
    }
  }
}

}  // namespace

MeasuredStep measured_step(std::string name, units::Seconds measured, double noise,
                           const Scenario& scenario, const Forecast& forecast) {
  return {std::move(name),
          measured,
          forecast.step.time,
          setting_of(scenario, forecast),
          width_of(forecast.step) / (2 * normal_tenth),
          noise,
          deviation_within(std::log(forecast.step.time / forecast.step.time_low)),
          deviation_within(std::log(forecast.step.time_high / forecast.step.time))};
}

double deviations(const MeasuredStep& step) {
  const double off = log_ratio(step);
  const double deviation = off < 0 ? step.deviation_low : step.deviation_high;
  return deviation > 0 ? off / deviation : 0;
}

Correction correction_of(const Scenario& scenario, const Forecast& forecast,
                         const Corrections& corrections) {
  const auto& step = forecast.step;
  const auto setting = setting_of(scenario, forecast);
  const double deviation = width_of(step) / (2 * normal_tenth);
  const auto kriging = kriging_of(setting, deviation, corrections);
  Correction correction;
  double log_factor = 0;
  for (std::size_t i = 0; i < corrections.steps.size(); ++i) {
    const auto& one = corrections.steps[i];
    const double weight =
        one.deviation > 0 ? kriging.weights(static_cast<Index>(i)) * deviation / one.deviation : 0;
    log_factor += weight * log_ratio(one);
    correction.from.push_back({one.name, one.measured, one.forecast,
                               correlation(setting, one.setting, corrections.similarity), weight});
  }
  std::ranges::stable_sort(correction.from, [](const Carried& a, const Carried& b) {
    return std::abs(a.weight) > std::abs(b.weight);
  });
  correction.contradiction = std::sqrt(contradiction(corrections.steps, kriging, deviation));
  // Half an interval, as a logarithm.
  const auto half = [&](double before) {
    return std::hypot(std::sqrt(kriging.left) * before, normal_tenth * correction.contradiction);
  };
  const double below = half(std::log(step.time / step.time_low)),
               above = half(std::log(step.time_high / step.time));
  correction.factor = std::exp(log_factor);
  correction.low = correction.factor * std::exp(-below);
  correction.high = correction.factor * std::exp(above);
  correction.width_before = width_of(step);
  correction.width = below + above;
  correction.simulated = step.time;
  return correction;
}

void stretch(Forecast& forecast, double factor) {
  auto& step = forecast.step;
  auto& layer = forecast.layer;
  for (auto* one : {&step.time, &step.time_low, &step.time_high, &layer.forward, &layer.backward,
                    &layer.attention_forward, &layer.attention_backward, &layer.mlp_forward,
                    &layer.mlp_backward, &forecast.gpus.longest_wait})
    *one = factor * *one;
  for (const auto& facts : step_parts) {
    auto& time = forecast.time[facts.part];
    time = factor * time;
  }
  for (auto* rate : {&step.tokens_per_second, &step.tokens_per_second_per_gpu, &step.mfu, &step.hfu,
                     &step.flops_per_gpu.value})
    *rate /= factor;
  for (auto& part : forecast.critical_path) part.time = factor * part.time;
  for (auto& slowed : forecast.slowed) slowed.lost = factor * slowed.lost;
  stretch(forecast.pipeline, factor);
  stretch(forecast.timeline, factor);
  if (forecast.basis) stretch(*forecast.basis, factor);
}

void apply(const Correction& correction, Forecast& forecast) {
  stretch(forecast, correction.factor);
  forecast.step.time_low = correction.low * correction.simulated;
  forecast.step.time_high = correction.high * correction.simulated;
}

}  // namespace forecast
