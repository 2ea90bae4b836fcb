// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "forecast/step_parts.hpp"
#include "tests/catch.hpp"

namespace step_parts_spec {

using namespace forecast;

TEST_CASE("each part of a step stands in the table at its place, under one name") {
  for (std::size_t i = 0; i < step_parts.size(); ++i) {
    const auto& facts = step_parts[i];
    CHECK(facts.part == static_cast<StepPart>(i));
    CHECK(facts.key == std::string(facts.name()) + "_s");
    std::string words(facts.name());
    std::ranges::replace(words, '_', ' ');
    CHECK(facts.words == words);
    CHECK((facts.sort == StepPartFacts::Sort::communication) == words.ends_with(" comm"));
  }
}

TEST_CASE("computation is three parts of a step, communication five") {
  TimeParts time;
  for (const auto& facts : step_parts) time[facts.part] = {1};
  CHECK(time.computation().value == 3);
  CHECK(time.communication().value == 5);
  CHECK(time.sum(StepPartFacts::Sort::rest).value == 3);
}

}  // namespace step_parts_spec
