// SPDX-License-Identifier: Apache-2.0
// What fuzzers start from, and what once broke a reader.
#include <filesystem>

#include "scenarios/file.hpp"
#include "tests/catch.hpp"
#include "tests/fuzz/readers.hpp"

namespace fs = std::filesystem;

namespace {

const fs::path corpora = fs::path(STEPCAST_SOURCE_DIR) / "tests/fuzz/corpus";

}  // namespace

TEST_CASE("every text in the corpora is read or refused with a place") {
  for (const auto& reader : fuzz::readers) {
    int texts = 0;
    for (const auto& file : fs::directory_iterator(corpora / reader.name)) {
      INFO(file.path());
      const auto text = scenarios::read_file(file.path());
      CHECK_NOTHROW(reader.read(text));
      ++texts;
    }
    INFO(reader.name);
    CHECK(texts > 0);
  }
}

TEST_CASE("every corpus has its reader") {
  for (const auto& folder : fs::directory_iterator(corpora)) {
    INFO(folder.path());
    CHECK(std::ranges::count(fuzz::readers, folder.path().filename().string(),
                             &fuzz::Reader::name) == 1);
  }
}

TEST_CASE("every text cut off anywhere is read or refused with a place") {
  for (const auto& reader : fuzz::readers)
    for (const auto& file : fs::directory_iterator(corpora / reader.name)) {
      const auto text = scenarios::read_file(file.path());
      const auto step = std::max<std::size_t>(1, text.size() / 40);
      for (std::size_t end = 0; end < text.size(); end += step) {
        INFO(file.path() << " up to byte " << end);
        CHECK_NOTHROW(reader.read(text.substr(0, end)));
      }
    }
}
