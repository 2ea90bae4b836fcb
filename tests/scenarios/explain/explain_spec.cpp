// SPDX-License-Identifier: Apache-2.0
// The first suspects for a slow run, beside the known way in which the run was made slow.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>

#include "forecast/diagnosis/diagnosis.hpp"
#include "scenarios/foreign/profiler_trace.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/explain/explained_run.hpp"

namespace explain_spec {

using explained_runs::cause_of;
using explained_runs::diagnosed;
using explained_runs::listed;
using explained_runs::names;
using explained_runs::near;
using explained_runs::Planned;
using explained_runs::planned;
using explained_runs::plans;
using faulty_runs::Fault;
using faulty_runs::Injected;
using faulty_runs::record;
using faulty_runs::Recording;
using forecast::Cause;
using forecast::Diagnosis;
using forecast::KernelClass;
using forecast::StepPart;
using forecast::Suspect;

namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::size_t upto(std::size_t below) { return random_() % below; }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() % 10'000) / 10'000;
  }

  // A fault of this kind; empty where the plan has no room for it.
  std::vector<Injected> fault(Fault kind, const Planned& of) {
    const auto& plan = of.scenario.plan;
    const auto gpus = of.scenario.cluster.gpus;
    const auto rank = static_cast<std::int64_t>(upto(static_cast<std::size_t>(gpus)));
    Injected one{.fault = kind};
    switch (kind) {
      case Fault::slow_ranks: {
        one.amount = between(1.15, 1.5);
        one.ranks = {rank};
        if (gpus > 4 && upto(2) == 0) one.ranks = {rank, (rank + 1) % gpus};
        std::ranges::sort(one.ranks);
        return {one};
      }
      case Fault::slow_rank_class:
        one.amount = between(1.3, 1.8);
        one.ranks = {rank};
        one.kernels = KernelClass::products;
        return {one};
      case Fault::paused_rank:
        one.amount = between(0.08, 0.3);
        one.ranks = {rank};
        return {one};
      case Fault::slow_collectives: {
        one.part = plan.tensor > 1   ? StepPart::tensor_comm
                   : plan.expert > 1 ? StepPart::expert_comm
                                     : StepPart::data_comm;
        one.amount = between(1.6, 3.0);
        // The collectives are those of one group among several, or of all.
        if (one.part == StepPart::tensor_comm && gpus > plan.tensor && upto(2) == 0)
          for (std::int64_t r = 0; r < plan.tensor; ++r)
            one.ranks.push_back(rank / plan.tensor * plan.tensor + r);
        return {one};
      }
      case Fault::stall:
        return {};
      case Fault::host:
        one.amount = between(0.1, 0.35);
        return {one};
      case Fault::blocking:
      case Fault::recomputing:
        return {one};
      case Fault::slow_class:
        one.amount = between(1.2, 1.6);
        one.kernels = upto(2) == 0 ? KernelClass::products : KernelClass::others;
        return {one};
      case Fault::clock:
        one.amount = between(1.08, 1.4);
        return {one};
      case Fault::loading:
        one.amount = between(0.06, 0.3);
        return {one};
      case Fault::deeper_stage:
        if (plan.pipeline < 2) return {};
        one.amount = 1;
        one.stage = static_cast<int>(upto(static_cast<std::size_t>(plan.pipeline)));
        return {one};
      case Fault::fuller_expert:
        if (plan.expert < 2) return {};
        one.amount = between(1.3, 2.0);
        one.ranks = {rank};
        return {one};
      case Fault::none:
        return {};
    }
    return {};
  }

  Recording recording(const Planned& of) {
    Recording how{.seed = static_cast<unsigned>(random_())};
    const auto gpus = static_cast<std::size_t>(of.scenario.cluster.gpus);
    if (gpus > 2 && upto(2) == 0)
      for (std::size_t left = 1 + upto(gpus / 3); left > 0; --left)
        how.missing.push_back(static_cast<std::int64_t>(upto(gpus)));
    return how;
  }

 private:
  std::mt19937 random_;
};

constexpr Fault all_faults[] = {
    Fault::slow_ranks, Fault::slow_rank_class, Fault::paused_rank,   Fault::slow_collectives,
    Fault::host,       Fault::blocking,        Fault::slow_class,    Fault::clock,
    Fault::loading,    Fault::deeper_stage,    Fault::fuller_expert, Fault::recomputing};

