// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/launched_program.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace scenarios {
namespace {

bool is_program(std::string_view word) { return word.ends_with(".py"); }

}  // namespace

std::size_t program_in(std::span<const ShellWord> words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (is_program(words[i].text)) return i;
  // The last module counts: "python -m torch.distributed.run -m training.pretrain".
  for (auto i = words.size(); i > 1; --i)
    if (words[i - 2].text == "-m") return i - 1;
  return words.size();
}

std::size_t own_program_in(std::span<const ShellWord> words) {
  constexpr std::array<std::string_view, 7> names{
      "axolotl", "llamafactory-cli", "swift", "megatron", "trl", "automodel", "primus-cli"};
  for (std::size_t i = 0; i + 1 < words.size() && !is_program(words[i].text); ++i) {
    std::string_view name = words[i].text;
    name.remove_prefix(name.rfind('/') + 1);
    const bool does = std::isalpha(static_cast<unsigned char>(words[i + 1].text[0])) != 0;
    if (does && std::ranges::find(names, name) != names.end()) return i;
  }
  return words.size();
}

}  // namespace scenarios
