// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/order_file.hpp"
#include "tests/catch.hpp"

namespace order_file_spec {

TEST_CASE("mistakes in the file of an order have its name, line and column") {
  CHECK_THROWS_WITH(scenarios::read_order("0F0,0X0\n", "o.csv"),
                    "o.csv:1:5: '0X0' is not a pass; expected STAGE, F, B, I or W, MICROBATCH, "
                    "e.g. 0F0");
  CHECK(scenarios::read_order("0F0,0B0\n", "o.csv").microbatches == 1);
}

TEST_CASE("the file of an order is read as every other is") {
  CHECK_THROWS_WITH(scenarios::load_order(STEPCAST_SOURCE_DIR),
                    STEPCAST_SOURCE_DIR ": is a directory; expected a file");
  CHECK_THROWS_WITH(scenarios::load_order("/dev/zero"),
                    "/dev/zero: larger than 32 MiB; no more is read of such a file");
  CHECK_THROWS_WITH(scenarios::load_order("none.csv"), "none.csv: no such file");
}

TEST_CASE("an order of more passes than are played is refused before it is read whole") {
  std::string text;
  for (int line = 0; line < 4; ++line) {
    for (int i = 0; i < 1'000'000; ++i) text += "0F0,";
    text += '\n';
  }
  CHECK_THROWS_WITH(scenarios::read_order(text, "o.csv"),
                    "o.csv:4:1: more than 3000000 passes; no such order is played");
}

}  // namespace order_file_spec
