// SPDX-License-Identifier: Apache-2.0
// Private to the room: values of keys changed where they stand in a job's file.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/launch/text_lines.hpp"
#include "scenarios/documents/yaml.hpp"

namespace report {

// An argument by its name in the file, "--micro-batch-size" or "training.seq_len", and its value as
// the format spells it, "4" or "\"1F1B\""; absent: the argument goes.
struct JobEdit {
  std::string name;
  std::optional<std::string> value;
};

// Returns the text with the edits made. Only the named arguments change: an argument that is there
// keeps its place, a new one comes beside others of its section. Edits that find no place are left
// out; the caller reads the text again to see which.
std::string edited_json(std::string_view text, const std::vector<JobEdit>& edits);
std::string edited_toml(std::string_view text, const std::vector<JobEdit>& edits);
std::string edited_yaml(std::string_view text, const std::vector<JobEdit>& edits);

// Returns where a value of a file of keys stands, with its quotes.
TextRange range_of(std::string_view text, const scenarios::Value& value);

// Returns a value of a file of keys as it is spelled there, without its quotes.
std::string spelled_at(std::string_view text, const scenarios::Value& value);

}  // namespace report
