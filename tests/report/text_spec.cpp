// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include "report/picture.hpp"
#include "report/terminal.hpp"
#include "report/text.hpp"
#include "tests/catch.hpp"
#include "tests/report/examples.hpp"
#include "tests/report/golden.hpp"

namespace text_spec {

using forecast::StepPart;
using golden::contains;
using namespace units::literals;

namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

// A forecast of a long pipeline of unlike stages, with many microbatches and warnings.
forecast::Forecast crowded() {
  auto forecast = examples::forecast();
  forecast.timeline.slices.clear();
  forecast.timeline.arrows.clear();
  for (int stage = 0; stage < 32; ++stage)
    for (int m = 0; m < 64; ++m) {
      forecast.timeline.slices.push_back(examples::pass(stage, "forward", m, 3 * m, 3 * m + 1));
      forecast.timeline.slices.push_back(
          examples::pass(stage, "backward", m, 3 * m + 1, 3 * m + 3));
    }
  forecast.timeline.end_ps = forecast.timeline.slices.back().end_ps;
  forecast.memory.stages.assign(32, forecast.memory.stages[1]);
  for (std::size_t i = 0; i < 32; ++i)
    forecast.memory.stages[i].peak = static_cast<double>(32 - i) * 2.0_GiB;
  for (auto part : {StepPart::recompute, StepPart::tensor_comm, StepPart::context_comm,
                    StepPart::expert_comm, StepPart::offload, StepPart::other})
    forecast.time[part] = 0.125_s;
  forecast.step.tokens_per_second = 12345678;
  forecast.step.tokens = forecast.step.useful_tokens = 12345678 * forecast.step.time.value;
  forecast.step.tokens_per_second_per_gpu = 12345;
  forecast.step.microbatches = 1536;
  forecast.basis = examples::basis();
  forecast.basis->wanted.push_back(forecast.basis->wanted.front());
  forecast.basis->wanted.back().question.kernel->m = 1 << 20;
  forecast.warnings = {"sequence_length 4096 is beyond the model's 2048: positions are extended"};
  return forecast;
}

}  // namespace

