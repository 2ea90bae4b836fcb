// SPDX-License-Identifier: Apache-2.0
// Golden files: the program's output, kept to be read by people. STEPCAST_GOLDEN=write in the
// environment writes them anew; then the difference is the change to review.
#pragma once
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/catch.hpp"

namespace golden {

inline std::string path(const std::string& name) {
#ifdef STEPCAST_SOURCE_DIR
  return std::string(STEPCAST_SOURCE_DIR) + "/tests/report/" + name;
#else
  return "tests/report/" + name;
#endif
}

inline std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline void check(const std::string& name, const std::string& text) {
  const std::string file = path("golden/" + name);
  const char* mode = std::getenv("STEPCAST_GOLDEN");
  if (mode && std::string_view(mode) == "write") std::ofstream(file, std::ios::binary) << text;
  const bool as_kept = read(file) == text;
  const bool binary = text.find('\0') != std::string::npos;
  INFO(file << " is not what was printed:\n" << (binary ? "(binary)" : text));
  CHECK(as_kept);
}

}  // namespace golden
