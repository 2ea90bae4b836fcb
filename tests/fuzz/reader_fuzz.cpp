// SPDX-License-Identifier: Apache-2.0
// One reader of files under libFuzzer: READER, as readers.hpp names it.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto* reader = std::ranges::find(fuzz::readers, READER, &fuzz::Reader::name);
  reader->read(std::string(data, data + size));
  return 0;
}