// A fault that takes at least 4 % of the step on some rank, with the seconds that it takes.
struct Drawn {
  std::size_t plan = 0;
  Injected fault;
  double lost = 0;
};

Drawn drawn_fault(Fault kind, Draw& draw) {
  for (;;) {
    const auto plan = draw.upto(plans().size());
    const auto& of = planned(plan);
    const auto faults = draw.fault(kind, of);
    if (faults.empty()) continue;
    const double with =
        record(of.scenario, of.expected, faults, {.jitter = 0, .skew = 0, .missing = {}, .seed = 7})
            .seconds;
    const double lost = with - of.clean;
    if (lost > 0.04 * of.clean) return {plan, faults.front(), lost};
  }
}

bool loud() { return std::getenv("STEPCAST_EXPLAIN_LOUD") != nullptr; }

}  // namespace

TEST_CASE("runs without a fault take as long as their forecast", "[explain]") {
  for (std::size_t i = 0; i < plans().size(); ++i) {
    const auto& of = planned(i);
    if (loud())
      std::cerr << i << " clean " << of.clean << " forecast " << of.forecast.step.time.value
                << "\n";
    CHECK(of.clean == Approx(of.forecast.step.time.value).epsilon(0.025));
  }
}

TEST_CASE("the first suspect is right in 54 of 60 single faults", "[explain]") {
  Draw draw(25);
  int right = 0;
  for (int i = 0; i < 60; ++i) {
    const auto drawn =
        drawn_fault(all_faults[static_cast<std::size_t>(i) % std::size(all_faults)], draw);
    const auto& of = planned(drawn.plan);
    const auto run = record(of.scenario, of.expected, {drawn.fault}, draw.recording(of));
    const auto found = diagnosed(of, run);
    const bool hit = !found.suspects.empty() &&
                     names(found.suspects.front(), drawn.fault, run.ranks) &&
                     near(found.suspects.front().seconds.value, drawn.lost, run.seconds);
    right += hit ? 1 : 0;
    if (loud() && !hit) {
      std::cerr << "MISS " << i << " plan " << drawn.plan << " fault "
                << to_text(cause_of(drawn.fault.fault)) << " amount " << drawn.fault.amount
                << " lost " << drawn.lost << " ranks";
      for (const auto rank : drawn.fault.ranks) std::cerr << ' ' << rank;
      std::cerr << " traced";
      for (const auto rank : run.ranks) std::cerr << ' ' << rank;
      std::cerr << " class " << static_cast<int>(drawn.fault.kernels) << listed(found) << "\n";
    }
  }
  if (loud()) std::cerr << right << " of 60\n";
  CHECK(right >= 54);
}

TEST_CASE("the --set of slow kernels makes the forecast as long as the run, whatever prices them") {
  constexpr std::size_t plan = 0;
  const auto& of = planned(plan);
  for (const auto kernels : {KernelClass::products, KernelClass::attention, KernelClass::others}) {
    const auto run = record(of.scenario, of.expected,
                            {{.fault = Fault::slow_class, .amount = 2, .kernels = kernels}},
                            {.jitter = 0, .skew = 0, .missing = {}});
    const auto found = diagnosed(of, run);
    REQUIRE(found.suspects.size() == 1);
    CHECK(found.suspects.front().kernels == kernels);
    const std::vector sets{found.suspects.front().set};
    INFO(sets.front());
    const auto slowed = forecast::simulate(scenarios::read_scenario(plans()[plan], "plan", sets));
    CHECK(run.seconds > 1.05 * of.clean);
    CHECK(slowed.step.time.value == Approx(run.seconds).epsilon(0.03));
  }
}

