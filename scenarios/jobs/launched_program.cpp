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

std::span<const std::string_view> variables_of_script(std::span<const ShellWord> words) {
  static constexpr std::array<std::string_view, 4> of_titan{"NGPU", "CONFIG_FILE", "MODULE",
                                                            "CONFIG"};
  static constexpr std::array<std::string_view, 3> of_primus{"NNODES", "GPUS_PER_NODE", "EXP"};
  constexpr std::array<std::string_view, 3> primus{"run_pretrain.sh", "run_slurm_pretrain.sh",
                                                   "run_local_pretrain.sh"};
  for (const auto& word : words) {
    std::string_view name = word.text;
    if (is_program(name)) break;
    name.remove_prefix(name.rfind('/') + 1);
    if (name == "run_train.sh") return of_titan;
    if (std::ranges::find(primus, name) != primus.end()) return of_primus;
  }
  return {};
}

}  // namespace scenarios
