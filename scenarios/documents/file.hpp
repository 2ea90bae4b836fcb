// SPDX-License-Identifier: Apache-2.0
// Files of users, opened and read. Every reader gets its text here, once, so that pipes work too.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scenarios {

// Limits beyond which a document is refused.
struct Limits {
  std::uintmax_t bytes = std::uintmax_t{1} << 20;
  std::size_t nodes = 30'000;  // after aliases are expanded
  int depth = 64;
};

// Logs and tables that programs write.
inline constexpr Limits log_limits{.bytes = std::uintmax_t{64} << 20};
inline constexpr Limits table_limits{.bytes = std::uintmax_t{16} << 20};

// The file, to be read from its beginning. Throws Error for a missing file, a directory, or one
// that may not be read.
std::filebuf open_file(const std::filesystem::path& file);

// The whole file; a pipe or device is read to its end. Throws Error as above, for one beyond
// `limits.bytes`, of which no more is read, and where reading fails.
std::string read_file(const std::filesystem::path& file, const Limits& limits = {});

// Files that reading something led to.
using Files = std::vector<std::filesystem::path>;

// An input: a file, or a text in memory under a name. Paths in a text start from the current
// folder.
struct Source {
  template <std::convertible_to<std::filesystem::path> Path>
  Source(const Path& path) : file(path) {}
  Source(const std::string& name, std::string given) : file(name), text(std::move(given)) {}

  std::filesystem::path folder() const;               // base of paths in the file
  void tell(Files* read) const;                       // adds the file; null: tells nobody
  std::string read(const Limits& limits = {}) const;  // as read_file, and a text alike

  std::filesystem::path file;  // or the name, which complaints show
  std::optional<std::string> text;
};

// Texts of files that other files name: each is read once, as by read_file, however often it is
// asked for.
class Texts {
 public:
  const std::string& of(const std::filesystem::path& file, const Limits& limits = {});
  const std::string* find(const std::filesystem::path& file) const;         // null: not read yet
  bool any(const std::function<bool(std::string_view text)>& holds) const;  // of those read
  void tell(Files* read) const;  // adds the files that were read, sorted; null: tells nobody

 private:
  std::map<std::filesystem::path, std::string> texts_;
};

}  // namespace scenarios
