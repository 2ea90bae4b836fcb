// SPDX-License-Identifier: Apache-2.0
// The evidence for the seconds of a step.
#include <cmath>
#include <numeric>
#include <random>

#include "forecast/forecast.hpp"
#include "forecast/path_basis.hpp"
#include "sim/measures.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace basis_spec {

using namespace forecast;
using topology::Evidence;

namespace {

std::int64_t all_of(const ByEvidence& of) {
  return std::accumulate(of.begin(), of.end(), std::int64_t{0});
}

std::int64_t part(const Basis& basis, Priced kind, Evidence evidence) {
  return basis.of[static_cast<std::size_t>(kind)][static_cast<std::size_t>(evidence)];
}

// Gives a device a table of products, so that some kernels are not physics.
void measure(topology::Device& device) {
  using Layout = units::Kernel::Layout;
  for (const auto layout : {Layout::forward, Layout::input_gradient, Layout::weight_gradient})
    device.efficiency.products.insert(
        device.efficiency.products.end(),
        {{layout, 1, 16, 16, 16, 0.1}, {layout, 1, 256, 256, 256, 0.4}});
}

units::Kernel product(std::int64_t m) {
  return {.kind = units::Kernel::Kind::product, .m = m, .n = 1, .k = 1};
}

}  // namespace

TEST_CASE("over random plans the shares of the basis sum to the step, to the picosecond") {
  std::mt19937 random(GENERATE(range(0u, 60u)));
  auto scenario =
      random() % 2 == 0 ? tests::random_scenario(random) : tests::sharded_scenario(random);
  measure(scenario.cluster.node.device);
  const auto forecast = simulate(scenario, {.basis = true});
  REQUIRE(forecast.basis);
  std::int64_t wanted = 0;
  for (const auto& one : forecast.basis->wanted) {
    CHECK(one.time_ps > 0);
    CHECK(one.evidence >= Evidence::scaled);
    wanted += one.time_ps;
  }
  const auto total = forecast.basis->total();
  CHECK(all_of(total) == std::llround(forecast.step.time.value * 1e12));
  CHECK(wanted <= total[static_cast<std::size_t>(Evidence::scaled)] +
                      total[static_cast<std::size_t>(Evidence::physics)]);
  for (const auto& kind : forecast.basis->of)
    for (const auto time : kind) CHECK(time >= 0);
}

TEST_CASE("asking for the basis changes nothing else, and without asking there is none") {
  std::mt19937 random(GENERATE(range(0u, 10u)));
  const auto scenario = tests::random_scenario(random);
  const auto with = simulate(scenario, {.basis = true}), without = simulate(scenario);
  CHECK(!without.basis);
  CHECK(with.step.time == without.step.time);
  CHECK(with.simulation.events == without.simulation.events);
  for (const auto& facts : step_parts) CHECK(with.time[facts.part] == without.time[facts.part]);
}

//   pass     40 ps of a measured product, 20 ps of one that is scaled, 10 ps of a stream
//   reduce   30 ps of a collective by the model
TEST_CASE("steps and collectives count their seconds as evidence of their prices") {
  strategies::CostQueries questions;
  const auto near = questions.add({.kernel = product(1)}),
             far = questions.add({.kernel = product(2)});
  const auto sum = questions.add({.size = {8}, .group = {.ranks = 2}});
  sim::Program program;
  const auto body = program.add_template(
      {.steps = {{.duration = 40}, {.duration = 20}, {.duration = 10}}, .asked = {near, far}});
  const sim::Participant who{sim::ActorId{0}};
  const auto pass = program.event(program.add_pass(body, {&who, 1}));
  const sim::Participant then{sim::ActorId{0}, {pass, sim::no_event}};
  program.add_collective(sim::Lane::data, 30, 1, {&then, 1});
  program.name_last(sum);
  const auto trace = sim::run(program);
  sim::Waits waits;
  const auto measures = sim::measure(program, trace, sim::Period::makespan, &waits);
  REQUIRE(measures.length == 100);

  const auto basis = basis_of(program, waits, questions, [](const strategies::CostQuery& question) {
    if (!question.kernel) return Evidence::physics;
    return question.kernel->m == 1 ? Evidence::measured : Evidence::scaled;
  });
  CHECK(part(basis, Priced::products, Evidence::measured) == 40);
  CHECK(part(basis, Priced::products, Evidence::scaled) == 20);
  CHECK(part(basis, Priced::element_wise, Evidence::physics) == 10);
  CHECK(part(basis, Priced::collectives, Evidence::physics) == 30);
  CHECK(all_of(basis.total()) == 100);
  REQUIRE(basis.wanted.size() == 2);
  CHECK(basis.wanted[0].kind == Priced::collectives);
  CHECK(basis.wanted[1].question.kernel->m == 2);
}

TEST_CASE("time that steps share is divided as they are long, without a picosecond lost") {
  strategies::CostQueries questions;
  const auto one = questions.add({.kernel = product(1)}),
             two = questions.add({.kernel = product(2)});
  sim::Program program;
  program.add_template({.steps = {{.duration = 1}, {.duration = 2}}, .asked = {one, two}});
  sim::Waits waits;
  waits.in_passes.resize(1);
  waits.in_passes[0].on[0] = 10;  // shared as 3.33 and 6.67
  waits.in_passes[0].host = 5;
  const auto basis = basis_of(program, waits, questions, [](const strategies::CostQuery& question) {
    return question.kernel->m == 1 ? Evidence::scaled : Evidence::interpolated;
  });
  CHECK(part(basis, Priced::products, Evidence::scaled) == 3);
  CHECK(part(basis, Priced::products, Evidence::interpolated) == 7);
  CHECK(part(basis, Priced::host, Evidence::physics) == 5);
}

}  // namespace basis_spec
