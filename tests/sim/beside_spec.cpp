// SPDX-License-Identifier: Apache-2.0
#include "sim/measures.hpp"
#include "tests/catch.hpp"

namespace beside_spec {

TEST_CASE("a wait on two lanes at once is counted once, for the lane that ends earlier") {
  // data     0 ──────── 6
  // offload     4 ────────── 9
  // compute                    ── 10
  sim::Program program;
  const auto body = program.add_template({.steps = {{.activity = 1, .duration = 1}}});
  const sim::Participant who{sim::ActorId{0}};
  const auto four = program.add_collective(sim::Lane::exchange, 4, 4, {&who, 1});
  const auto data = program.add_collective(sim::Lane::data, 6, 2, {&who, 1});
  const sim::Participant later{sim::ActorId{0}, {program.event(four), sim::no_event}};
  const auto host = program.add_collective(sim::Lane::offload, 5, 3, {&later, 1});
  const sim::Participant both{sim::ActorId{0}, {program.event(data), program.event(host)}};
  program.add_pass(body, {&both, 1});
  const auto spent = sim::measure(program, sim::run(program, sim::Detail::templates)).of_actor[0];
  CHECK(spent.on[4] == 4);
  CHECK(spent.on[2] == 2);
  CHECK(spent.on[3] == 3);
  CHECK(spent.on[1] == 1);
  CHECK(spent.idle == 0);
  CHECK(spent.host == 0);
}

}  // namespace beside_spec
