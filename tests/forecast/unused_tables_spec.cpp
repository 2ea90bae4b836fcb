// SPDX-License-Identifier: Apache-2.0
#include "forecast/unused_tables.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace unused_tables_spec {

using topology::Collective;

// Sixteen replicas on two nodes, one table of their sixteen ranks.
forecast::Scenario with_table_of(Collective collective, int zero) {
  auto scenario = tests::small_llama({.data = 16, .zero = zero});
  scenario.cluster.fabric.measured = {
      {.collective = collective, .ranks = 16, .nodes = 2, .points = {{{1e6}, {1e-3}}}}};
  return scenario;
}

TEST_CASE("a table of a collective that the step has goes without saying") {
  CHECK(forecast::unused_tables(with_table_of(Collective::all_reduce, 0)).empty());
  CHECK(forecast::unused_tables(with_table_of(Collective::reduce_scatter, 1)).empty());
  CHECK(forecast::unused_tables(tests::small_llama({.data = 16})).empty());
}

TEST_CASE("a table that the step does not look up is named, with the collectives that it has") {
  const auto unused = forecast::unused_tables(with_table_of(Collective::all_reduce, 1));
  REQUIRE(unused.size() == 1);
  CHECK(
      unused.front() ==
      "cluster.fabric.measured: the step has no all_reduce of 16 ranks on 2 nodes that matters, so "
      "that this table changes nothing; between nodes it has all_gather of 16 ranks on 2 nodes, "
      "reduce_scatter of 16 ranks on 2 nodes");
}

TEST_CASE("of a table whose groups share the NICs in the step, that is said") {
  auto scenario = tests::small_llama({.tensor = 8, .data = 2});
  scenario.cluster.fabric.measured = {
      {.collective = Collective::all_reduce, .ranks = 2, .nodes = 2, .points = {{{1e6}, {1e-3}}}}};
  const auto unused = forecast::unused_tables(scenario);
  REQUIRE(unused.size() == 1);
  CHECK(unused.front().find("all_reduce of 2 ranks on 2 nodes (8 groups share the NICs)") !=
        std::string::npos);
}

}  // namespace unused_tables_spec
