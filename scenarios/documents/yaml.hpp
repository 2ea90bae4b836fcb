// SPDX-License-Identifier: Apache-2.0
// A YAML document as a plain value that remembers where each part stands.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/documents/file.hpp"

namespace scenarios {

struct Member;

struct Value {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string text;             // scalar
  bool quoted = false;          // scalar that is text, whatever it looks like
  int line = 1, column = 1;     // from one, as editors count
  int set = 0;                  // N of the `--set` that wrote it; 0: it stands in the file
  std::vector<Value> items;     // list
  std::vector<Member> members;  // map, in file order, duplicates included

  const Value* find(std::string_view key) const;  // first member of that name, or null
  Value* find(std::string_view key);
};

struct Member {
  Value key, value;
};

// Parses one document; aliases become copies, and the key << merges the maps that it names. Throws
// Error, with the place, for text that is not YAML, is empty, holds several documents or exceeds a
// limit. O(text).
Value parse_yaml(std::string_view text, const std::string& file, const Limits& limits = {});

}  // namespace scenarios
