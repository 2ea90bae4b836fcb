// SPDX-License-Identifier: Apache-2.0
// Whatever the text, the reader gives a scenario, and a question for a search, or says what is
// wrong, and where; so does a condition of a sweep.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/condition.hpp"
#include "scenarios/error.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/search_file.hpp"

namespace {

template <class Read>
void read_or_complain(Read&& read) {
  try {
    read();
  } catch (const scenarios::Error& wrong) {
    if (std::string_view(wrong.what()).empty() || wrong.complaints.empty()) std::abort();
  }
}

}  // namespace

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
  read_or_complain([&] { scenarios::read_scenario(document, "f.yaml", parts, "no-folder"); });
  read_or_complain([&] { scenarios::read_question(document, "f.yaml", parts, "no-folder"); });
  try {
    const scenarios::Condition condition(document);
    condition.holds(std::vector<scenarios::Operand>(condition.paths().size(), 1.0));
  } catch (const scenarios::ConditionError& wrong) {
    if (wrong.at > document.size()) std::abort();
  }
  return 0;
}
