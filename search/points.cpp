// SPDX-License-Identifier: Apache-2.0
#include "search/points.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace search {
namespace {

using forecast::Forecast;
using forecast::Scenario;

using enum Figure::Kind;

constexpr std::array of_step{
    Figure{"step_time_s", number, true,
           [](const Scenario&, const Forecast& f) { return f.step.time.value; }},
    Figure{"tokens_per_s_per_gpu", number, false,
           [](const Scenario&, const Forecast& f) { return f.step.tokens_per_second_per_gpu; }},
    Figure{"mfu", number, false, [](const Scenario&, const Forecast& f) { return f.step.mfu; }},
    Figure{"peak_bytes", number, true,
           [](const Scenario&, const Forecast& f) { return f.memory.peak.value; }},
    Figure{"fits", truth, false,
           [](const Scenario&, const Forecast& f) {
             return f.memory.fits && f.memory.host_fits ? 1.0 : 0.0;
           }},
    Figure{"bubble_fraction", number, true,
           [](const Scenario&, const Forecast& f) { return f.pipeline.bubble_fraction; }},
    Figure{"time_low_s", number, true,
           [](const Scenario&, const Forecast& f) { return f.step.time_low.value; }},
    Figure{"time_high_s", number, true,
           [](const Scenario&, const Forecast& f) { return f.step.time_high.value; }},
    Figure{"tokens_per_s", number, false,
           [](const Scenario&, const Forecast& f) { return f.step.tokens_per_second; }},
    Figure{"hfu", number, false, [](const Scenario&, const Forecast& f) { return f.step.hfu; }},
    Figure{"gpus", whole, true,
           [](const Scenario& s, const Forecast&) { return static_cast<double>(s.cluster.gpus); }},
    Figure{"microbatches", whole, false,
           [](const Scenario&, const Forecast& f) {
             return static_cast<double>(f.step.microbatches);
           }},
    Figure{"fit_chance", number, false, [](const Scenario&, const Forecast& f) {
             return f.memory.fit_chance.value_or(f.memory.fits ? 1.0 : 0.0);
           }}};

template <std::size_t... i>
constexpr std::array<Figure, sizeof...(i)> figures_of_parts(std::index_sequence<i...>) {
  return {Figure{forecast::step_parts[i].key, number, true, [](const Scenario&, const Forecast& f) {
                   return f.time[forecast::step_parts[i].part].value;
                 }}...};
}
constexpr auto of_parts = figures_of_parts(std::make_index_sequence<forecast::step_parts.size()>());

constexpr auto all = [] {
  std::array<Figure, of_step.size() + of_parts.size()> both{};
  std::ranges::copy(of_parts, std::ranges::copy(of_step, both.begin()).out);
  return both;
}();

}  // namespace

std::string_view to_text(PointStatus status) {
  constexpr std::array<std::string_view, 4> names{"ok", "does-not-fit", "invalid", "no-plan"};
  return names[static_cast<std::size_t>(status)];
}

std::span<const Figure> figures() { return all; }

double figure_named(std::string_view name, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (all[i].name == name) return values[i];
  return 0;
}

std::vector<double> figures_of(const Scenario& scenario, const Forecast& forecast) {
  std::vector<double> values;
  values.reserve(all.size());
  for (const auto& figure : all) {
    values.push_back(figure.of(scenario, forecast));
    if (!std::isfinite(values.back()))
      throw std::domain_error(std::string(figure.name) + " is not finite");
  }
  return values;
}

PointStatus status_of(const Forecast& forecast) {
  const auto& memory = forecast.memory;
  return memory.fits && memory.host_fits ? PointStatus::ok : PointStatus::does_not_fit;
}

}  // namespace search
