// SPDX-License-Identifier: Apache-2.0
#include "report/amounts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/terminal.hpp"

namespace report {

std::string money_words(units::Money money, const std::string& currency) {
  const double size = std::abs(money.value);
  if (size >= 999.5e6) return fmt::format("{:.3g} billion {}", money.value / 1e9, currency);
  if (size >= 999.5e3) return fmt::format("{:.3g} million {}", money.value / 1e6, currency);
  return grouped(money.value) + " " + currency;
}

std::string days(units::Seconds time) { return grouped(time.value / seconds_per_day); }
std::string days_words(units::Seconds time) { return days(time) + " days"; }

std::string energy_words(units::Joules energy) {
  const double watt_hours = energy.value / joules_per_watt_hour;
  if (watt_hours >= 999.5e6) return fmt::format("{:.3g} GWh", watt_hours / 1e9);
  if (watt_hours >= 999.5e3) return fmt::format("{:.3g} MWh", watt_hours / 1e6);
  return fmt::format("{:.3g} kWh", watt_hours / 1e3);
}

std::string tokens_words(double tokens) {
  if (tokens >= 999.5e9) return fmt::format("{:.4g} trillion tokens", tokens / 1e12);
  if (tokens >= 999.5e6) return fmt::format("{:.4g} billion tokens", tokens / 1e9);
  return grouped(tokens) + " tokens";
}

}  // namespace report
