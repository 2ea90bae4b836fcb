// SPDX-License-Identifier: Apache-2.0
// Lists of layers as Megatron-LM's arguments write them: a pattern of 0 and 1, a layout of stages.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace scenarios {

// Returns the entries, one per layer, of a list of 0 and 1 as Python writes it, "([0]*3+[1]*58)";
// nothing for another text, and for more than 10,000 layers.
std::optional<std::vector<int>> layer_list(std::string_view text);

// The layers of each part of a layout, and the number of modules that predict further tokens.
// "Et*3|(tt|)*6mL": E embedding, t layer, m prediction module, L loss, | between virtual stages, *N
// repeats, commas mean nothing.
struct StageLayout {
  std::vector<std::int64_t> layers;
  std::int64_t predictions = 0;
  bool apart = false;  // a module stands in another part than the loss
};
std::optional<StageLayout> stage_layout(std::string_view text);

}  // namespace scenarios
