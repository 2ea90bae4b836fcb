// SPDX-License-Identifier: Apache-2.0
// The folder in which specifications write files (tests/main.cpp).
#include <filesystem>

#include "tests/catch.hpp"

namespace temporary_files_spec {

TEST_CASE("a run of a specification has an empty folder of its own for temporary files") {
  const auto folder = std::filesystem::temp_directory_path();
  CHECK(folder.filename().string().starts_with("stepcast_spec_"));
  CHECK(std::filesystem::is_empty(folder));
}

}  // namespace temporary_files_spec
