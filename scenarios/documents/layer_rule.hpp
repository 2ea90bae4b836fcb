// SPDX-License-Identifier: Apache-2.0
// A list with one entry per layer, as the rule that it follows.
#pragma once
#include <optional>
#include <vector>

namespace scenarios {

// The first of every `every` layers has a window, but for the last of every `full_every` (0: none).
struct WindowRule {
  int every = 1, full_every = 0;
  friend bool operator==(const WindowRule&, const WindowRule&) = default;
};

// Returns the rule by which exactly these of at most 10,000 layers have a window; nothing if none
// has one, or if they follow no such rule.
std::optional<WindowRule> window_rule(const std::vector<bool>& windowed);

}  // namespace scenarios
