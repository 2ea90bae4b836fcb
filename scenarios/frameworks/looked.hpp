// SPDX-License-Identifier: Apache-2.0
// Private to the room: a file's text, parsed before its framework is known.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/documents/yaml.hpp"
#include "scenarios/jobs/job.hpp"

namespace scenarios {

// A text, and its documents if it is a map of YAML or TOML.
struct Looked {
  std::string_view text;
  std::string file;
  const JobFiles& files;
  std::optional<Value> map, toml;

  // Returns the map, or else parses the text as YAML and throws Error for a mistake.
  Value document() const;
  // Whether the text is neither YAML nor TOML, but a script or a list of arguments.
  bool is_script() const { return !map && !toml; }
  bool has(std::string_view word) const { return text.find(word) != text.npos; }
};

// Whether the suffix of a file's name is that of a shell's script.
bool has_script_name(std::string_view file);

// The text as TOML, else as YAML or JSON, as far as it is one of them and neither the suffix of the
// file nor a line says that it is a script. O(text).
Looked looked_at(std::string_view text, const std::string& file, const JobFiles& files);

struct NamedText {
  std::string path, text;
};

// Returns the first of these files that exists; complains of the argument that names it if there is
// none, or if a shell must tell its value.
std::optional<NamedText> text_named_by(const JobArgument& argument,
                                       std::span<const std::string> paths, const JobFiles& files,
                                       Complaints& complaints);

// Returns the keys of the YAML or TOML file that the argument names as those of the job; complains
// if it does not exist.
std::vector<JobArgument> keys_of_file(const JobArgument& argument, const JobFiles& files,
                                      Complaints& complaints);

}  // namespace scenarios
