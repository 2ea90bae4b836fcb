// SPDX-License-Identifier: Apache-2.0
// The microbatches that a stage holds at once, by pencil.
#include <string>
#include <vector>

#include "plans/schedules/in_flight.hpp"
#include "plans/schedules/schedule.hpp"
#include "tests/catch.hpp"

namespace in_flight_spec {

using namespace strategies;
using Vectors = std::vector<std::vector<int>>;

namespace {

// Passes of one microbatch a letter, of chunk 0, or of chunk 1 in capitals: f forward, b backward,
// i backward of the input, w of the weights; "(" pairs the next pass with the one behind it.
std::vector<Slot> passes(const std::string& text) {
  std::vector<Slot> slots;
  bool paired = false;
  for (const char letter : text) {
    if (letter == '(') {
      paired = true;
      continue;
    }
    const bool second = letter < 'a';
    const char kind = second ? static_cast<char>(letter - 'A' + 'a') : letter;
    const auto pass = kind == 'f'   ? Pass::forward
                      : kind == 'b' ? Pass::backward
                      : kind == 'i' ? Pass::backward_input
                                    : Pass::backward_weight;
    slots.push_back({pass, 0, second ? 1 : 0, paired});
    paired = false;
  }
  return slots;
}

}  // namespace

TEST_CASE("a stage holds a microbatch from its forward pass to the end of its backward pass") {
  struct Case {
    std::string order;
    int parts;
    double most;
  };
  for (const auto& [order, parts, most] :
       {Case{"fbfbfb", 1, 1}, Case{"ffbfbb", 1, 2}, Case{"fffbbb", 1, 3},
        Case{"ffiiww", 1, 2},  // gradients of inputs alone free nothing
        Case{"fiwfiw", 1, 1}, Case{"fififww", 1, 3},
        Case{"ffFFBBbb", 2, 2},  // each chunk is a half of the stage
        Case{"fFBfFBbb", 2, 1.5}, Case{"", 1, 0}}) {
    INFO(order);
    CHECK(peak_in_flight(passes(order), parts) == most);
  }
}

TEST_CASE("what a stage holds of each chunk is the greatest of what follows, none below another") {
  CHECK(in_flight_vectors(passes("ffbfbb"), 1) == Vectors{{2}});
  CHECK(in_flight_vectors(passes("ffFFBBbb"), 2) == Vectors{{2, 2}});
  CHECK(in_flight_vectors(passes("fffbFFFBBBbb"), 2) == Vectors{{2, 3}, {3, 0}});
  CHECK(in_flight_vectors(passes("ffbbFB"), 2) == Vectors{{0, 1}, {2, 0}});
}

TEST_CASE("passes of a pair take turns, so that one fills while the other frees") {
  // The forward pass of the second of two microbatches pairs with the backward pass of the first.
  CHECK(in_flight_vectors(passes("f(fbb"), 1) == Vectors{{2}});
  CHECK(least_in_flight_vectors(passes("f(fbb"), 1) == Vectors{{1}});
  CHECK(least_in_flight_vectors(passes("ffbb"), 1) == Vectors{{2}});  // alone they do not
  CHECK(least_in_flight_vectors(passes("ff(fbbb"), 1) == Vectors{{2}});
  // A pair of another chunk frees other bytes than it fills.
  CHECK(least_in_flight_vectors(passes("f(FbB"), 2) == Vectors{{0, 1}, {1, 0}});
}

TEST_CASE("the first of p stages of 1F1B holds p microbatches, the last one, GPipe's all") {
  for (int stages = 1; stages <= 6; ++stages) {
    const OrderInput asked{.stages = stages, .microbatches = 8};
    const auto one = order_of(asked);
    auto all = asked;
    all.schedule = ScheduleKind::gpipe;
    for (int stage = 0; stage < stages; ++stage) {
      const auto i = static_cast<std::size_t>(stage);
      CHECK(peak_in_flight(one[i], 1) == stages - stage);
      CHECK(peak_in_flight(order_of(all)[i], 1) == 8);
    }
  }
}

}  // namespace in_flight_spec
