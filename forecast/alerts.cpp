// SPDX-License-Identifier: Apache-2.0
#include "forecast/alerts.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace forecast {
namespace {

using enum AlertFigure;
using enum AlertUnit;

constexpr std::array figures{
    AlertFigureFacts{gpu_utilisation, "gpu_utilisation",
                     "share of the step in which the mean GPU computes; nvidia-smi also counts "
                     "kernels that wait in communication",
                     "< 80 %", share},
    AlertFigureFacts{memory, "memory",
                     "peak memory of the fullest GPU, in bytes or of what the job may use",
                     "> 90 %", share},
    AlertFigureFacts{communication_overhead, "communication_overhead",
                     "share of the step in exposed communication, on the rank that ends last",
                     "> 30 %", share},
    AlertFigureFacts{synchronisation, "synchronisation",
                     "most of a step that one GPU is idle or in exposed communication", "> 5 s",
                     seconds},
    AlertFigureFacts{throughput, "throughput", "tokens per second of the whole job",
                     "< 400e3 tokens/s", tokens_per_second},
    AlertFigureFacts{throughput_per_gpu, "throughput_per_gpu", "tokens per second and GPU",
                     "< 400 tokens/s", tokens_per_second},
    AlertFigureFacts{mfu, "mfu", "model FLOPs utilisation", "< 35 %", share},
    AlertFigureFacts{step_time, "step_time", "time of one optimizer step", "> 30 s", seconds},
    AlertFigureFacts{bubble, "bubble", "idle share of the average pipeline stage", "> 15 %", share},
    AlertFigureFacts{node_failure_rate, "node_failure_rate",
                     "failures of the job's nodes, from a mean time between them", "> 0.5 / day",
                     per_second},
    AlertFigureFacts{loss, "loss", "training loss", "> 10", plain, false},
    AlertFigureFacts{gradient_norm, "gradient_norm", "norm of all gradients", "> 100", plain,
                     false},
    AlertFigureFacts{gpu_temperature, "gpu_temperature", "temperature of the hottest GPU", "> 85 C",
                     plain, false},
    AlertFigureFacts{ecc_errors, "ecc_errors", "memory errors that a GPU counts", "> 0", plain,
                     false}};

std::optional<double> failures_per_second(const AlertRule& rule, const topology::Cluster& cluster) {
  if (!rule.node_mtbf && !rule.gpu_mtbf) return {};
  const auto failing = [](std::int64_t parts, const std::optional<units::Seconds>& mtbf) {
    return mtbf ? static_cast<double>(parts) / mtbf->value : 0.0;
  };
  return failing(cluster.nodes(), rule.node_mtbf) + failing(cluster.gpus, rule.gpu_mtbf);
}

std::optional<double> value_of(const AlertRule& rule, const Scenario& scenario,
                               const Forecast& forecast) {
  const auto& step = forecast.step;
  const auto& used = forecast.memory;
  switch (rule.figure) {
    case gpu_utilisation:
      return forecast.gpus.computing;
    case memory:
      return rule.unit == bytes ? used.peak.value : used.peak / used.capacity;
    case communication_overhead:
      return forecast.time.communication() / step.time;
    case synchronisation:
      return forecast.gpus.longest_wait.value;
    case throughput:
      return step.tokens_per_second;
    case throughput_per_gpu:
      return step.tokens_per_second_per_gpu;
    case mfu:
      return step.mfu;
    case step_time:
      return step.time.value;
    case bubble:
      return forecast.pipeline.bubble_fraction;
    case node_failure_rate:
      return failures_per_second(rule, scenario.cluster);
    default:
      return {};
  }
}

bool is_raised(const AlertRule& rule, double value) {
  switch (rule.raised) {
    case AlertRule::Raised::below:
      return value < rule.threshold;
    case AlertRule::Raised::at_most:
      return value <= rule.threshold;
    case AlertRule::Raised::above:
      return value > rule.threshold;
    case AlertRule::Raised::at_least:
      return value >= rule.threshold;
  }
  return false;
}

// Returns the range of the figure within the interval of the step's time; nothing for figures that
// do not follow from that time alone.
std::optional<std::pair<double, double>> range_of(AlertFigure figure, double value,
                                                  const Step& step) {
  if (!(step.time_low < step.time_high)) return {};
  const double fast = step.time_low / step.time, slow = step.time_high / step.time;
  if (figure == step_time) return std::pair(value * fast, value * slow);
  if (figure == throughput || figure == throughput_per_gpu || figure == mfu)
    return std::pair(value / slow, value / fast);
  return {};
}

Alert judged(const AlertRule& rule, const Scenario& scenario, const Forecast& forecast) {
  Alert alert{.rule = rule, .value = value_of(rule, scenario, forecast)};
  if (!alert.value) {
    alert.why_not = rule.figure == node_failure_rate
                        ? "no mean time between failures is given: write {when: \"" +
                              rule.condition + "\", node_mtbf: 200 days}"
                        : "only the running job knows it";
    return alert;
  }
  const bool raised = is_raised(rule, *alert.value);
  alert.state = raised ? Alert::State::raised : Alert::State::quiet;
  if (const auto range = range_of(rule.figure, *alert.value, forecast.step)) {
    std::tie(alert.low, alert.high) = *range;
    alert.certain =
        is_raised(rule, range->first) == raised && is_raised(rule, range->second) == raised;
  }
  return alert;
}

}  // namespace

std::span<const AlertFigureFacts> alert_figures() { return figures; }

const AlertFigureFacts& facts_of(AlertFigure figure) {
  return figures[static_cast<std::size_t>(figure)];
}

std::vector<Alert> alerts_of(const Scenario& scenario, const Forecast& forecast) {
  std::vector<Alert> alerts;
  for (const auto& rule : scenario.alerts) alerts.push_back(judged(rule, scenario, forecast));
  return alerts;
}

std::string_view to_text(Alert::State state) {
  constexpr std::array<std::string_view, 3> names{"quiet", "raised", "not simulated"};
  return names[static_cast<std::size_t>(state)];
}

std::vector<std::string> raised_in(const std::vector<Alert>& alerts) {
  std::vector<std::string> names;
  for (const auto& alert : alerts) {
    const std::string name(facts_of(alert.rule.figure).name);
    if (alert.state == Alert::State::raised && std::ranges::find(names, name) == names.end())
      names.push_back(name);
  }
  return names;
}

}  // namespace forecast
