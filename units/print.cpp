// SPDX-License-Identifier: Apache-2.0
// Writing; text.cpp reads. std::to_chars throughout: no locale changes a byte.
#include <array>
#include <charconv>
#include <cmath>

#include "units/text.hpp"
#include "units/unit_table.hpp"

namespace units {
namespace {

struct Decimal {
  bool negative = false;
  std::string digits;  // d.ddd… without the point
  int exponent = 0;
};

// The shortest decimal that reads back as the same finite double.
Decimal shortest(double value) {
  std::array<char, 64> buffer{};
  const auto* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                  std::chars_format::scientific)
                        .ptr;
  Decimal decimal;
  const auto* at = buffer.data();
  for (; *at != 'e'; ++at) {
    if (*at == '-') decimal.negative = true;
    if (*at >= '0' && *at <= '9') decimal.digits += *at;
  }
  at += at[1] == '+' ? 2 : 1;
  std::from_chars(at, end, decimal.exponent);
  return decimal;
}

// Plain digits where few suffice ("450", "0.25"), else "1.5e21".
std::string spelt(Decimal decimal) {
  auto& digits = decimal.digits;
  const auto count = static_cast<int>(digits.size());
  const int exponent = digits == "0" ? 0 : decimal.exponent;
  if (exponent < -4 || exponent > 17) {
    if (count > 1) digits.insert(1, ".");
    digits += 'e' + std::to_string(exponent);
  } else if (exponent < 0) {
    digits = "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else if (count > exponent + 1) {
    digits.insert(static_cast<std::size_t>(exponent) + 1, ".");
  } else {
    digits.append(static_cast<std::size_t>(exponent + 1 - count), '0');
  }
  return decimal.negative ? '-' + digits : digits;
}

std::string number_in(const Unit& unit, double value) {
  auto decimal = shortest(value / unit.factor);
  decimal.exponent -= unit.exponent;
  return spelt(decimal);
}

std::string printed(double value, std::chars_format format, int digits) {
  std::array<char, 400> buffer{};  // the largest double has 309 digits
  const auto* end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits).ptr;
  return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

std::string with_unit(const std::string& number, std::string_view unit) {
  if (number == "1" && (unit == "days" || unit == "years")) unit.remove_suffix(1);
  return number + ' ' + std::string(unit);
}

// "500 MB" rather than "0.5 GB", which is as long.
std::size_t length(const std::string& number) {
  const bool below_one = number.starts_with("0.") || number.starts_with("-0.");
  return number.size() + (below_one ? 1 : 0);
}

// Returns the value in the unit whose number is shortest among those that give the value back; in
// the larger unit on a tie. The base unit always gives it back.
std::string exact(const Dimension& dimension, double value) {
  if (!std::isfinite(value)) return fixed(value, 0);
  std::string number;
  std::string_view name;
  for (const auto& unit : dimension.units) {
    if (unit.use == read_only) continue;
    const bool is_base = unit.factor == 1 && unit.exponent == 0;
    if (value == 0 && !is_base) continue;
    auto candidate = number_in(unit, value);
    if (value_of(candidate, unit) != value) continue;
    if (!number.empty() && length(candidate) > length(number)) continue;
    number = std::move(candidate);
    name = unit.name;
  }
  return with_unit(number, name);
}

struct Scale {
  std::string_view name;
  double size, from;  // of one, and where its use begins, both in base units
};

constexpr auto size_scales = std::to_array<Scale>({{"B", 1, 0},
                                                   {"KiB", 0x1p10, 0x1p10},
                                                   {"MiB", 0x1p20, 0x1p20},
                                                   {"GiB", 0x1p30, 0x1p30},
                                                   {"TiB", 0x1p40, 0x1p40},
                                                   {"PiB", 0x1p50, 0x1p50}});
constexpr auto bandwidth_scales = std::to_array<Scale>({{"B/s", 1, 0},
                                                        {"kB/s", 1e3, 1e3},
                                                        {"MB/s", 1e6, 1e6},
                                                        {"GB/s", 1e9, 1e9},
                                                        {"TB/s", 1e12, 1e12},
                                                        {"PB/s", 1e15, 1e15}});
constexpr auto flop_rate_scales = std::to_array<Scale>({{"FLOP/s", 1, 0},
                                                        {"KFLOP/s", 1e3, 1e3},
                                                        {"MFLOP/s", 1e6, 1e6},
                                                        {"GFLOP/s", 1e9, 1e9},
                                                        {"TFLOP/s", 1e12, 1e12},
                                                        {"PFLOP/s", 1e15, 1e15},
                                                        {"EFLOP/s", 1e18, 1e18}});
// A step of 100 seconds is still read in seconds, a run of 40 hours in hours.
constexpr auto duration_scales = std::to_array<Scale>({{"ns", 1e-9, 0},
                                                       {"us", 1e-6, 1e-6},
                                                       {"ms", 1e-3, 1e-3},
                                                       {"s", 1, 1},
                                                       {"min", 60, 200},
                                                       {"h", 3600, 200 * 60},
                                                       {"days", 86'400, 3 * 86'400},
                                                       {"years", 365 * 86'400, 2 * 365 * 86'400}});
constexpr auto power_scales =
    std::to_array<Scale>({{"mW", 1e-3, 0}, {"W", 1, 1}, {"kW", 1e3, 1e3}, {"MW", 1e6, 1e6}});

// Three significant digits; from a thousand on, every digit before the point.
std::string brief(std::span<const Scale> scales, std::string_view base, double value) {
  if (value == 0 || !std::isfinite(value)) return fixed(value, 0) + ' ' + std::string(base);
  const double magnitude = std::abs(value);
  const auto* scale = &scales.front();
  for (const auto& larger : scales)
    if (magnitude >= larger.from) scale = &larger;
  const double number = magnitude / scale->size;
  const int places = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return (value < 0 ? "-" : "") + fixed(number, places) + ' ' + std::string(scale->name);
}

}  // namespace

std::string exact_text(Bytes q) { return exact(size, q.value); }
std::string exact_text(BytesPerSecond q) { return exact(bandwidth, q.value); }
std::string exact_text(FlopsPerSecond q) { return exact(flop_rate, q.value); }
std::string exact_text(Seconds q) { return exact(duration, q.value); }
std::string exact_text(Watts q) { return exact(power, q.value); }
std::string exact_text(Money q) {
  return std::isfinite(q.value) ? spelt(shortest(q.value)) : fixed(q.value, 0);
}

std::string short_text(Bytes q) { return brief(size_scales, "B", q.value); }
std::string short_text(BytesPerSecond q) { return brief(bandwidth_scales, "B/s", q.value); }
std::string short_text(FlopsPerSecond q) { return brief(flop_rate_scales, "FLOP/s", q.value); }
std::string short_text(Seconds q) { return brief(duration_scales, "s", q.value); }
std::string short_text(Watts q) { return brief(power_scales, "W", q.value); }

std::string with_commas(std::string digits) {
  const std::size_t sign = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string significant(double number, int digits) {
  return printed(number, std::chars_format::general, digits);
}

std::string fixed(double number, int places) {
  return printed(number, std::chars_format::fixed, places);
}

std::string plain(double number) {
  const bool whole = number == std::floor(number) && std::abs(number) < 1e15;
  return whole ? with_commas(fixed(number, 0)) : significant(number, 6);
}

}  // namespace units
