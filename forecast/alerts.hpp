// SPDX-License-Identifier: Apache-2.0
// Whether a forecast would raise the alerts that a cluster's operators keep.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/forecast.hpp"

namespace forecast {

struct AlertFigureFacts {
  AlertFigure figure;
  std::string_view name;     // as rules are written
  std::string_view meaning;  // meaning in a forecast, or in training if not simulated
  std::string_view example;  // a condition
  AlertUnit unit;            // memory: a share, or bytes
  bool simulated = true;
};
// The figures in the order of AlertFigure.
std::span<const AlertFigureFacts> alert_figures();
const AlertFigureFacts& facts_of(AlertFigure figure);

struct Alert {
  enum class State { quiet, raised, not_simulated };
  AlertRule rule;
  State state = State::not_simulated;
  std::optional<double> value;      // in the rule's unit
  std::optional<double> low, high;  // its range over the step's 80 % interval, if it depends on it
  bool certain = true;              // the state is the same at both
  std::string why_not;              // why it is not simulated
};

// Returns an alert for each rule, in their order. Its value is
//   gpu_utilisation         GpuTimes::computing. Kernels that wait in communication, which
//                           nvidia-smi counts as use, do not count
//   memory                  Memory::peak, of Memory::capacity where the threshold is a share
//   communication_overhead  communication of TimeParts over the step time
//   synchronisation         GpuTimes::longest_wait
//   throughput, throughput_per_gpu, mfu, step_time, bubble    as Step and Pipeline have them
//   node_failure_rate       nodes / node_mtbf + GPUs / gpu_mtbf, of the whole job
// Only figures that follow from the step time alone have low and high. O(rules).
std::vector<Alert> alerts_of(const Scenario& scenario, const Forecast& forecast);

std::string_view to_text(Alert::State state);  // "quiet", "raised", "not simulated"

// Names of the figures with a rule that is raised, each once.
std::vector<std::string> raised_in(const std::vector<Alert>& alerts);

}  // namespace forecast
