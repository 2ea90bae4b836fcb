// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "units/text.hpp"

namespace report {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  // 0: not UTF-8
};

// The code point that starts at `at`, by the rules of RFC 3629: no overlong form, no surrogate.
CodePoint decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(at);
  if (first < 0x80) return {static_cast<char32_t>(first), 1};
  const std::size_t length = first >= 0xf0 ? 4u : first >= 0xe0 ? 3u : 2u;
  if (first < 0xc2 || first > 0xf4) return {};
  char32_t value = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0u) != 0x80u) return {};
    value = (value << 6) | (byte(at + i) & 0x3fu);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (overlong || surrogate || value > 0x10ffff) return {};
  return {value, length};
}

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u; }

}  // namespace

std::string printable(std::string_view name, bool unicode) {
  std::string shown;
  for (std::size_t at = 0; at < name.size();) {
    const CodePoint code = decode(name, at);
    const bool control = code.value < 0x20 || (code.value >= 0x7f && code.value < 0xa0);
    const bool reorders = (code.value >= 0x200b && code.value <= 0x200f) ||
                          (code.value >= 0x2028 && code.value <= 0x202e) ||
                          (code.value >= 0x2066 && code.value <= 0x2069);
    if (code.length == 0 || control || reorders || (!unicode && code.value >= 0x80))
      shown += '?';
    else
      shown += name.substr(at, code.length);
    at += std::max<std::size_t>(code.length, 1);
  }
  return shown;
}

int columns(std::string_view text) {
  return static_cast<int>(std::ranges::count_if(text, starts_character));
}

std::string left(std::string text, int width) {
  const int missing = width - columns(text);
  if (missing > 0) text.append(static_cast<std::size_t>(missing), ' ');
  return text;
}

std::string right(std::string text, int width) {
  const int missing = width - columns(text);
  if (missing > 0) text.insert(0, static_cast<std::size_t>(missing), ' ');
  return text;
}

std::string fitted(std::string text, int width) {
  if (columns(text) <= width) return text;
  std::size_t end = 0;
  for (int taken = 0; end < text.size(); ++end)
    if (starts_character(text[end]) && ++taken == width) break;
  return text.substr(0, end) + "~";
}

std::string wrapped(std::string_view text, int indent, int width) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string lines, line;
  const auto finish = [&] {
    if (!line.empty()) lines += margin + line + '\n';
    line.clear();
  };
  while (!text.empty()) {
    std::size_t space = std::min(text.find(' '), text.size());
    if (text.front() >= '0' && text.front() <= '9')
      space = std::min(text.find(' ', std::min(space + 1, text.size())), text.size());
    const std::string_view word = text.substr(0, space);
    if (!line.empty() && indent + columns(line) + 1 + columns(word) > width) finish();
    if (!line.empty() && !word.empty()) line += ' ';
    line += word;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  finish();
  return lines;
}

std::string grouped_count(std::int64_t number) {
  return units::with_commas(std::to_string(number));
}

std::string grouped(double value) {
  if (std::abs(value) < 99.95) return fmt::format("{:.3g}", value);
  return units::with_commas(fmt::format("{:.0f}", value));
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string percent_at_most(double share) { return percent(std::ceil(share * 1000 - 1e-9) / 1000); }

std::string signed_percent(double share) {
  if (std::abs(share) < 0.0005) return "0.0 %";
  return fmt::format("{:+.1f} %", share * 100);
}

std::string bar(double share, int width, bool track, const TextOptions& options) {
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int parts = options.unicode ? 8 : 1;
  const double whole = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * width * parts;
  int filled = static_cast<int>(std::lround(whole));
  if (filled == 0 && share > 0) filled = 1;
  std::string drawn;
  for (int i = 0; i < filled / parts; ++i) drawn += options.unicode ? "█" : "#";
  drawn += eighths[filled % parts];
  if (!track) return drawn;
  for (int i = columns(drawn); i < width; ++i) drawn += options.unicode ? "·" : ".";
  return drawn;
}

std::string toned(std::string_view text, Tone tone, const TextOptions& options) {
  if (!options.colour || tone == Tone::plain) return std::string(text);
  const char* code = tone == Tone::strong  ? "1"
                     : tone == Tone::faint ? "2"
                     : tone == Tone::good  ? "32"
                                           : "1;31";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string heading(const std::string& text, const TextOptions& options) {
  return '\n' + toned(text, Tone::strong, options) + '\n';
}

std::string item(const std::string& name, const std::string& text, const TextOptions& options) {
  std::string lines = wrapped(text, 14, width_of(options));
  return lines.replace(2, name.size(), name);
}

int width_of(const TextOptions& options) { return std::clamp(options.width, 60, 200); }

}  // namespace report
