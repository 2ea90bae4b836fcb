// SPDX-License-Identifier: Apache-2.0
// The inputs that fuzzers start from, and those that once broke a reader.
#include <filesystem>
#include <random>

#include "scenarios/documents/file.hpp"
#include "tests/catch.hpp"
#include "tests/fuzz/readers.hpp"

namespace corpora_spec {

namespace fs = std::filesystem;

namespace {

const fs::path corpora = fs::path(STEPCAST_SOURCE_DIR) / "tests/fuzz/corpus";

// The folder's files in an order that is the same everywhere.
std::vector<fs::path> sorted(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(folder)) files.push_back(file.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace

TEST_CASE("every text in the corpora is read or refused with a place") {
  for (const auto& reader : fuzz::readers) {
    const auto files = sorted(corpora / reader.name);
    CHECK_FALSE(files.empty());
    for (const auto& file : files) {
      INFO(file);
      CHECK_NOTHROW(reader.read(scenarios::read_file(file)));
    }
  }
}

TEST_CASE("every corpus has its reader") {
  for (const auto& folder : fs::directory_iterator(corpora)) {
    INFO(folder.path());
    const auto name = folder.path().filename().string();
    if (name != "store")  // the corpus of stores is one file of bytes, which tests of stores damage
      CHECK(std::ranges::count(fuzz::readers, name, &fuzz::Reader::name) == 1);
  }
}

TEST_CASE("every text cut off anywhere is read or refused with a place") {
  for (const auto& reader : fuzz::readers)
    for (const auto& file : sorted(corpora / reader.name)) {
      const auto text = scenarios::read_file(file);
      const auto step = std::max<std::size_t>(1, text.size() / 40);
      for (std::size_t end = 0; end < text.size(); end += step) {
        INFO(file << " up to byte " << end);
        CHECK_NOTHROW(reader.read(text.substr(0, end)));
      }
    }
}

TEST_CASE("every text with damaged bytes is read or refused with a place") {
  const std::string marks = "{}[]:,-?&*!|>'\"%@#\n\t 0129.eE+xNI\\u\x1f\xff";
  std::mt19937 random(7);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (const auto& reader : fuzz::readers)
    for (const auto& file : sorted(corpora / reader.name)) {
      const auto whole = scenarios::read_file(file);
      for (int round = 0; round < 50 && !whole.empty(); ++round) {
        auto text = whole;
        for (auto edits = 1 + pick(4); edits > 0 && !text.empty(); --edits) {
          const auto at = pick(text.size());
          if (pick(3) == 0)
            text.erase(at, 1 + pick(20));
          else
            text.replace(at, pick(2), marks.substr(pick(marks.size()), 1 + pick(3)));
        }
        INFO(reader.name << ": " << file << "\n" << text);
        CHECK_NOTHROW(reader.read(text));
      }
    }
}

}  // namespace corpora_spec
