// SPDX-License-Identifier: Apache-2.0
// The units that a quantity can be written in. Private to this room: see text.hpp.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace units {

// One unit is factor · 10^exponent of the SI base unit. The power of ten joins the number's own
// exponent before it is read, so that "0.1 GB" and "1e8" are the same double.
struct Unit {
  std::string_view name;
  double factor = 1;
  int exponent = 0;
  enum class Use { read_and_write, read_only } use = Use::read_and_write;
};

inline constexpr auto read_only = Unit::Use::read_only;

// A dimension: its name in complaints, an example, and its units, smaller ones first.
struct Dimension {
  std::string_view article, name, example;
  std::span<const Unit> units;
};

// The number in a unit as a value in base units, rounded once where the factor is a power of two.
// `number` is a decimal as std::from_chars knows it. Nothing outside the range of a double.
std::optional<double> value_of(std::string_view number, const Unit& unit);

namespace table {

inline constexpr auto size_units = std::to_array<Unit>({
    {"B"},
    {"kB", 1, 3},
    {"KB", 1, 3, read_only},
    {"KiB", 0x1p10},
    {"MB", 1, 6},
    {"MiB", 0x1p20},
    {"GB", 1, 9},
    {"GiB", 0x1p30},
    {"TB", 1, 12},
    {"TiB", 0x1p40},
    {"PB", 1, 15},
    {"PiB", 0x1p50},
});
inline constexpr auto bandwidth_units = std::to_array<Unit>({
    {"B/s"},
    {"kB/s", 1, 3},
    {"KB/s", 1, 3, read_only},
    {"MB/s", 1, 6},
    {"GB/s", 1, 9},
    {"TB/s", 1, 12},
    {"PB/s", 1, 15},
    {"KiB/s", 0x1p10, 0, read_only},
    {"MiB/s", 0x1p20, 0, read_only},
    {"GiB/s", 0x1p30, 0, read_only},
    {"TiB/s", 0x1p40, 0, read_only},
    {"bit/s", 0.125, 0, read_only},
    {"kbit/s", 0.125, 3, read_only},
    {"Mbit/s", 0.125, 6, read_only},
    {"Gbit/s", 0.125, 9, read_only},
    {"Tbit/s", 0.125, 12, read_only},
});
inline constexpr auto flop_rate_units = std::to_array<Unit>({
    {"FLOP/s"},
    {"KFLOP/s", 1, 3},
    {"kFLOP/s", 1, 3, read_only},
    {"MFLOP/s", 1, 6},
    {"GFLOP/s", 1, 9},
    {"TFLOP/s", 1, 12},
    {"PFLOP/s", 1, 15},
    {"EFLOP/s", 1, 18},
    {"FLOPS", 1, 0, read_only},
    {"KFLOPS", 1, 3, read_only},
    {"MFLOPS", 1, 6, read_only},
    {"GFLOPS", 1, 9, read_only},
    {"TFLOPS", 1, 12, read_only},
    {"PFLOPS", 1, 15, read_only},
    {"EFLOPS", 1, 18, read_only},
});
inline constexpr auto duration_units = std::to_array<Unit>({
    {"ns", 1, -9},
    {"us", 1, -6},
    {"ms", 1, -3},
    {"s"},
    {"min", 60},
    {"minute", 60, 0, read_only},
    {"minutes", 60, 0, read_only},
    {"h", 3600},
    {"hour", 3600, 0, read_only},
    {"hours", 3600, 0, read_only},
    {"day", 86'400, 0, read_only},
    {"days", 86'400},
    {"week", 7 * 86'400, 0, read_only},
    {"weeks", 7 * 86'400, 0, read_only},
    {"year", 365 * 86'400, 0, read_only},
    {"years", 365 * 86'400},
});
inline constexpr auto power_units = std::to_array<Unit>({
    {"mW", 1, -3},
    {"W"},
    {"kW", 1, 3},
    {"MW", 1, 6},
});
// People write "15T" as well as "15 T tokens" and "15 trillion tokens".
inline constexpr auto token_units = std::to_array<Unit>({
    {"tokens"},
    {"M", 1, 6, read_only},
    {"million", 1, 6, read_only},
    {"M tokens", 1, 6, read_only},
    {"million tokens", 1, 6, read_only},
    {"B", 1, 9, read_only},
    {"billion", 1, 9, read_only},
    {"B tokens", 1, 9, read_only},
    {"billion tokens", 1, 9, read_only},
    {"T", 1, 12, read_only},
    {"trillion", 1, 12, read_only},
    {"T tokens", 1, 12, read_only},
    {"trillion tokens", 1, 12, read_only},
});
// Multiples of a currency, which is written behind them: "5 M USD".
inline constexpr auto money_units = std::to_array<Unit>({
    {"k", 1, 3, read_only},
    {"thousand", 1, 3, read_only},
    {"M", 1, 6, read_only},
    {"million", 1, 6, read_only},
    {"B", 1, 9, read_only},
    {"billion", 1, 9, read_only},
});

}  // namespace table

inline constexpr Dimension size{"a", "size", "80 GiB", table::size_units};
inline constexpr Dimension bandwidth{"a", "bandwidth", "450 GB/s", table::bandwidth_units};
inline constexpr Dimension flop_rate{"a", "computing rate", "312 TFLOP/s", table::flop_rate_units};
inline constexpr Dimension duration{"a", "duration", "5 us", table::duration_units};
inline constexpr Dimension power{"a", "power", "700 W", table::power_units};
inline constexpr Dimension money{"an", "amount of money", "300e3 USD", table::money_units};
inline constexpr Dimension tokens{"a", "number of tokens", "2 T tokens", table::token_units};
// "5 M" is taken as tokens rather than as money.
inline constexpr std::array dimensions{&size,  &bandwidth, &flop_rate, &duration,
                                       &power, &tokens,    &money};

}  // namespace units
