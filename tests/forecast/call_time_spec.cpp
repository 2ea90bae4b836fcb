// SPDX-License-Identifier: Apache-2.0
// Hosts that take longer for a call of the framework than the servers of the software profiles.
#include "forecast/forecast.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace call_time_spec {

namespace {

// Eight layers of small kernels, each of which takes less than its launch.
forecast::Scenario host_bound() {
  auto s = tests::small_llama({.tensor = 2, .pipeline = 2, .data = 2, .zero = 1});
  s.software.launch_forward = {100e-6};
  s.software.launch_backward = {50e-6};
  s.software.step_overhead = {10e-3};
  s.software.step_overhead_per_tensor = {20e-6};
  return s;
}

units::Seconds time_of(const forecast::Scenario& s) { return forecast::simulate(s).step.time; }

}  // namespace

TEST_CASE("a slower host takes as much longer for every call, and between steps") {
  auto slow = host_bound(), profile = host_bound();
  slow.cluster.node.host.call_time = 1.5;
  profile.software.launch_forward = {150e-6};
  profile.software.launch_backward = {75e-6};
  profile.software.step_overhead = {15e-3};
  profile.software.step_overhead_per_tensor = {30e-6};
  CHECK(time_of(slow) == time_of(profile));
  CHECK(time_of(slow) > 1.3 * time_of(host_bound()));
}

TEST_CASE("all ranks wait for the slowest kind of host") {
  auto all = host_bound();
  all.cluster = tests::cluster_of(8, 4, 4);
  auto some = all;
  topology::Part part{all.cluster.node, 1};
  part.node.host.call_time = 1.5;
  some.cluster.others = {part};
  all.cluster.node.host.call_time = 1.5;
  CHECK(time_of(some) == time_of(all));
}

}  // namespace call_time_spec
