// SPDX-License-Identifier: Apache-2.0
// Rules as the operators of a cluster keep them: a figure of a run, and the threshold beyond which
// somebody is told.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "units/quantity.hpp"

namespace forecast {

// Figures that a rule may watch. alert_figures() in alerts.hpp says which value of a forecast each
// of them is.
enum class AlertFigure : std::uint8_t {
  gpu_utilisation,
  memory,
  communication_overhead,
  synchronisation,
  throughput,
  throughput_per_gpu,
  mfu,
  step_time,
  bubble,
  node_failure_rate,
  loss,
  gradient_norm,
  gpu_temperature,
  ecc_errors
};

// `plain`: of figures that are not simulated, a number of whatever it is that they count.
enum class AlertUnit : std::uint8_t { share, seconds, bytes, tokens_per_second, per_second, plain };

struct AlertRule {
  enum class Raised : std::uint8_t { below, at_most, above, at_least };
  AlertFigure figure{};
  Raised raised = Raised::above;
  AlertUnit unit = AlertUnit::plain;
  double threshold = 0;
  std::string condition;  // as it was written, the comparison as a sign: "> 90 %"
  // For node_failure_rate: the mean times between failures of one node and of one GPU. The two
  // rates add up.
  std::optional<units::Seconds> node_mtbf, gpu_mtbf;
  friend bool operator==(const AlertRule&, const AlertRule&) = default;
};

}  // namespace forecast