TEST_CASE("the first three suspects hold both faults in 16 of 20 double faults", "[explain]") {
  Draw draw(26);
  int right = 0;
  for (int i = 0; i < 20; ++i) {
    const auto first = drawn_fault(all_faults[draw.upto(std::size(all_faults))], draw);
    const auto& of = planned(first.plan);
    std::vector<Injected> faults{first.fault};
    while (faults.size() < 2) {
      const auto kind = all_faults[draw.upto(std::size(all_faults))];
      if (cause_of(kind) == cause_of(first.fault.fault)) continue;
      const auto more = draw.fault(kind, of);
      if (more.empty()) continue;
      const double lost =
          record(of.scenario, of.expected, more, {.jitter = 0, .skew = 0, .missing = {}, .seed = 7})
              .seconds -
          of.clean;
      if (lost > 0.04 * of.clean) faults.push_back(more.front());
    }
    const auto run = record(of.scenario, of.expected, faults, draw.recording(of));
    const auto found = diagnosed(of, run);
    const auto among_three = [&](const Injected& fault) {
      const auto end = found.suspects.begin() +
                       static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, found.suspects.size()));
      return std::any_of(found.suspects.begin(), end,
                         [&](const Suspect& suspect) { return names(suspect, fault, run.ranks); });
    };
    const bool hit = std::ranges::all_of(faults, among_three);
    right += hit ? 1 : 0;
    if (loud() && !hit) {
      std::cerr << "MISS2 " << i << " plan " << first.plan;
      for (const auto& fault : faults) {
        std::cerr << " + " << to_text(cause_of(fault.fault)) << ' ' << fault.amount;
        for (const auto rank : fault.ranks) std::cerr << " r" << rank;
      }
      std::cerr << " traced";
      for (const auto rank : run.ranks) std::cerr << ' ' << rank;
      std::cerr << listed(found) << "\n";
    }
  }
  if (loud()) std::cerr << right << " of 20\n";
  CHECK(right >= 16);
}

TEST_CASE("in 20 runs without a fault no suspect is above 2 % of the step", "[explain]") {
  Draw draw(27);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto& of = planned(i % plans().size());
    const auto run = record(of.scenario, of.expected, {}, draw.recording(of));
    const auto found = diagnosed(of, run);
    if (loud() && !found.suspects.empty()) std::cerr << "CLEAN " << i << listed(found) << "\n";
    CHECK(found.mismatches.empty());
    for (const auto& suspect : found.suspects)
      CHECK(suspect.seconds.value < 0.02 * found.measured.value);
  }
}

TEST_CASE("clocks of ranks and which of several steps is slow do not matter", "[explain]") {
  const auto& of = planned(1);
  const Injected slow{.fault = Fault::slow_ranks, .amount = 1.4, .ranks = {3}};
  const auto seconds = [&](double skew, int steps) {
    const auto run = record(of.scenario, of.expected, {slow},
                            {.skew = skew, .missing = {}, .seed = 3, .steps = steps});
    const auto found = diagnosed(of, run);
    REQUIRE_FALSE(found.suspects.empty());
    CHECK(found.suspects.front().cause == Cause::straggler);
    CHECK(found.suspects.front().ranks == std::vector<std::int64_t>{3});
    return found.suspects.front().seconds.value;
  };
  const double together = seconds(0, 1);
  CHECK(seconds(3600, 1) == Approx(together).epsilon(0.01));  // clocks an hour apart
  CHECK(seconds(1, 3) == Approx(together).epsilon(0.1));
}

TEST_CASE("whatever is left of a trace, suspects sum to no more than the step is too long",
          "[explain]") {
  std::mt19937 random(4);
  const auto& of = planned(4);
  const auto run = record(of.scenario, of.expected, {{.fault = Fault::clock, .amount = 1.2}},
                          {.missing = {2}, .seed = 6});
  for (int i = 0; i < 20; ++i) {
    std::vector<forecast::Profile> profiles;
    for (const auto& trace : run.traces) {
      std::istringstream in(trace);
      auto profile = scenarios::read_profiler_trace(*in.rdbuf(), "trace.json");
      for (auto& work : profile.work) {
        const auto dice = random() % 40;
        if (dice == 0) work.group = 0;
        if (dice == 1) work.end_ns = work.start_ns;
        if (dice == 2) work.end_ns += static_cast<std::int64_t>(random() % 50'000'000);
        if (dice == 3) work.start_ns -= static_cast<std::int64_t>(random() % 50'000'000);
        if (dice == 4) work.kind = static_cast<forecast::GpuWork>(random() % forecast::gpu_works);
      }
      std::erase_if(profile.work, [&](const auto&) { return random() % 50 == 0; });
      profiles.push_back(std::move(profile));
    }
    const auto found = forecast::diagnose(profiles, of.scenario, of.forecast);
    double sum = 0;
    for (const auto& suspect : found.suspects) {
      CHECK(std::isfinite(suspect.seconds.value));
      CHECK(suspect.seconds.value > 0);
      sum += suspect.seconds.value;
    }
    CHECK(sum <= std::max(0.0, found.measured.value - found.forecast.value) * (1 + 1e-9));
  }
}

}  // namespace explain_spec
