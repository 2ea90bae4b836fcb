// SPDX-License-Identifier: Apache-2.0
// One reader of files under libFuzzer: the reader of readers.hpp that STEPCAST_READER names, or
// "store".
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "store/store.hpp"
#include "tests/fuzz/readers.hpp"

namespace {

// Opens the bytes as a store, which is a file, and reads every row of it.
void read_store(const std::string& bytes) {
  static const auto file =
      std::filesystem::temp_directory_path() / ("store_fuzz_" + std::to_string(getpid()));
  std::ofstream(file, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  try {
    const auto store = store::Store::reader(file);
    store.for_each_row([](const store::Row&) {});
    store.unplaced();
  } catch (const store::Error& wrong) {
    if (std::string_view(wrong.what()).empty()) std::abort();
  }
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(file.string() + suffix);
}

void (*chosen)(const std::string&) = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("STEPCAST_READER");
  if (name == nullptr) name = "scenario";
  if (std::string_view(name) == "store") chosen = read_store;
  for (const auto& reader : fuzz::readers)
    if (reader.name == std::string_view(name)) chosen = reader.read;
  if (chosen == nullptr) {
    std::cerr << "STEPCAST_READER=" << name << ": no such reader; tests/fuzz/corpus has a folder "
              << "for each\n";
    std::exit(1);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen(std::string(data, data + size));
  return 0;
}
