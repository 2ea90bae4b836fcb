// SPDX-License-Identifier: Apache-2.0
// Private to the room: numbers, bars and names as a terminal shows them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "report/style.hpp"

namespace report {

// Returns `name` without characters that could disturb a terminal: control characters and bytes
// that are no UTF-8 become '?', and so do all beyond ASCII if `unicode` is false.
std::string printable(std::string_view name, bool unicode);

// Columns that valid UTF-8 takes, one per code point.
int columns(std::string_view text);

// `text` filled with spaces to `width` columns, on the right or on the left; never cut.
std::string left(std::string text, int width);
std::string right(std::string text, int width);

// `text` cut to `width` columns, the cut marked by "~".
std::string fitted(std::string text, int width);

// `text` broken at spaces into lines of at most `width` columns where words allow, each after
// `indent` spaces; not after a number, whose unit follows. Every line ends with a line feed.
std::string wrapped(std::string_view text, int indent, int width);

std::string grouped_count(std::int64_t number);  // "1,234,567"
std::string grouped(double value);         // "171,234"; below 100 with three significant digits
std::string percent(double share);         // "45.3 %"
std::string signed_percent(double share);  // "+3.2 %"; "-0.0 %" is "0.0 %"
// The share rounded up: a proved gap in words is never smaller than the proved one.
std::string percent_at_most(double share);

// Returns a bar of `share` of `width` columns; a share above zero always shows. With `track` the
// rest is marked.
std::string bar(double share, int width, bool track, const TextOptions& options);

enum class Tone { plain, strong, faint, good, bad };
std::string toned(std::string_view text, Tone tone, const TextOptions& options);

// A line in bold after an empty one.
std::string heading(const std::string& text, const TextOptions& options);

// "  throughput  …": a name, and text that keeps to its right.
std::string item(const std::string& name, const std::string& text, const TextOptions& options);

int width_of(const TextOptions& options);

}  // namespace report
