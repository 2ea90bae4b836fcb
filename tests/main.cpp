// SPDX-License-Identifier: Apache-2.0
// The main() of every specification: the files that a run writes lie in a folder of its own, so
// that runs beside each other do not meet, and nothing stays behind.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char* argv[]) {
  namespace fs = std::filesystem;
  auto folder = (fs::temp_directory_path() / "stepcast_spec_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return EXIT_FAILURE;
  ::setenv("TMPDIR", folder.c_str(), 1);
  const int status = Catch::Session().run(argc, argv);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return status;
}
