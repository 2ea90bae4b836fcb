// SPDX-License-Identifier: Apache-2.0
// Arguments of files of keys, each changed alone: an argument that is read changes the scenario,
// one without effect does not.
#include <charconv>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/scenarios/jobs.hpp"

namespace changed_jobs_spec {

using scenarios::Effect;

namespace {

std::string scenario_of(const std::string& text) {
  try {
    auto made = *scenarios::read_job(text, "job", {{}, {"WORLD_SIZE=64"}});
    made.comments.clear();
    return scenarios::scenario_text(made);
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The line " key: 4 # why", "key = 4" or ""key": 4," with its number larger by one, or, if
// `truths`, with the other truth. Empty if its value is neither.
std::string changed(const std::string& line, bool truths) {
  const auto colon = line.find(": "), equals = line.find(" = ");
  const auto sign = std::min(colon, equals);
  if (sign == line.npos) return {};
  const auto begin = line.find_first_not_of(' ', sign + (colon < equals ? 1 : 3));
  if (begin == line.npos) return {};
  const auto end = std::min(line.find_first_of(" #,}", begin), line.size());
  const auto value = line.substr(begin, end - begin);
  const auto with = [&](const std::string& other) {
    return line.substr(0, begin) + other + line.substr(end);
  };
  if (truths && value == "true") return with("false");
  if (truths && value == "false") return with("true");
  std::int64_t number = 0;
  const auto [stop, wrong] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (wrong != std::errc() || stop != value.data() + value.size() || number < 0) return {};
  return with(std::to_string(number + 1));
}

// Whether other keys of the file take the key's value, or it is one of two factors whose product
// stays the same.
bool holds_elsewhere(const std::string& text, const std::string& line) {
  const auto begin = line.find_first_not_of(' ');
  const auto name = line.substr(begin, line.find_first_of(":= ", begin) - begin);
  return text.find(name + "}") != text.npos || name == "data_parallel_replicate_degree" ||
         name == "parallelism_config_dp_replicate_size" ||  // of which the other factor says all
         name == "recompute_num_layers" ||                  // more than a stage has
         name == "\"gradient_accumulation_steps\"";         // at most as many as sequences
}

// The number of arguments of that class that were changed, each alone.
std::size_t try_folder(const std::string& folder, Effect effect) {
  std::size_t tried = 0;
  for (const auto& file : tests::job_files({folder})) {
    const auto text = scenarios::read_file(file);
    const auto before = scenario_of(text);
    if (!before.starts_with("# job: ")) continue;  // refused as it stands
    const auto made = *scenarios::read_job(text, "job", {{}, {"WORLD_SIZE=64"}});
    for (const auto& one : made.account.arguments) {
      if (one.effect != effect || !one.place.starts_with("job:")) continue;
      auto lines = lines_of(text);
      auto& line = lines[std::stoul(one.place.substr(4)) - 1];
      // A mode that is off is without effect; if it were on, it might have one.
      const bool off = one.why == "nothing here depends on it" || one.why == "it is off";
      const auto other = changed(line, effect == Effect::none && !off);
      if (other.empty() || holds_elsewhere(text, line)) continue;
      line = other;
      std::string all;
      for (const auto& each : lines) all += each + "\n";
      const auto after = scenario_of(all);
      if (!after.starts_with("# job: ")) continue;  // no longer a job
      INFO(file << ": " << one.text);
      CHECK((after != before) == (effect == Effect::read));
      ++tried;
    }
  }
  return tried;
}

std::size_t try_all(Effect effect) {
  std::size_t tried = 0;
  for (const auto* folder :
       {"primus", "nemo1", "megatron_bridge", "nemo_automodel", "llamafactory", "axolotl",
        "accelerate", "torchtitan", "deepspeed", "nanotron", "neox"})
    tried += try_folder(folder, effect);
  return tried;
}

}  // namespace

TEST_CASE("changing an argument that is read changes the scenario of any framework") {
  CHECK(try_all(Effect::read) > 150);
}

TEST_CASE("changing an argument without effect changes no byte of the scenario of any framework") {
  CHECK(try_all(Effect::none) > 200);
}

}  // namespace changed_jobs_spec
