// SPDX-License-Identifier: Apache-2.0
// Quantities as people write them: "80 GiB", "312 TFLOP/s", "400 Gbit/s", "5 us", "700 W".
#pragma once
#include <string>
#include <string_view>

#include "units/kernel.hpp"
#include "units/quantity.hpp"

namespace units {

// Parses "NUMBER UNIT" or a bare number in the SI base unit; the space may be left out.
// GB = 10^9 bytes, GiB = 2^30. Throws std::invalid_argument on anything else, with a sentence that
// names the text and shows how to write it: "unknown bandwidth '450 GBs'; write e.g. '450 GB/s'".
// A unit of another kind is named as such: "'80 GiB' is a size, not a bandwidth; write e.g. …".
// Not-a-number, infinities and overflow are refused; sign and range are the caller's to judge.
Bytes parse_bytes(std::string_view text);
BytesPerSecond parse_bandwidth(std::string_view text);  // also bit/s: "400 Gbit/s"
FlopsPerSecond parse_flop_rate(std::string_view text);
// ns us ms s min(ute(s)) hour(s) day(s) week(s) year(s); months, of no fixed length, are refused
Seconds parse_duration(std::string_view text);
Watts parse_power(std::string_view text);
Money parse_money(std::string_view text);    // "300e3 USD", "5 M USD", "3 million USD"
double parse_tokens(std::string_view text);  // "2e12", "2 T tokens", "15 trillion"

// The same, but a refusal shows `example`: "60 days" where durations are long.
Seconds parse_duration_like(std::string_view text, std::string_view example);

// Returns the currency of an amount of money, the three capitals of "5 M USD"; empty: it has none,
// or the text is no amount.
std::string_view currency_of(std::string_view text);

// Exact: parse(exact_text(q)) == q. The largest unit that keeps the number short.
std::string exact_text(Bytes);
std::string exact_text(BytesPerSecond);
std::string exact_text(FlopsPerSecond);
std::string exact_text(Seconds);
std::string exact_text(Watts);
std::string exact_text(Money);

// Text for people, with three or four significant digits and a fitting unit: "17.9 s", "68.4 GiB".
std::string short_text(Bytes);
std::string short_text(BytesPerSecond);
std::string short_text(FlopsPerSecond);
std::string short_text(Seconds);
std::string short_text(Watts);

// The text with A to Z as a to z; other bytes stay, whatever the locale.
std::string lower_case(std::string_view text);

// The text without blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

// A whole number's digits in groups of three: "-1234567" as "-1,234,567".
std::string with_commas(std::string digits);

// Numbers without a unit, by the bytes of printf in the C locale, whatever locale a program sets:
// at most so many significant digits, "0.333" or "1.2e+10" (%.3g), and so many digits behind the
// point, "0.3" (%.1f).
std::string significant(double number, int digits);
std::string fixed(double number, int places);
// A whole number below 1e15 with all of its digits, 1048576 as "1,048,576", others with six: "0.5".
std::string plain(double number);

std::string_view to_text(Precision);

}  // namespace units
