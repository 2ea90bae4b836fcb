// SPDX-License-Identifier: Apache-2.0
#include "report/launch/job_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "report/launch/script_edit.hpp"
#include "report/launch/text_lines.hpp"

namespace report {
namespace {

// Returns the number of processes that the script starts; nothing: it does not say.
std::optional<std::int64_t> started_by(const std::string& text, const JobFile& file,
                                       const scenarios::JobHints& hints) {
  const auto job = read_if_right(text, file, hints);  // the plan's GPUs tell what is wrong with it
  const auto* cluster = job ? job->document.find("cluster") : nullptr;
  const auto* gpus = cluster == nullptr ? nullptr : cluster->find("gpus");
  return gpus == nullptr ? std::nullopt : std::optional<std::int64_t>(std::stoll(gpus->text));
}

bool continues_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         c == '-';
}

// A number of nodes, and where it stands.
struct NodesAt {
  std::int64_t nodes = 0;
  TextRange at;
};

// Returns the number behind a name that ends at `end`: "=4", " 4", "=\"4\"" or ":-4".
std::optional<NodesAt> number_behind(std::string_view text, std::size_t end) {
  const auto first = text.find_first_not_of("=: \t\"'-", end);
  if (first == text.npos || first == end || text.substr(end, first - end).find(" -") != text.npos)
    return {};
  NodesAt found;
  const auto* begin = text.data() + first;
  const auto [stop, wrong] = std::from_chars(begin, text.data() + text.size(), found.nodes);
  found.at = {first, static_cast<std::size_t>(stop - text.data())};
  const bool whole = found.at.end == text.size() || !continues_name(text[found.at.end]);
  if (wrong != std::errc() || !whole || found.nodes < 1) return {};
  return found;
}

// Whether the place is in a comment that Slurm does not read.
bool is_told_to_nobody(std::string_view text, std::size_t at) {
  const auto begin = line_begin(text, at);
  const auto before = text.substr(begin, at - begin);
  if (before.starts_with("#SBATCH")) return false;
  const auto first = before.find_first_not_of(blanks);
  return (first != before.npos && before[first] == '#') || before.find(" #") != before.npos;
}

std::vector<NodesAt> numbers_of_nodes(std::string_view text) {
  constexpr std::array<std::string_view, 12> names{
      "--nodes",   "--nnodes", "--num_nodes",  "--num-nodes",         "-N",      "NNODES",
      "NUM_NODES", "NODES",    "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "N_NODES", "NUM_MACHINES"};
  std::vector<NodesAt> all;
  for (const auto name : names)
    for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
      const bool begins = at == 0 || !continues_name(text[at - 1]);
      const auto number = number_behind(text, at + name.size());
      if (begins && number && !is_told_to_nobody(text, at)) all.push_back(*number);
    }
  std::ranges::sort(all, {}, [](const NodesAt& one) { return one.at.begin; });
  return all;
}

}  // namespace

std::string change_nodes(std::string& text, const JobFile& file, const scenarios::JobHints& hints,
                         std::int64_t gpus) {
  constexpr std::string_view world = "WORLD_SIZE=";
  if (std::ranges::any_of(hints.env, [&](const auto& one) { return one.starts_with(world); }))
    return {};
  const auto started = started_by(text, file, hints);
  if (!started || *started == gpus) return {};
  const auto all = numbers_of_nodes(text);
  std::set<std::int64_t> tried;
  for (const auto& [nodes, place] : all) {
    if (nodes * gpus % *started != 0 || !tried.insert(nodes).second) continue;
    auto changed = text;
    for (auto one = all.rbegin(); one != all.rend(); ++one)
      if (one->nodes == nodes)
        changed.replace(one->at.begin, one->at.end - one->at.begin,
                        std::to_string(nodes * gpus / *started));
    if (started_by(changed, file, hints) != gpus) continue;
    text = std::move(changed);
    return {};
  }
  return fmt::format(
      "cluster: the script starts {} processes, and the plan is for {} GPUs; change its number of "
      "nodes, or of processes on each",
      *started, gpus);
}

}  // namespace report
