// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/looked.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/toml.hpp"
#include "scenarios/jobs/deepspeed.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/keyed_job.hpp"
#include "scenarios/jobs/launch_words.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {
namespace {

template <std::size_t N>
bool has_suffix(std::string_view file, const std::array<std::string_view, N>& suffixes) {
  return std::ranges::any_of(suffixes, [&](std::string_view one) { return file.ends_with(one); });
}

// Whether a line of a text, not indented, is one of a shell: it assigns a variable, or starts a
// launcher. A key of YAML ends with a colon, and its texts are indented.
bool is_shell_line(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<ShellWord> words;
  for (auto begin = std::min(line.find_first_not_of(blanks), line.size()); begin < line.size();) {
    const auto end = std::min(line.find_first_of(blanks, begin), line.size());
    words.push_back({std::string(line.substr(begin, end - begin)), {}, {}});
    begin = std::min(line.find_first_not_of(blanks, end), line.size());
  }
  if (words.empty() || blanks.find(line.front()) != blanks.npos) return false;
  const bool exports = words.size() > 1 && words.front().text == "export";
  if (assigned_at(words[exports ? 1 : 0].text) != std::string_view::npos) return true;
  const bool key =
      words.front().text.ends_with(':') || (words.size() > 1 && words[1].text.starts_with(':'));
  if (key || std::string_view("-?\"'{[&").find(line.front()) != std::string_view::npos)
    return false;
  const bool starts = launched_command(std::span(words).first(1)).launched ||
                      words.front().text.starts_with("python");
  return starts && launched_command(words).launched;
}

// Whether a text is a script of a shell, which its first line, the suffix of its name or one of its
// lines says.
bool is_shell_text(std::string_view text, std::string_view file) {
  constexpr std::array<std::string_view, 4> documents{".yaml", ".yml", ".json", ".toml"};
  if (text.starts_with("#!") || has_script_name(file)) return true;
  const auto first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  if (has_suffix(file, documents) || text.substr(first).starts_with('{') || looks_like_toml(text))
    return false;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    if (is_shell_line(text.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

bool has_script_name(std::string_view file) {
  constexpr std::array<std::string_view, 4> scripts{".sh", ".bash", ".slurm", ".sbatch"};
  return has_suffix(file, scripts);
}

Value Looked::document() const { return map ? *map : parse_yaml(plain_json(text), file); }

std::optional<NamedText> text_named_by(const JobArgument& argument,
                                       std::span<const std::string> paths, const JobFiles& files,
                                       Complaints& complaints) {
  const auto& trouble = argument.values.front().trouble;
  if (trouble.empty() && files)
    for (const auto& path : paths)
      if (auto text = files(path)) return NamedText{path, std::move(*text)};
  complaints.add(
      argument.at,
      written(argument) + ": " +
          (trouble.empty() ? "this file is not beside the job; what it trains stands there"
                           : trouble));
  return {};
}

std::vector<JobArgument> keys_of_file(const JobArgument& argument, const JobFiles& files,
                                      Complaints& complaints) {
  std::vector<JobArgument> keys;
  if (argument.values.empty() || !files) return keys;
  const auto found = text_named_by(argument, {&argument.values.front().text, 1}, files, complaints);
  if (!found) return keys;
  const auto& [path, text] = *found;
  keys = keyed_job(path.ends_with(".toml") ? parse_toml(text, path) : parse_yaml(text, path), true)
             .arguments;
  for (auto& one : keys) {
    one.file = path;
    one.named = argument.at;
  }
  return keys;
}

Looked looked_at(std::string_view text, const std::string& file, const JobFiles& files) {
  Looked looked{text, file, files, {}, {}};
  if (is_shell_text(text, file)) return looked;
  if (looks_like_toml(text)) {
    try {
      looked.toml = parse_toml(text, file);
      return looked;
    } catch (const Error&) {  // a script, or a mistake that the reader of scenarios will name
    }
  }
  try {
    const bool json = text.substr(0, text.find_first_not_of(" \t\r\n") + 1).ends_with('{');
    auto value = json ? parse_yaml(plain_json(text), file) : parse_yaml(text, file);
    // A command in one line may hold a colon: $((A ? 64 : 8)).
    const bool command =
        value.members.size() == 1 && value.members.front().key.text.find(" --") != text.npos;
    if (value.kind == Value::Kind::map && !command) looked.map = std::move(value);
  } catch (const Error&) {  // a script, or a mistake that the reader of scenarios will name
  }
  return looked;
}

}  // namespace scenarios
