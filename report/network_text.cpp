// SPDX-License-Identifier: Apache-2.0
#include "report/network_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/terminal.hpp"
#include "report/words.hpp"
#include "units/text.hpp"

namespace report {
namespace {

constexpr std::size_t most_kinds = 2, most_losses = 2;
constexpr double worth_saying = 1e-3;  // of the step

// The busiest link of each kind, the busiest kinds first.
std::vector<forecast::LinkLoad> busiest(const std::vector<forecast::LinkLoad>& links) {
  std::vector<forecast::LinkLoad> found;
  for (const auto& link : links)
    if (found.size() < most_kinds &&
        std::ranges::find(found, link.kind, &forecast::LinkLoad::kind) == found.end())
      found.push_back(link);
  return found;
}

std::string loss_line(const forecast::Slowed& loss, units::Seconds step) {
  return fmt::format("{}: {} ({}) longer beside {} on {}", loss.what, units::short_text(loss.lost),
                     percent(loss.lost / step), loss.by, loss.link);
}

}  // namespace

std::string network_text(const forecast::Forecast& forecast, const TextOptions& options) {
  if (forecast.links.empty()) return {};
  std::vector<std::string> losses;
  for (const auto& loss : forecast.slowed)
    if (losses.size() < most_losses && loss.lost / forecast.step.time >= worth_saying)
      losses.push_back(loss_line(loss, forecast.step.time));
  std::string heading = "Network: how busy the busiest link of each kind is";
  if (losses.empty()) heading += "; sharing slows no rank by 0.1 %";
  std::string text = '\n' + toned(heading, Tone::strong, options) + '\n';
  const int bar_width = width_of(options) - 54;
  for (const auto& link : busiest(forecast.links)) {
    std::string name = link.name;
    if (link.alike > 1)
      name += fmt::format(" and {} alike", grouped(static_cast<double>(link.alike - 1)));
    text += fmt::format("  {}  {}  {}  {}\n", left(link.kind, 10), left(name, 30),
                        right(percent(link.utilisation), 8),
                        bar(link.utilisation, bar_width, false, options));
  }
  for (const auto& loss : losses) text += wrapped(loss, 2, width_of(options));
  return text;
}

}  // namespace report