TEST_CASE("the report of the example is the golden one, in Unicode and in ASCII") {
  auto forecast = examples::simulated();
  forecast.warnings = {"stage 0 is at its limit: raise pipeline, or set recompute to selective"};
  report::TextOptions options;
  options.published = report::Published{12.5_s, "a paper, table 1"};
  golden::check("simulate.txt", report::simulate_text(examples::scenario(), forecast, options));
  options.unicode = false;
  const auto ascii = report::simulate_text(examples::scenario(), forecast, options);
  golden::check("simulate_ascii.txt", ascii);
  CHECK(std::ranges::all_of(ascii, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST_CASE("the report says which states are divided, recomputed and kept elsewhere") {
  auto scenario = examples::scenario();
  const auto text = [&] {
    report::TextOptions options;
    options.width = 400;
    return report::simulate_text(scenario, examples::forecast(), options);
  };
  CHECK(text().find("expert") == std::string::npos);
  scenario.plan.context = 4;
  scenario.plan.expert = 16;
  scenario.plan.recompute_of_stage = {{}, {strategies::Recompute::Kind::full}};
  scenario.plan.offload.activations = true;
  CHECK_THAT(text(), STEPCAST_HOLDS(", context 4 (ring), expert 16, recomputation stage by stage, "
                                    "activations on the host"));
}

TEST_CASE("the rest of a step is explained where it is more than a fiftieth") {
  auto forecast = examples::simulated();
  const auto holds = [&] {
    return contains(report::simulate_text(examples::scenario(), forecast, {.width = 200}),
                    "other: the GPU neither computes nor communicates, and no pipeline makes it "
                    "wait: its host has not launched the next kernel, or its data loader has no "
                    "batch");
  };
  forecast.time[StepPart::other] = 0.02 * forecast.step.time;
  CHECK_FALSE(holds());
  forecast.time[StepPart::other] = 0.021 * forecast.step.time;
  CHECK(holds());
}

TEST_CASE("even a long pipeline fits one screen") {
  report::TextOptions options;
  options.published = report::Published{12.5_s, "a paper, table 1"};
  for (const int width : {80, 100}) {
    options.width = width;
    const auto shown = lines(report::simulate_text(examples::scenario(), crowded(), options));
    CHECK(shown.size() <= 64);
    for (const auto& line : shown) CHECK(report::columns(line) <= width);
  }
}

TEST_CASE("colour adds escape codes and nothing else") {
  report::TextOptions colourful;
  colourful.colour = true;
  auto text = report::simulate_text(examples::scenario(), examples::forecast(), colourful);
  for (auto at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b'))
    text.erase(at, text.find('m', at) - at + 1);
  CHECK(text == report::simulate_text(examples::scenario(), examples::forecast()));
}

TEST_CASE("the published measurement stands beside the forecast with the error") {
  report::TextOptions options;
  options.published = report::Published{8.0_s, "a paper"};
  CHECK(contains(report::simulate_text(examples::scenario(), examples::forecast(), options),
                 "published 8.00 s (a paper): the forecast is +25.0 % off"));
}

TEST_CASE("a plan that does not fit says so where the memory is shown") {
  auto forecast = examples::forecast();
  forecast.memory.fits = false;
  forecast.memory.stages[0].peak = 100.0_GiB;
  const auto text = report::simulate_text(examples::scenario(), forecast);
  CHECK(contains(text, "DOES NOT FIT"));
  CHECK(contains(text, "125.0 %"));
}

TEST_CASE("the largest tensors at the peak are named once by operator, tensor and layers") {
  auto forecast = examples::forecast();
  forecast::AllocatorUse use;
  use.largest = {{"layer 0 and 5 more", "softmax", "softmax output", "activations", 6, 6.0_GiB},
                 {"layer 0", "attention norm", "layer input", "activations", 1, 1.0_GiB},
                 {"", "", "gradients", "gradients", 1, 1.0_GiB}};
  forecast.memory.allocator = use;
  auto text = report::simulate_text(examples::scenario(), forecast);
  for (auto at = text.find("\n  "); at != std::string::npos; at = text.find("\n  "))
    text.replace(at, 3, " ");  // text may wrap anywhere
  CHECK(
      contains(text, "softmax output of layer 0 and 5 more 6.00 GiB, attention norm layer input"));
  CHECK(contains(text, "of layer 0 1.00 GiB, "));
  CHECK(contains(text, "gradients 1.00 GiB"));
  CHECK_FALSE(contains(text, "softmax softmax"));
}

TEST_CASE("tokens per day and GPU-hours follow from the throughput") {
  auto forecast = examples::forecast();
  // 1e6 tokens a second: 86.4 billion a day; 1,000 s for a billion.
  forecast.step.tokens = forecast.step.useful_tokens = 1e6 * forecast.step.time.value;
  CHECK(contains(report::simulate_text(examples::scenario(), forecast),
                 "86.4 billion tokens/day, 4.44 GPU-hours per billion tokens"));
}

TEST_CASE("of padded tokens the useful ones stand beside all, and they alone are paid for") {
  auto forecast = examples::forecast();  // 1,600 tokens a second
  forecast.step.useful_tokens = 12000;   // 1,200 a second
  const auto text = report::simulate_text(examples::scenario(), forecast);
  CHECK(contains(text, "1,600 tokens/s (1,200 useful)"));
  CHECK(contains(text, "0.104 billion useful tokens/day, 3,704 GPU-hours per billion"));
}

TEST_CASE("equal neighbours are one line of the memory table") {
  auto forecast = examples::forecast();
  forecast.memory.stages.push_back(forecast.memory.stages[1]);
  CHECK(contains(report::simulate_text(examples::scenario(), forecast), "stages 1-2 "));
}

TEST_CASE("a name cannot send commands to the terminal") {
  auto scenario = examples::scenario();
  scenario.name = "red\x1b[31m\r\n\xff name";
  const auto text = report::simulate_text(scenario, examples::forecast());
  CHECK(text.substr(0, text.find('\n')) == "red?[31m??? name");
}

TEST_CASE("printable text keeps letters of any script where the terminal can show them") {
  CHECK(report::printable("größe π", true) == "größe π");
  CHECK(report::printable("größe", false) == "gr??e");
  CHECK(report::printable("\xc0\xaf", true) == "??");       // overlong
  CHECK(report::printable("\xed\xa0\x80", true) == "???");  // surrogate
  CHECK(report::printable("a\xe2\x80\xae"
                          "b",
                          true) == "a?b");  // right-to-left override
}

TEST_CASE("bars have the length of their share, and a share above zero shows") {
  report::TextOptions unicode, ascii;
  ascii.unicode = false;
  CHECK(report::bar(0.5, 8, true, ascii) == "####....");
  CHECK(report::bar(0.5, 8, false, unicode) == "████");
  CHECK(report::bar(0.5, 1, false, unicode) == "▌");
  CHECK(report::bar(1e-9, 8, true, ascii) == "#.......");
  CHECK(report::bar(0.0, 4, true, ascii) == "....");
  CHECK(report::bar(7.0, 4, true, ascii) == "####");
}

TEST_CASE("counts are grouped, small figures have three digits") {
  CHECK(report::grouped(1234567) == "1,234,567");
  CHECK(report::grouped(999) == "999");
  CHECK(report::grouped(-1234) == "-1,234");
  CHECK(report::grouped(3.14159) == "3.14");
}

TEST_CASE("words are wrapped without tearing a number from its unit") {
  CHECK(report::wrapped("weights 4.00 GiB", 2, 14) == "  weights\n  4.00 GiB\n");
}

TEST_CASE("in a picture, alternations finer than a cell keep their proportions") {
  report::PictureRow row{"s", {}};
  for (int i = 0; i < 300; ++i) {
    row.marks.push_back({i * 4.0, i * 4.0 + 1, report::Shade::forward, "F0"});
    row.marks.push_back({i * 4.0 + 1, i * 4.0 + 3, report::Shade::backward, "B0"});
  }
  report::TextOptions options;
  options.unicode = false;
  options.width = 65;  // leaves 60 cells of 20 units: 5 forward, 10 backward, 5 idle each
  const auto first = lines(report::picture({row}, 0, 1200, options)).front();
  CHECK(std::ranges::count(first, 'F') == 15);
  CHECK(std::ranges::count(first, 'B') == 30);
  CHECK(std::ranges::count(first, '.') == 15);
}

TEST_CASE("computation is drawn in front of the communication that it hides") {
  report::PictureRow row{
      "s", {{0, 30, report::Shade::forward, ""}, {0, 60, report::Shade::communication, ""}}};
  report::TextOptions options;
  options.unicode = false;
  options.width = 65;
  CHECK(contains(report::picture({row}, 0, 60, options),
                 std::string(30, 'F') + std::string(30, '~')));
}

TEST_CASE("the first, the last and some rows between of many are drawn") {
  CHECK(report::spread(3, 8) == std::vector{0, 1, 2});
  CHECK(report::spread(64, 4) == std::vector{0, 21, 42, 63});
  CHECK(report::spread(1, 4) == std::vector{0});
  CHECK(report::spread(0, 4).empty());
}

}  // namespace text_spec
