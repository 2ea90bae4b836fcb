// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/catch.hpp"
#include "tests/topology/samples.hpp"
#include "topology/collective.hpp"
#include "topology/collective_table.hpp"
#include "topology/measured_collective.hpp"

namespace measured_collective_spec {

using namespace topology;
namespace {

using Catch::Matchers::WithinRel;

// A table of 16 ranks on two nodes: 1 kB takes 10 s, 4 kB 20 s, 16 kB 80 s.
MeasuredCollective table() {
  return {.collective = Collective::all_reduce,
          .ranks = 16,
          .nodes = 2,
          .points = {{{1e3}, {10}}, {{4e3}, {20}}, {{16e3}, {80}}}};
}

GroupShape two_nodes(int sharing = 1) { return samples::across(2, 8, sharing); }

TEST_CASE("a measured table gives measured times, and straight lines in logarithms between") {
  const auto t = [](double size) { return interpolated(table(), {size}).value; };
  CHECK(t(1e3) == 10);
  CHECK(t(4e3) == 20);
  CHECK_THAT(t(2e3), WithinRel(10 * std::sqrt(2.0), 1e-12));  // half way between octaves: 2^(1/2)
  CHECK_THAT(t(8e3), WithinRel(40, 1e-12));
  CHECK_THAT(t(32e3), WithinRel(160, 1e-12));  // at the bandwidth of the last row
  CHECK_THAT(t(250), WithinRel(5, 1e-12));     // on the first line, continued downwards
  CHECK(t(0) == 10);
}

TEST_CASE("a table of falling times is not continued upwards to smaller sizes") {
  auto falling = table();
  falling.points = {{{1e3}, {10}}, {{2e3}, {8}}};
  CHECK(interpolated(falling, {100}).value == 10);
  falling.points.resize(1);
  CHECK(interpolated(falling, {100}).value == 10);
  CHECK(interpolated(falling, {2e3}).value == 20);
}

TEST_CASE("below a table time falls no faster than the size") {
  auto steep = table();
  steep.points = {{{1}, {2}}, {{2}, {8}}};  // time grows as the square of the size
  CHECK_THAT(interpolated(steep, {0.5}).value, WithinRel(1, 1e-12));
  steep.points = {{{1}, {2}}, {{4}, {4}}};  // time grows as its root
  CHECK_THAT(interpolated(steep, {0.25}).value, WithinRel(1, 1e-12));
}

TEST_CASE("a fabric's table holds for exactly its collective and group") {
  auto cluster = samples::a100(2);
  const auto modelled = collective_time(Collective::all_reduce, {4e3}, two_nodes(), cluster);
  cluster.fabric.measured = {table()};
  const auto t = [&](Collective collective, const GroupShape& group) {
    return collective_time(collective, {4e3}, group, cluster).value;
  };
  CHECK(t(Collective::all_reduce, two_nodes()) == 20);
  CHECK(modelled.value < 1);
  CHECK(t(Collective::all_gather, two_nodes()) < 1);
  CHECK(t(Collective::all_reduce, two_nodes(2)) < 1);
  CHECK(t(Collective::all_reduce, samples::across(2, 4)) < 1);
  CHECK(t(Collective::all_reduce,
          {.ranks = 14, .nodes = 2, .least_per_node = 6, .most_per_node = 8}) < 1);
}

TEST_CASE("a table may begin at one byte, and its times are below a second as a rule") {
  auto small = table();
  small.points = {{{1}, {2e-6}}, {{2}, {3e-6}}};
  CHECK(interpolated(small, {1}).value == 2e-6);
}

TEST_CASE("a table without order or content is refused") {
  auto wrong = table();
  wrong.points[1].first = {1e3};
  CHECK_THROWS_WITH(interpolated(wrong, {1}), "the sizes of a measured collective must rise");
  wrong.points.clear();
  CHECK_THROWS_WITH(interpolated(wrong, {1}), "a measured collective has no points");
  wrong.points = {{{0}, {1}}};
  CHECK_THROWS_WITH(interpolated(wrong, {1}),
                    "a measured collective has a size and a time above zero");
  wrong.points = {{{1}, {0}}};
  CHECK_THROWS_WITH(interpolated(wrong, {1}),
                    "a measured collective has a size and a time above zero");
}

TEST_CASE("the errors of a table are means over its small and its large rows") {
  CollectiveTable table{.name = "table", .cluster = samples::a100(1)};
  const auto node = samples::inside(8);
  for (const double size : {1e6, 2e6, 0x1p25}) {
    const auto exact = collective_time(Collective::all_reduce, {size}, node, table.cluster);
    table.points.push_back(
        {.group = node, .size = {size}, .measured = exact * (size < 3e6 ? 2 : 1)});
  }
  table.points[1].measured = table.points[1].measured / 4;  // half of the prediction
  const auto scored = score(table);
  CHECK(scored.small.rows == 2);
  CHECK_THAT(*scored.small.absolute, WithinRel(0.75, 1e-9));  // −50 % and +100 % have the mean 0.75
  CHECK_THAT(*scored.small.signed_mean, WithinRel(0.25, 1e-9));
  CHECK(*scored.large.absolute < 1e-12);
  CHECK(scored.worst == 1);
  CHECK(to_text(table.points[0]) == "all_reduce 1x8 977 KiB");

  table.call = table.points[2].measured;  // a call that takes as long as the collective
  CHECK_THAT(*score(table).large.absolute, WithinRel(1.0, 1e-9));
  table.points[0].group.ranks = table.points[0].group.most_per_node = 16;
  CHECK_THROWS_WITH(
      score(table),
      "a group of 16 GPUs on 1 nodes, up to 16 on each, is larger than the cluster of "
      "8 GPUs in nodes of 8");
}

TEST_CASE("collectives are named as in code, with either dash") {
  CHECK(to_text(Collective::reduce_scatter) == "reduce_scatter");
  CHECK(parse_collective("all-to-all") == Collective::all_to_all);
  CHECK(parse_collective("all_to_all") == Collective::all_to_all);
  CHECK_FALSE(parse_collective("gather"));
}

}  // namespace
}  // namespace measured_collective_spec
