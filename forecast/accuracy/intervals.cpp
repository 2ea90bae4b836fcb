// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/intervals.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "forecast/accuracy/memory_spread.hpp"
#include "forecast/accuracy/quantile.hpp"
#include "forecast/accuracy/regime.hpp"
#include "units/text.hpp"

namespace forecast {
namespace {

using Regime = std::vector<std::string>;

// A host that leaves the device idle for more than this share of the step sets the pace.
constexpr double host_bound = 0.1;

// Devices of a generation that compute the same kind of model: "Hopper MoE".
std::string kin_of(std::string family, bool experts) {
  for (char& letter : family)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return regime_of(family, experts ? "MoE" : "dense");
}

std::string scale_of(std::int64_t gpus) {
  for (const int most : {8, 64, 512})
    if (gpus <= most) return "up to " + std::to_string(most) + " GPUs";
  return "above 512 GPUs";
}

bool offloads(const strategies::Offload& offload) { return offload != strategies::Offload{}; }

// Returns, by data set, the vote of one of its rows: one over the number of its rows.
std::map<std::string, double> row_votes(const std::vector<Residual>& residuals) {
  std::map<std::string, double> votes;
  for (const auto& residual : residuals) votes[residual.dataset] += 1;
  for (auto& [dataset, vote] : votes) vote = 1 / vote;
  return votes;
}

struct Cell {
  std::vector<Vote> votes;
  std::set<std::string> datasets;
};

// Returns the standard deviation of the data sets' median residuals; 0 for a single data set.
double spread_between(const std::vector<Residual>& residuals) {
  std::map<std::string, std::vector<Vote>> sets;
  for (const auto& residual : residuals) sets[residual.dataset].push_back({residual.log_ratio});
  if (sets.size() < 2) return 0;
  double sum = 0, squares = 0;
  for (const auto& [dataset, votes] : sets) sum += median(votes);
  const double mean = sum / static_cast<double>(sets.size());
  for (const auto& [dataset, votes] : sets) squares += std::pow(median(votes) - mean, 2);
  return std::sqrt(squares / static_cast<double>(sets.size() - 1));
}

// The lower tenth is the upper one of the mirrored votes, so that neither side is favoured.
double lower_tenth(std::vector<Vote> votes) {
  for (auto& vote : votes) vote.value = -vote.value;
  return -quantile(std::move(votes), 0.9);
}

RegimeSpread spread_of(const Regime& regime, const Cell& cell, const RegimeSpread* wider) {
  RegimeSpread spread{regime, cell.votes.size(), cell.datasets.size(), lower_tenth(cell.votes),
                      quantile(cell.votes, 0.9)};
  if (wider == nullptr) return spread;
  double own = 0;
  for (const auto& vote : cell.votes) own += vote.weight;
  const double share = own / (own + prior_votes);
  spread.low = share * spread.low + (1 - share) * wider->low;
  spread.high = share * spread.high + (1 - share) * wider->high;
  return spread;
}

std::vector<MeasuredDevice> devices_of(const std::vector<Residual>& residuals) {
  std::map<std::string, MeasuredDevice> devices;
  for (const auto& [dataset, run, log_ratio] : residuals) {
    auto& device = devices[run.device];
    device.device = run.device;
    device.gpus = std::max(device.gpus, run.gpus);
    device.sequence = std::max(device.sequence, run.sequence);
    device.traits.insert(device.traits.end(), run.traits.begin(), run.traits.end());
  }
  std::vector<MeasuredDevice> sorted;
  for (auto& [name, device] : devices) {
    std::ranges::sort(device.traits);
    device.traits.erase(std::unique(device.traits.begin(), device.traits.end()),
                        device.traits.end());
    sorted.push_back(std::move(device));
  }
  return sorted;
}

// Returns the most that was measured on any device, with which a device that was never measured is
// compared.
MeasuredDevice any_device(const std::vector<MeasuredDevice>& devices) {
  MeasuredDevice any;
  for (const auto& device : devices) {
    any.gpus = std::max(any.gpus, device.gpus);
    any.sequence = std::max(any.sequence, device.sequence);
    any.traits.insert(any.traits.end(), device.traits.begin(), device.traits.end());
  }
  std::ranges::sort(any.traits);
  return any;
}

std::string grouped(std::int64_t number) { return units::with_commas(std::to_string(number)); }

// The properties of a run that were never measured, in words; `count`: their number, to which each
// doubling beyond the largest measured value adds one.
struct Outside {
  double count = 0;
  std::vector<std::string> texts;

