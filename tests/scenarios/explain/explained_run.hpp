// SPDX-License-Identifier: Apache-2.0
// Recorded runs of ten plans, their diagnoses, and whether a suspect is the fault of a run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "forecast/diagnosis/diagnosis.hpp"
#include "tests/scenarios/explain/faulty_run.hpp"

namespace explained_runs {

// Plans of two families of models on 2 to 16 GPUs.
const std::vector<std::string>& plans();

struct Planned {
  forecast::Scenario scenario;
  forecast::Forecast forecast;
  std::vector<forecast::RankTimes> expected;
  double clean = 0;  // seconds of a step without faults and jitter
};

Planned planned_as(const std::string& text);
const Planned& planned(std::size_t i);  // as plans()[i]

forecast::Diagnosis diagnosed(const Planned& of, const faulty_runs::RecordedRun& run);

forecast::Cause cause_of(faulty_runs::Fault fault);

// Whether a suspect is the fault. Ranks without a trace cannot be named; where all of the fault's
// are missing, that is the answer.
bool names(const forecast::Suspect& suspect, const faulty_runs::Injected& fault,
           const std::vector<std::int64_t>& traced);

bool near(double seconds, double lost, double step);

std::string listed(const forecast::Diagnosis& diagnosis);

}  // namespace explained_runs
