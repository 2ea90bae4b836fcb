// SPDX-License-Identifier: Apache-2.0
// Networks whose completion times are known from elsewhere: tests/sim/flows/*.txt.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/catch.hpp"
#include "tests/sim/finish_times.hpp"

namespace flows_cases_spec {

namespace {

struct Case {
  std::vector<double> capacities, latencies, completions;
  std::vector<tests::NetworkFlow> flows;
};

void expect(std::istream& in, const std::string& word) {
  std::string found;
  if (!(in >> found) || found != word) throw std::runtime_error("expected " + word);
}

// A flow uses bandwidth only after its latency, so its latency is a part of the start.
tests::NetworkFlow read_flow(std::istream& in, Case& network) {
  tests::NetworkFlow flow;
  double completion = 0;
  in >> flow.start >> flow.bytes >> completion;
  network.completions.push_back(completion);
  expect(in, ":");
  std::string rest;
  std::getline(in, rest);
  std::istringstream links(rest);
  for (std::uint32_t link = 0; links >> link;) {
    flow.links.push_back(link);
    flow.start += network.latencies.at(link);
  }
  return flow;
}

Case read_case(const std::filesystem::path& file) {
  std::ifstream in(file);
  while (in.peek() == '#') in.ignore(10'000, '\n');
  Case network;
  std::size_t count = 0;
  expect(in, "links");
  for (in >> count; network.capacities.size() < count;) {
    double capacity = 0, latency = 0;
    std::size_t alike = 0;
    in >> capacity >> latency;
    expect(in, "*");
    in >> alike;
    network.capacities.insert(network.capacities.end(), alike, capacity);
    network.latencies.insert(network.latencies.end(), alike, latency);
  }
  expect(in, "flows");
  for (in >> count; network.flows.size() < count;) network.flows.push_back(read_flow(in, network));
  return network;
}

}  // namespace

TEST_CASE("32 networks finish their flows when progressive filling and SimGrid say") {
  std::size_t cases = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(STEPCAST_SOURCE_DIR "/tests/sim/flows")) {
    const auto network = read_case(entry.path());
    const auto finish = tests::finish_times(network.capacities, network.flows);
    double worst = 0;
    for (std::size_t f = 0; f < finish.size(); ++f)
      worst = std::max(worst, std::abs(finish[f] / network.completions[f] - 1));
    INFO(entry.path().filename());
    CHECK(worst < 1e-9);
    ++cases;
  }
  CHECK(cases == 32);
}

}  // namespace flows_cases_spec