  void add(const std::string& text) {
    ++count;
    texts.push_back(text);
  }
  void beyond(std::int64_t here, std::int64_t most, const std::string& what,
              const std::string& on) {
    if (here <= most) return;
    const double ratio = static_cast<double>(here) / static_cast<double>(most);
    count += std::log2(ratio);
    texts.push_back(grouped(here) + what + ", " + units::fixed(ratio, 1) +
                    " times the most measured" + on + " (" + grouped(most) + ")");
  }
};

Outside outside_of(const Circumstances& run, const std::vector<MeasuredDevice>& devices) {
  Outside outside;
  const auto& name = run.device;
  const auto known = std::ranges::find(devices, name, &MeasuredDevice::device);
  const bool measured = known != devices.end();
  if (!measured) outside.add("no run on " + name + " was measured");
  const auto most = measured ? *known : any_device(devices);
  const std::string on = measured ? " on " + name : " on any device";
  for (const auto& trait : run.traits)
    if (!std::ranges::binary_search(most.traits, trait)) outside.add(trait + " not measured" + on);
  outside.beyond(run.gpus, most.gpus, " GPUs", on);
  outside.beyond(run.sequence, most.sequence, " tokens per sequence", on);
  return outside;
}

// Returns the device that sets the pace of a cluster: of several kinds, the one whose peak is
// lowest.
const topology::Device& slowest_device(const topology::Cluster& cluster,
                                       units::Precision precision) {
  const auto* slowest = &cluster.node.device;
  for (std::size_t i = 1; i < cluster.kinds(); ++i)
    if (const auto& device = cluster.kind(i).device;
        device.peak_of(precision) < slowest->peak_of(precision))
      slowest = &device;
  return *slowest;
}

}  // namespace

Circumstances circumstances_of(const Scenario& scenario, const Forecast& forecast) {
  const bool waits = forecast.time[StepPart::other] > host_bound * forecast.step.time;
  const std::string precision(units::to_text(scenario.training.precision));
  Circumstances run;
  run.device =
      topology::family_of(slowest_device(scenario.cluster, scenario.training.precision).name);
  run.regime = {kin_of(run.device, scenario.model.moe.has_value()),
                run.device,
                scenario.software.name,
                waits ? "host-bound" : "device-bound",
                precision,
                scale_of(scenario.cluster.gpus)};
  run.gpus = scenario.cluster.gpus;
  run.sequence = scenario.training.sequence_length;
  run.traits = {precision, scenario.software.name};
  if (scenario.model.moe) run.traits.push_back("mixture of experts");
  if (scenario.plan.context > 1) run.traits.push_back("context parallelism");
  if (offloads(scenario.plan.offload)) run.traits.push_back("offload");
  if (!scenario.cluster.others.empty()) run.traits.push_back("nodes of several kinds");
  std::ranges::sort(run.traits);
  return run;
}

Intervals intervals_of(const std::vector<Residual>& residuals) {
  const auto votes = row_votes(residuals);
  std::map<Regime, Cell> cells;  // a beginning sorts before what it begins
  for (const auto& [dataset, run, log_ratio] : residuals)
    for (std::size_t depth = 0; depth <= run.regime.size(); ++depth) {
      const auto end = run.regime.begin() + static_cast<std::ptrdiff_t>(depth);
      auto& cell = cells[Regime(run.regime.begin(), end)];
      cell.votes.push_back({log_ratio, votes.at(dataset)});
      cell.datasets.insert(dataset);
    }
  Intervals intervals;
  intervals.between = spread_between(residuals);
  std::map<Regime, RegimeSpread> known;
  for (const auto& [regime, cell] : cells) {
    const auto* wider =
        regime.empty() ? nullptr : &known.at(Regime(regime.begin(), regime.end() - 1));
    // The same runs say nothing new, and must not count for themselves once more.
    const bool same = wider != nullptr && wider->rows == cell.votes.size();
    known[regime] = same ? *wider : spread_of(regime, cell, wider);
    if (!same) intervals.regimes.push_back(known[regime]);
  }
  intervals.devices = devices_of(residuals);
  return intervals;
}

Interval interval_of(const Circumstances& run, const Intervals& intervals) {
  const RegimeSpread* narrowest = &intervals.regimes.front();
  for (const auto& one : intervals.regimes)
    if (one.regime.size() > narrowest->regime.size() && one.regime.size() <= run.regime.size() &&
        std::equal(one.regime.begin(), one.regime.end(), run.regime.begin()))
      narrowest = &one;
  auto outside = outside_of(run, intervals.devices);
  // A run comes from a source of its own; the more sources were measured, the less that widens it.
  const double sources = 1 / static_cast<double>(narrowest->datasets);
  const double beyond = (outside.count + sources) * std::pow(normal_tenth * intervals.between, 2);
  const auto widened = [&](double side) { return std::sqrt(side * side + beyond); };
  return {-widened(std::min(0.0, narrowest->low)),
          widened(std::max(0.0, narrowest->high)),
          {narrowest->regime, narrowest->rows, narrowest->datasets, std::move(outside.texts)}};
}

void add_interval(Forecast& forecast, const Scenario& scenario, const Intervals& intervals) {
  if (intervals.regimes.empty()) return;
  forecast.memory.fit_chance = forecast.memory.host_fits ? fit_chance_of(forecast.memory) : 0.0;
  auto interval = interval_of(circumstances_of(scenario, forecast), intervals);
  forecast.step.time_low = std::exp(interval.low) * forecast.step.time;
  forecast.step.time_high = std::exp(interval.high) * forecast.step.time;
  forecast.validated = std::move(interval.validated);
}

}  // namespace forecast
