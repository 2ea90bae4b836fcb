// SPDX-License-Identifier: Apache-2.0
// The text and the JSON of a forecast say the same numbers.
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "forecast/step_parts.hpp"
#include "report/compare.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"
#include "units/text.hpp"

namespace same_numbers_spec {

using nlohmann::json;

namespace {

class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {}
  // A number of any size between these.
  double between(double least, double most) {
    return std::exp(std::uniform_real_distribution(std::log(least), std::log(most))(random_));
  }
  int stages() { return std::uniform_int_distribution(1, 4)(random_); }

  forecast::Forecast forecast() {
    auto drawn = examples::forecast();
    auto& step = drawn.step;
    step.time = {between(1e-3, 1e3)};
    step.time_low = between(0.5, 0.99) * step.time;
    step.time_high = between(1.01, 2) * step.time;
    step.tokens_per_second = between(1, 1e9);
    step.tokens_per_second_per_gpu = between(1, 1e6);
    step.flops_per_gpu = {between(1e10, 1e16)};
    step.mfu = between(0.001, 0.9);
    step.hfu = between(0.001, 0.9);
    for (const auto& facts : forecast::step_parts)
      drawn.time[facts.part] = between(0.01, 0.5) * step.time;
    auto& memory = drawn.memory;
    memory.capacity = {between(1e10, 1e12)};
    memory.host = {between(1e9, 1e12)};
    memory.host_capacity = {between(1e9, 1e13)};
    memory.nvme = {between(1e9, 1e12)};
    memory.nvme_capacity = {between(1e9, 1e13)};
    memory.stages.resize(static_cast<std::size_t>(stages()));
    for (auto& stage : memory.stages)
      for (auto part : parts_of_memory) stage.*part = {between(1e6, 1e11)};
    memory.peak_stage = static_cast<int>(memory.stages.size()) - 1;
    memory.peak = memory.stages.back().peak;
    return drawn;
  }

  using Part = units::Bytes forecast::StageMemory::*;
  static constexpr Part parts_of_memory[] = {
      &forecast::StageMemory::weights,   &forecast::StageMemory::gradients,
      &forecast::StageMemory::optimizer, &forecast::StageMemory::activations,
      &forecast::StageMemory::temporary, &forecast::StageMemory::communication,
      &forecast::StageMemory::framework, &forecast::StageMemory::peak};

 private:
  std::mt19937 random_;
};

constexpr report::TextOptions plain{.width = 120, .unicode = false};

// The text on one line, with single blanks.
std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char c : text)
    if (c != ' ' && c != '\n')
      line += c;
    else if (!line.ends_with(' '))
      line += ' ';
  return line;
}

// Returns the text between two words that follow on each other; fails where they do not.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const auto at = text.find(before);
  INFO("between '" << before << "' and '" << after << "' of " << text);
  REQUIRE(at != text.npos);
  const auto begin = at + before.size(), end = text.find(after, begin);
  REQUIRE(end != text.npos);
  return text.substr(begin, end - begin);
}

// A number with commas in it.
double number(std::string text) {
  std::erase(text, ',');
  return std::stod(text);
}

// Three digits that are shown are off by at most half of a unit of the last.
void check_same(const std::string& what, double shown, const json& exact) {
  INFO(what << ": " << shown << " in the text, " << exact << " in JSON");
  CHECK(shown == Approx(exact.get<double>()).epsilon(0.0051));
}

}  // namespace

