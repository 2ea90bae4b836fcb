// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "forecast/diagnosis/diagnosis.hpp"
#include "forecast/diagnosis/weigh.hpp"
#include "strategies/job.hpp"
#include "units/text.hpp"

namespace forecast {

namespace {

void add_counts(const std::vector<Profile>& profiles, const Scenario& scenario,
                std::vector<Mismatch>& found) {
  std::set<std::int64_t> worlds, ranks;
  for (const auto& profile : profiles) {
    if (profile.world_size && *profile.world_size != scenario.cluster.gpus)
      worlds.insert(*profile.world_size);
    if (profile.rank && (*profile.rank < 0 || *profile.rank >= scenario.cluster.gpus))
      ranks.insert(*profile.rank);
  }
  for (const auto world : worlds)
    found.push_back({"GPUs", std::to_string(world), std::to_string(scenario.cluster.gpus)});
  for (const auto rank : ranks)
    found.push_back(
        {"rank", std::to_string(rank), "0 to " + std::to_string(scenario.cluster.gpus - 1)});
}

// Adds devices whose name the driver gives otherwise than the scenario: the catalog's
// "h100-80gb-sxm" is its "NVIDIA H100 80GB HBM3". Only names in that form are compared: a letter,
// then digits.
void add_device(const std::vector<Profile>& profiles, const Scenario& scenario,
                std::vector<Mismatch>& found) {
  const auto& device = scenario.cluster.node.device.name;
  const auto chip = units::lower_case(device.substr(0, device.find('-')));
  const bool told = chip.size() > 2 && std::isalpha(static_cast<unsigned char>(chip.front())) &&
                    std::ranges::any_of(chip, [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!told || !scenario.cluster.others.empty()) return;
  const std::string family(topology::family_of(device));
  std::set<std::string> others;
  for (const auto& profile : profiles) {
    const auto seen = units::lower_case(profile.device);
    if (!seen.empty() && seen.find("nvidia") != seen.npos && seen.find(chip) == seen.npos &&
        seen.find(family) == seen.npos)
      others.insert(profile.device);
  }
  for (const auto& other : others) found.push_back({"device", other, device});
}

// Adds a mismatch if the scenario's format is bf16 and the profiles know only fp16, or the other
// way round.
void add_format(const std::vector<Profile>& profiles, const Scenario& scenario,
                std::vector<Mismatch>& found) {
  bool bf16 = false, fp16 = false;
  for (const auto& profile : profiles)
    for (const auto& format : profile.formats) {
      const auto name = units::lower_case(format);
      bf16 = bf16 || name == "bfloat16";
      fp16 = fp16 || name == "half" || name == "float16";
    }
  const auto precision = scenario.training.precision;
  if (precision == units::Precision::fp16 && bf16 && !fp16)
    found.push_back({"number format", "bf16", "fp16"});
  if (precision == units::Precision::bf16 && fp16 && !bf16)
    found.push_back({"number format", "fp16", "bf16"});
}

// Adds a mismatch if the scenario multiplies in 8 bits or fewer and names of products tell of wider
// formats alone, or the other way round in most of their time.
void add_format_of_products(const SeenStep& step, const Scenario& scenario,
                            std::vector<Mismatch>& found) {
  double narrow = 0, wide = 0, all = 0;
  for (const auto& rank : step.ranks)
    for (const auto& [of, part, meeting] : rank.works) {
      if (of.kind != GpuWork::compute ||
          (of.sort != KernelClass::products && of.sort != KernelClass::experts))
        continue;
      const auto took = static_cast<double>(of.end_ns - of.start_ns);
      all += took;
      if (of.format == ProductFormat::narrow) narrow += took;
      if (of.format == ProductFormat::wide) wide += took;
    }
  const auto precision = scenario.training.precision;
  const bool expected = units::element_bytes(precision) <= 1;
  constexpr double most = 0.5;  // of the time of all products
  const std::string asked(units::to_text(precision));
  if (expected && narrow == 0 && wide > most * all)
    found.push_back({"format of products", "16 bits or more", asked});
  if (!expected && narrow > most * all)
    found.push_back({"format of products", "8 bits or fewer", asked});
}

// Adds degrees that the names and sizes of the trace's groups contradict.
void add_degrees(const std::vector<Profile>& profiles, const Scenario& scenario,
                 std::vector<Mismatch>& found) {
  const auto& plan = scenario.plan;
  const std::map<GpuWork, std::pair<const char*, std::int64_t>> degrees{
      {GpuWork::tensor_comm, {"tensor", plan.tensor}},
      {GpuWork::pipeline_comm, {"pipeline", plan.pipeline}}};
  for (const auto& [kind, degree] : degrees) {
    std::set<std::int64_t> sizes;
    for (const auto& profile : profiles)
      for (const auto& work : profile.work)
        if (work.kind == kind && work.group != 0) sizes.insert(profile.groups[work.group - 1].size);
    sizes.erase(0);
    // Pairs of pipeline stages may have groups of their own.
    if (sizes.empty() || sizes.contains(degree.second) ||
        (kind == GpuWork::pipeline_comm && degree.second > 1))
      continue;
    found.push_back({std::string(degree.first) + "-parallel group", std::to_string(*sizes.rbegin()),
                     std::to_string(degree.second)});
  }
}

// Counts layers, once for each microbatch, by the kernels of attention's backward pass, of which
// each has one or few, and adds a mismatch. A stage may have another share of them than forecast,
// all stages together must have all.
void add_layers(const SeenStep& step, const Scenario& scenario,
                const std::vector<RankTimes>& expected, std::vector<Mismatch>& found) {
  const auto microbatches =
      static_cast<double>(strategies::microbatches_of(scenario.plan, scenario.training));
  std::map<int, std::pair<double, std::int64_t>> stages;  // kernels of a microbatch, layers
  double computing = 0, forecast = 0;
  for (const auto& rank : step.ranks) {
    double kernels = 0;
    const auto& facts = expected[rank.expected];
    for (const auto& work : rank.works)
      kernels += work.of.attention == AttentionPass::backward ? 1 : 0;
    for (const auto& stretch : rank.stretches)
      if (stretch.work != none_seen && rank.works[stretch.work].of.kind == GpuWork::compute)
        computing += static_cast<double>(stretch.end_ns - stretch.start_ns) * 1e-9;
    for (const auto of : all_kernel_classes) forecast += facts.computed(of).value;
    if (kernels > 0) stages[facts.stage] = {kernels / microbatches, facts.layers};
  }
  double seen = 0, layers = 0;
  for (const auto& [stage, counts] : stages) {
    seen += counts.first;
    layers += static_cast<double>(counts.second);
  }
  const bool whole = static_cast<std::int64_t>(stages.size()) == scenario.plan.pipeline;
  const double each = layers > 0 ? std::max(1.0, std::round(seen / layers)) : 1;
  // If some stages are not traced, a layer for each stage may have moved; of all stages, none may
  // be missing.
  const double free = whole ? 0.01 : 1.0 * static_cast<double>(stages.size()) + 0.01;
  if (layers > 0 && std::abs(seen / each - layers) > free)
    found.push_back({"layers x microbatches",
                     std::to_string(std::llround(seen / each * microbatches)),
                     std::to_string(std::llround(layers * microbatches))});
  constexpr double beyond_faults = 4;
  if (computing > beyond_faults * forecast || forecast > beyond_faults * computing)
    found.push_back(
        {"computation of a rank",
         std::to_string(std::llround(1e3 * computing / static_cast<double>(step.ranks.size()))) +
             " ms",
         std::to_string(std::llround(1e3 * forecast / static_cast<double>(step.ranks.size()))) +
             " ms"});
}

}  // namespace

std::vector<Mismatch> mismatches_of(const std::vector<Profile>& profiles, const Scenario& scenario,
                                    const std::vector<RankTimes>& expected) {
  return mismatches_in(see_step(profiles, scenario, expected), profiles, scenario, expected);
}

std::vector<Mismatch> mismatches_in(const SeenStep& step, const std::vector<Profile>& profiles,
                                    const Scenario& scenario,
                                    const std::vector<RankTimes>& expected) {
  std::vector<Mismatch> found;
  add_counts(profiles, scenario, found);
  add_device(profiles, scenario, found);
  add_format(profiles, scenario, found);
  add_format_of_products(step, scenario, found);
  add_degrees(profiles, scenario, found);
  add_layers(step, scenario, expected, found);
  return found;
}

}  // namespace forecast
