// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/explain/explained_run.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "scenarios/foreign/profiler_trace.hpp"
#include "scenarios/scenario_file.hpp"

namespace explained_runs {

using faulty_runs::Fault;
using faulty_runs::Injected;
using faulty_runs::record;
using forecast::Cause;
using forecast::Diagnosis;
using forecast::KernelClass;
using forecast::StepPart;
using forecast::Suspect;

const std::vector<std::string>& plans() {
  static const std::string dense = "model: {base: llama3-8b, layers: 8}\n",
                           mixture = "model: {base: mixtral-8x7b, layers: 4}\n";
  static const auto on = [](int gpus) {
    return "cluster: {node: dgx-h100, gpus: " + std::to_string(gpus) +
           "}\ntraining: {sequence_length: 4096, global_batch: 16}\n";
  };
  static const std::vector<std::string> all{
      dense + on(2) + "plan: {zero: 1}\n",
      dense + on(8) + "plan: {tensor: 2, zero: 1}\n",
      dense + on(4) + "plan: {tensor: 4}\n",
      dense + on(8) + "plan: {pipeline: 4, zero: 1}\n",
      dense + on(8) + "plan: {pipeline: 2, tensor: 2, zero: 1}\n",
      dense + on(16) + "plan: {zero: 1}\n",
      mixture + on(8) + "plan: {expert: 8, zero: 1}\n",
      mixture + on(4) + "plan: {expert: 4, zero: 1}\n",
      mixture + on(16) + "plan: {expert: 8, zero: 1}\n",
      mixture + on(8) + "plan: {expert: 4, pipeline: 2, zero: 1}\n"};
  return all;
}

Planned planned_as(const std::string& text) {
  Planned one;
  one.scenario = scenarios::read_scenario(text, "plan");
  one.forecast = forecast::simulate(one.scenario, {.causes = true});
  one.expected = forecast::rank_times(one.scenario);
  one.clean =
      record(one.scenario, one.expected, {}, {.jitter = 0, .skew = 0, .missing = {}}).seconds;
  return one;
}

const Planned& planned(std::size_t i) {
  static std::vector<Planned> all = [] {
    std::vector<Planned> made;
    for (const auto& text : plans()) made.push_back(planned_as(text));
    return made;
  }();
  return all[i];
}

Diagnosis diagnosed(const Planned& of, const faulty_runs::RecordedRun& run) {
  std::vector<forecast::Profile> profiles;
  for (const auto& trace : run.traces) {
    std::istringstream in(trace);
    profiles.push_back(scenarios::read_profiler_trace(*in.rdbuf(), "trace.json"));
  }
  return forecast::diagnose(profiles, of.scenario, of.forecast);
}

Cause cause_of(Fault fault) {
  switch (fault) {
    case Fault::slow_ranks:
    case Fault::slow_rank_class:
      return Cause::straggler;
    case Fault::paused_rank:
      return Cause::late_rank;
    case Fault::slow_collectives:
      return Cause::slow_link;
    case Fault::stall:
      return Cause::stall;
    case Fault::host:
      return Cause::host_bound;
    case Fault::blocking:
      return Cause::no_overlap;
    case Fault::slow_class:
      return Cause::slow_kernels;
    case Fault::clock:
      return Cause::low_clock;
    case Fault::loading:
      return Cause::data_loading;
    case Fault::deeper_stage:
      return Cause::stage_imbalance;
    case Fault::fuller_expert:
      return Cause::expert_imbalance;
    default:
      return Cause::recomputation;
  }
}

bool names(const Suspect& suspect, const Injected& fault, const std::vector<std::int64_t>& traced) {
  std::vector<std::int64_t> ranks;
  for (const auto rank : fault.ranks)
    if (std::ranges::find(traced, rank) != traced.end()) ranks.push_back(rank);
  if (!fault.ranks.empty() && ranks.empty()) return suspect.cause == Cause::unseen_rank;
  if (suspect.cause != cause_of(fault.fault)) return false;
  switch (fault.fault) {
    case Fault::slow_ranks:
    case Fault::paused_rank:
    case Fault::fuller_expert:
      return suspect.ranks == ranks;
    case Fault::slow_rank_class:
      return suspect.ranks == ranks && suspect.kernels == fault.kernels;
    case Fault::slow_collectives:
      return suspect.part == fault.part && suspect.ranks == ranks;
    case Fault::slow_class:
      return suspect.kernels == fault.kernels;
    case Fault::deeper_stage:
      return suspect.stage == fault.stage;
    default:
      return true;
  }
}

bool near(double seconds, double lost, double step) {
  return std::abs(seconds - lost) <= std::max(0.15 * lost, 0.02 * step);
}

std::string listed(const Diagnosis& diagnosis) {
  std::ostringstream text;
  text << " measured " << diagnosis.measured.value << " forecast " << diagnosis.forecast.value;
  for (const auto& mismatch : diagnosis.mismatches)
    text << " [" << mismatch.what << ' ' << mismatch.trace << " | " << mismatch.scenario << ']';
  for (const auto& one : diagnosis.suspects) {
    text << "; " << to_text(one.cause) << ' ' << one.seconds.value << " x" << one.factor;
    for (const auto rank : one.ranks) text << " r" << rank;
  }
  return text.str();
}

}  // namespace explained_runs
