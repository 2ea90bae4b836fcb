// SPDX-License-Identifier: Apache-2.0
// Every reader of files as a function from text. Any text is read or refused with a place; other
// exceptions are thrown on as they are.
#pragma once
#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/calibration.hpp"
#include "scenarios/corrections_file.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/huggingface.hpp"
#include "scenarios/foreign/memory_snapshot.hpp"
#include "scenarios/foreign/nccl_tests.hpp"
#include "scenarios/foreign/order_file.hpp"
#include "scenarios/foreign/profiler_trace.hpp"
#include "scenarios/frameworks/read_job.hpp"
#include "scenarios/jobs/scenario_text.hpp"
#include "scenarios/measured/kernel_table.hpp"
#include "scenarios/published.hpp"
#include "scenarios/purchase/purchase_file.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/search_file.hpp"
#include "scenarios/sweeps/condition.hpp"
#include "scenarios/sweeps/sweep_file.hpp"

namespace fuzz {

// Whether a place ends with ":LINE:COLUMN", counted from one.
inline bool names_line_and_column(std::string_view place) {
  for (int numbers = 0; numbers < 2; ++numbers) {
    const auto colon = place.rfind(':');
    if (colon == place.npos || colon + 1 == place.size() || place[colon + 1] == '0') return false;
    const auto number = place.substr(colon + 1);
    if (!std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; }))
      return false;
    place = place.substr(0, colon);
  }
  return true;
}

inline bool has_place(const scenarios::Complaint& complaint) {
  return names_line_and_column(complaint.place) || complaint.place.starts_with("--set ") ||
         complaint.text.starts_with("byte ") ||  // a place in a file without lines
         complaint.text.starts_with("and ");     // the last one: and so many more
}

// Reads; throws std::logic_error where a complaint has no place or no text.
template <class Read>
void read_or_complain(Read&& read) {
  try {
    read();
  } catch (const scenarios::Error& wrong) {
    if (wrong.complaints.empty()) throw std::logic_error("refused without a complaint");
    for (const auto& one : wrong.complaints)
      if (one.text.empty() || !has_place(one))
        throw std::logic_error("refused without a place: " + one.place + ": " + one.text);
  }
}

// The parts of a text at zero bytes: the document, then `--set` arguments.
inline std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

inline void read_scenario(const std::string& text) {
  auto sets = parts_of(text);
  const auto document = sets.front();
  sets.erase(sets.begin());
  read_or_complain([&] { scenarios::read_scenario(document, "f.yaml", sets, "no-folder"); });
  read_or_complain([&] {
    scenarios::published_in({"f.yaml", scenarios::parse_yaml(document, "f.yaml")});
  });
}

inline void read_search(const std::string& text) {
  read_or_complain([&] { scenarios::read_question(text, "f.yaml", {}, "no-folder"); });
}

inline void read_condition(const std::string& text) {
  try {
    const scenarios::Condition condition(text);
    condition.holds(std::vector<scenarios::Operand>(condition.paths().size(), 1.0));
  } catch (const scenarios::ConditionError& wrong) {
    if (wrong.at > text.size()) throw std::logic_error("refused behind its end");
  }
}

struct Reader {
  std::string_view name;  // also the name of its corpus's folder
  void (*read)(const std::string& text);
};

inline constexpr std::array<Reader, 15> readers{{
    {"scenario", read_scenario},
    {"search", read_search},
    {"condition", read_condition},
    {"purchase",
     [](const std::string& text) {
       read_or_complain([&] {
         scenarios::load_placed_purchase(scenarios::Source("f.yaml", std::string(text)));
       });
     }},
    {"sweep",
     [](const std::string& text) {
       read_or_complain([&] { scenarios::read_grid(text, "f.yaml", {}, "no-folder"); });
     }},
    {"job",
     [](const std::string& text) {
       read_or_complain([&] {
         auto frameworks = scenarios::job_frameworks();
         frameworks.emplace_back("");
         for (const auto as : frameworks)
           if (const auto made =
                   scenarios::read_job(text, "f", {std::string(as), {"TP=2", "WORLD_SIZE=8"}}))
             scenarios::scenario_text(*made);
       });
     }},
    {"corrections",
     [](const std::string& text) {
       read_or_complain([&] { scenarios::read_corrections(text, "f.yaml", "no-folder"); });
     }},
    {"published",
     [](const std::string& text) {
       read_or_complain([&] { scenarios::read_dataset(text, "f.yaml", "no-folder"); });
     }},
    {"calibration",
     [](const std::string& text) {
       read_or_complain([&] { scenarios::read_calibration(text, "f.yaml"); });
     }},
    {"huggingface",
     [](const std::string& text) {
       read_or_complain([&] { scenarios::read_huggingface(text, "config.json", nullptr); });
     }},
    {"trace",  // plain, or packed by gzip
     [](const std::string& text) {
       std::istringstream in(text);
       read_or_complain([&] { scenarios::read_profiler_trace(*in.rdbuf(), "trace.json"); });
     }},
    {"memory_snapshot",  // plain, or packed by gzip
     [](const std::string& text) {
       std::istringstream in(text);
       read_or_complain([&] { scenarios::read_memory_snapshot(*in.rdbuf(), "snapshot.pickle"); });
     }},
    {"nccl_tests",
     [](const std::string& text) {
       auto hints = parts_of(text);  // arguments of --set stand behind zeros
       const auto log = hints.front();
       hints.erase(hints.begin());
       read_or_complain(
           [&] { scenarios::read_nccl_tests(log, "log.txt", scenarios::nccl_tests_hints(hints)); });
     }},
    {"kernel_table",
     [](const std::string& text) {
       read_or_complain([&] {
         const auto table = scenarios::read_kernel_table(text, "f.csv");
         scenarios::device_of(table, "");
       });
     }},
    {"order",
     [](const std::string& text) {
       read_or_complain([&] { scenarios::read_order(text, "f.csv"); });
     }},
}};

}  // namespace fuzz
