// SPDX-License-Identifier: Apache-2.0
// The plan's `master_weights`, the precision of the copy of 16-bit weights that the optimizer
// updates.
#include "plans/memory.hpp"
#include "tests/catch.hpp"

namespace master_weights_spec {

using namespace strategies;
using units::Precision;

// The 12 bytes are a master copy of 4 and two moments of 4.
TEST_CASE("a master copy in 16 bit takes 2 bytes of 4, divided as the optimizer's states are") {
  const Holding held{.parameters = {1e9}};
  for (const auto narrow : {Precision::bf16, Precision::fp16})
    for (const int zero : {0, 1, 2, 3}) {
      const int shards = zero == 0 ? 1 : 8;
      const auto bytes = [&](Precision master) {
        return static_memory(held, {shards, shards},
                             {.data = 8, .zero = zero, .master_weights = master}, {}, {});
      };
      const auto wide = bytes(Precision::fp32), one = bytes(narrow);
      CHECK(wide.optimizer.value == 12e9 / shards);
      CHECK(one.optimizer.value == 10e9 / shards);
      CHECK(one.weights == wide.weights);
      CHECK(one.gradients == wide.gradients);
    }
}

// An update reads and writes the master copy once.
TEST_CASE("an update moves 4 bytes less of a master copy in 16 bit, on the device and on a host") {
  const Plan narrow{.master_weights = Precision::bf16};
  CHECK(optimizer_traffic({}, {}, {}) == 34);
  CHECK(optimizer_traffic(narrow, {}, {}) == 30);
  CHECK(host_traffic({}, {}, {}) == 28);
  CHECK(host_traffic(narrow, {}, {}) == 24);
  CHECK(state_bytes({}, {}, {}) == 12);
  CHECK(state_bytes(narrow, {}, {}) == 10);
}

TEST_CASE("where weights are wide they are the master copy, whatever the plan says of one") {
  const Holding held{.parameters = {1e9}};
  const Plan narrow{.master_weights = Precision::bf16};
  const Training wide{.precision = Precision::fp32};
  CHECK(static_memory(held, {}, narrow, wide, {}).optimizer ==
        static_memory(held, {}, {}, wide, {}).optimizer);
  CHECK(optimizer_traffic(narrow, wide, {}) == optimizer_traffic({}, wide, {}));
}

// The 10 bytes are the low half of an fp32 master copy beside bf16 weights, and two moments;
// weights that are kept in bf16 have no such half (FSDP).
TEST_CASE("a master copy of which the weights are a half is the weights alone in 16 bit") {
  const Holding held{.parameters = {1e9}};
  const Software halves{.optimizer_bytes = 10};
  const Plan narrow{.master_weights = Precision::bf16};
  CHECK(static_memory(held, {}, narrow, {}, halves).optimizer.value == 8e9);
}

}  // namespace master_weights_spec
