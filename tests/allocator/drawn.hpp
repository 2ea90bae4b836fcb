// SPDX-License-Identifier: Apache-2.0
// Segments as one would draw them, from the highest address down, as the driver gives them, such as
// "small [512 a | 2096640]": letters are tensors 0, 1, …, a letter in brackets waits, and sizes are
// in bytes, or in MiB where whole.
#pragma once
#include <string>
#include <vector>

#include "allocator/counts.hpp"

namespace tests {

inline std::string drawn_size(allocator::Size size) {
  return size % allocator::mib == 0 ? std::to_string(size / allocator::mib) + " MiB"
                                    : std::to_string(size);
}

inline std::string drawn(const std::vector<allocator::Segment>& segments) {
  using State = allocator::Segment::Part::State;
  std::string text;
  for (auto at = segments.rbegin(); at != segments.rend(); ++at) {
    const auto& segment = *at;
    if (!text.empty()) text += "; ";
    text += segment.small ? "small" : "large";
    if (segment.stream > 0) text += " on " + std::to_string(segment.stream);
    text += " [";
    for (const auto& part : segment.parts) {
      if (&part != &segment.parts.front()) text += " | ";
      text += drawn_size(part.size);
      const std::string name(1, static_cast<char>('a' + static_cast<char>(part.tensor)));
      if (part.state == State::allocated) text += " " + name;
      if (part.state == State::waiting) text += " (" + name + ")";
    }
    text += "]";
  }
  return text;
}

}  // namespace tests
