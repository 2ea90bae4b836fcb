// SPDX-License-Identifier: Apache-2.0
// Measured steps that correct forecasts: --corrections, and --measured of `simulate`.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "app/command.hpp"
#include "forecast/accuracy/correction.hpp"
#include "forecast/accuracy/intervals.hpp"
#include "search/search.hpp"

namespace app {

// The measured steps of a file, beside their forecasts.
struct Correcting {
  forecast::Corrections corrections;
  std::string text;  // identity: equal texts correct forecasts alike
};

// The corrections of --corrections; nothing if it was not given. Simulates every entry, on several
// threads, and warns of steps that their forecasts miss by far. Throws scenarios::Error, or Mistake
// for a step that cannot be simulated and where an output would overwrite an input.
std::optional<Correcting> load_correcting(const Common& common, const Outputs& outputs,
                                          Streams streams);

// The correction of a forecast that has its interval, applied to it; nothing without any.
std::optional<forecast::Correction> correct(forecast::Forecast& forecast,
                                            const forecast::Scenario& scenario,
                                            const std::optional<Correcting>& correcting);

// Throws std::invalid_argument for an objective that is decided by simulated times, which would
// stand beside corrected ones.
void check_objective(const search::Question& question);

// --measured: a positive time. Throws Mistake.
units::Seconds parse_measured(const std::string& text);

}  // namespace app