TEST_CASE("times, rates and memory of a forecast's text are those of its JSON, but for digits") {
  Drawn drawn(31);
  for (int i = 0; i < 50; ++i) {
    const auto forecast = drawn.forecast();
    const auto text = on_one_line(report::simulate_text(examples::scenario(), forecast, plain));
    const auto document =
        json::parse(report::simulate_json(examples::scenario(), forecast, "1.2.3"));
    const auto& step = document["step"];
    const auto seconds = [](const std::string& words) {
      return units::parse_duration(words).value;
    };
    check_same("step", seconds(between(text, "step time ", " (80 %")), step["time_s"]);
    const auto interval = between(text, "(80 %: ", ")");
    check_same("end of the interval", seconds(interval.substr(interval.find(" to ") + 4)),
               step["time_high_s"]);
    check_same("tokens", number(between(text, "throughput ", " tokens/s,")), step["tokens_per_s"]);
    check_same("of a GPU", number(between(text, "tokens/s, ", " tokens/s per GPU")),
               step["tokens_per_s_per_gpu"]);
    check_same("flops",
               units::parse_flop_rate(between(text, "efficiency ", " per GPU, MFU")).value / 1e12,
               step["tflops_per_gpu"]);
    const auto share = [&](const std::string& words, double exact) {
      CHECK(std::stod(words) == Approx(100 * exact).margin(0.0501));
    };
    share(between(text, "MFU ", " %"), step["mfu"]);
    share(between(text, "HFU ", " %"), step["hfu"]);

    const auto times = text.substr(text.find("Where the time went"));
    for (const auto& facts : forecast::step_parts) {
      const auto row = between(times, std::string(" ") + facts.words + " ", " %");
      const auto unit_end = row.find(' ', row.find(' ') + 1);
      check_same(facts.words, seconds(row.substr(0, unit_end)), document["time"][facts.key]);
      share(row.substr(unit_end),
            document["time"][facts.key].get<double>() / step["time_s"].get<double>());
    }

    const auto memory = text.substr(text.find("Memory per GPU, of"));
    const auto bytes = [](const std::string& words) { return units::parse_bytes(words).value; };
    const auto& stages = document["memory"]["stages"];
    check_same("capacity", bytes(between(memory, "of ", " stage 0")),
               document["memory"]["capacity_bytes"]);
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      const auto row = between(memory, " stage " + std::to_string(stage) + " ", " %");
      const auto unit_end = row.find(' ', row.find(' ') + 1);
      check_same("stage", bytes(row.substr(0, unit_end)), stages[stage]["peak"]);
    }
    const auto peak = between(memory, " at its peak: ", "host memory") + ", ";
    for (const auto* part : {"weights", "gradients", "optimizer", "activations", "temporary",
                             "communication", "framework"}) {
      auto size = between(", " + peak, std::string(", ") + part + " ", "iB");
      check_same(part, bytes(size + "iB"), stages.back()[part]);
    }
    for (const auto* tier : {"host", "nvme"}) {
      const bool host = tier == std::string("host");
      const auto row = memory.substr(memory.find(host ? "host memory per node" : "NVMe per node"));
      const auto key = std::string(tier);
      check_same(tier, bytes(between(row, "per node: ", "iB of") + "iB"),
                 document["memory"][key + "_bytes"]);
      check_same(tier, bytes(between(row, "iB of ", "iB") + "iB"),
                 document["memory"][key + "_capacity_bytes"]);
    }
  }
}

TEST_CASE("each row of a comparison has both forecasts' figures and what lies between them") {
  Drawn drawn(32);
  for (int i = 0; i < 50; ++i) {
    const auto before = drawn.forecast(), after = drawn.forecast();
    const auto s = examples::scenario();
    const auto text = report::compare_text({s, before}, {s, after}, {}, plain);
    const auto document = json::parse(report::compare_json({s, before}, {s, after}, {}, "1"));
    const auto& against = document["against"];
    const auto times = text.substr(text.find("Where the time went"));
    for (const auto& facts : forecast::step_parts) {
      // "compute  5.50 s  7.50 s  +2.00 s"
      const auto row = on_one_line(between(times, std::string("\n  ") + facts.words, "\n"));
      INFO(facts.words << row);
      std::vector<std::string> words;
      for (std::size_t at = 1, end = 0; at < row.size(); at = end + 1) {
        end = std::min(row.find(' ', at), row.size());
        words.push_back(row.substr(at, end - at));
      }
      REQUIRE(words.size() == 6);
      const auto seconds = [&](std::size_t first) {
        return units::parse_duration(words[first] + " " + words[first + 1]).value;
      };
      const double from = against["time"][facts.key], to = document["time"][facts.key];
      check_same("from", seconds(0), from);
      check_same("to", seconds(2), to);
      check_same("difference", seconds(4), to - from);
    }
    const auto head = on_one_line(text);
    check_same("now", units::parse_duration(between(head, "step time ", " against")).value,
               document["step"]["time_s"]);
    check_same(
        "before",
        units::parse_duration(between(head.substr(head.find("step time")), " against ", ":")).value,
        against["step"]["time_s"]);
  }
}

}  // namespace same_numbers_spec
