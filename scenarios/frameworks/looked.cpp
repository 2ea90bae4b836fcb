// SPDX-License-Identifier: Apache-2.0
#include "scenarios/frameworks/looked.hpp"

#include <utility>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/toml.hpp"
#include "scenarios/jobs/deepspeed.hpp"
#include "scenarios/jobs/given.hpp"
#include "scenarios/jobs/keyed_job.hpp"

namespace scenarios {

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
  if (text.starts_with("#!")) return looked;  // a script
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
