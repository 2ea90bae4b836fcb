// SPDX-License-Identifier: Apache-2.0
// Whatever the text, the scenario reader gives a scenario or says what is wrong, and where.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/error.hpp"
#include "scenarios/scenario_file.hpp"

// The document, then `--set` arguments, each after a zero byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == 0) {
      parts.emplace_back();
    } else {
      parts.back() += static_cast<char>(data[i]);
    }
  }
  const std::string document = parts.front();
  parts.erase(parts.begin());
  try {
    scenarios::read_scenario(document, "fuzz.yaml", parts, "no-such-folder");
  } catch (const scenarios::Error& wrong) {
    if (std::string_view(wrong.what()).empty() || wrong.complaints.empty()) std::abort();
  }
  return 0;
}
