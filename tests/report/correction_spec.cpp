// SPDX-License-Identifier: Apache-2.0
#include "report/correction.hpp"
#include "report/similarity.hpp"
#include "tests/catch.hpp"
#include "tests/report/golden.hpp"

namespace correction_spec {

namespace {

// A correction by two measured steps; the forecast before it took 10 s.
forecast::Correction example() {
  return {.factor = 1.06,
          .low = 1.02,
          .high = 1.11,
          .width_before = 0.25,
          .width = 0.0845,
          .simulated = {10},
          .from = {{"tuesday.yaml", {12.6}, {11.8}, 0.93, 0.81},
                   {"tuesday.yaml, plan.tensor 4", {14.1}, {14.3}, 0.55, 0.07}}};
}

}  // namespace

TEST_CASE("a correction says by how much, how surely, and from which steps") {
  golden::check("correction.txt", report::correction_text(example(), false, {}) + '\n' +
                                      report::correction_text(example(), true, {}));
}

TEST_CASE("a correction says that its measured steps contradict each other") {
  auto correction = example();
  CHECK_THAT(report::correction_text(correction, false, {}), !STEPCAST_HOLDS("contradict"));
  correction.contradiction = 0.16;
  CHECK_THAT(report::correction_text(correction, false, {}),
             STEPCAST_HOLDS("that adds a standard deviation of 16.0 %"));
}

TEST_CASE("a column of large factors keeps its gap") {
  auto correction = example();
  correction.from.front().measured = {360000};
  CHECK_THAT(report::correction_text(correction, false, {}), STEPCAST_HOLDS("11.8 s   30508"));
}

TEST_CASE("a correction by steps that are not alike is said to be none") {
  auto correction = example();
  for (auto& one : correction.from) one.weight = 0.001;
  CHECK(report::correction_text(correction, false, {}) ==
        "  corrected   by nothing: none of 2 measured steps is like this scenario\n");
}

TEST_CASE("names cannot disturb the terminal") {
  auto correction = example();
  correction.from.front().name = "\x1b[31mred";
  CHECK(report::correction_text(correction, false, {}).find('\x1b') == std::string::npos);
}

TEST_CASE("a table of similarity that is written is read back") {
  auto similarity = forecast::usual_similarity();
  similarity.difference[3] = 0.8;
  similarity.doubling[2] = 0;
  const auto yaml = report::similarity_yaml(similarity);
  CHECK(yaml.find("  precision: 0.8\n") != std::string::npos);
  CHECK(yaml.find("  sequence: 0\n") != std::string::npos);
}

}  // namespace correction_spec
