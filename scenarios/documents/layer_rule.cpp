// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/layer_rule.hpp"

#include <algorithm>

namespace scenarios {
namespace {

// Returns the next layer behind `from` that has a window, or (`window` false) has none; the number
// of layers if there is none.
int next_with(const std::vector<bool>& windowed, int from, bool window) {
  const auto size = static_cast<int>(windowed.size());
  int layer = from + 1;
  while (layer < size && windowed[static_cast<std::size_t>(layer)] != window) ++layer;
  return layer;
}

bool follows(const std::vector<bool>& windowed, const WindowRule& rule) {
  for (int layer = 0; layer < static_cast<int>(windowed.size()); ++layer) {
    const bool full = rule.full_every > 0 && (layer + 1) % rule.full_every == 0;
    if (windowed[static_cast<std::size_t>(layer)] != (layer % rule.every == 0 && !full))
      return false;
  }
  return true;
}

}  // namespace

std::optional<WindowRule> window_rule(const std::vector<bool>& windowed) {
  if (windowed.empty() || windowed.size() > 10'000 || !windowed.front()) return {};
  const auto size = static_cast<int>(windowed.size());
  const int full = next_with(windowed, 0, false);
  if (full == size) return WindowRule{};
  for (const auto& rule : {WindowRule{next_with(windowed, 0, true), 0}, WindowRule{1, full + 1}})
    if (follows(windowed, rule)) return rule;
  return {};
}

}  // namespace scenarios
