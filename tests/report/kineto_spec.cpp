// SPDX-License-Identifier: Apache-2.0
// The figures that Holistic Trace Analysis takes from the program's traces: its classes of kernels
// and its figures, computed here on intervals (hta/utils/utils.py,
// hta/analyzers/breakdown_analysis.py).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "forecast/diagnosis/diagnosis.hpp"
#include "forecast/profile.hpp"
#include "report/traces/kineto_trace.hpp"
#include "scenarios/foreign/profiler_trace.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/report/examples.hpp"

namespace kineto_spec {

using nlohmann::json;

namespace {

constexpr std::int64_t second = 1'000'000'000'000;

forecast::Slice bar(const char* lane, std::int64_t start_s, std::int64_t end_s, const char* name,
                    std::int64_t rank = 0) {
  forecast::Slice slice;
  slice.rank = rank;
  slice.lane = lane;
  slice.name = name;
  slice.kind = "forward";
  slice.start_ps = start_s * second;
  slice.end_ps = end_s * second;
  return slice;
}

using Intervals = std::vector<std::pair<double, double>>;

Intervals merged(Intervals all) {
  std::ranges::sort(all);
  Intervals out;
  for (const auto& [start, end] : all)
    if (!out.empty() && start <= out.back().second)
      out.back().second = std::max(out.back().second, end);
    else
      out.emplace_back(start, end);
  return out;
}
double length(const Intervals& all) {
  double sum = 0;
  for (const auto& [start, end] : merged(all)) sum += end - start;
  return sum;
}

// Figures in microseconds.
struct Figures {
  double compute = 0, communication = 0, memory = 0, overlap = 0, idle = 0;
};

Figures analysed(const std::string& trace) {
  Intervals compute, communication, memory, all;
  const auto document = json::parse(trace);
  for (const auto& event : document["traceEvents"]) {
    if (event["ph"] != "X" || !event["args"].contains("stream")) continue;
    const std::string name = event["name"];
    const auto has = [&](const char* part) { return name.find(part) != name.npos; };
    auto& kind = has("ncclKernel")                ? communication
                 : has("Memcpy") || has("Memset") ? memory
                                                  : compute;
    const double start = event["ts"];
    kind.emplace_back(start, start + event["dur"].get<double>());
    all.push_back(kind.back());
  }
  Figures found{length(compute), length(communication), length(memory), 0, 0};
  auto both = compute;
  both.insert(both.end(), communication.begin(), communication.end());
  found.overlap = found.compute + found.communication - length(both);
  const auto busy = merged(all);
  if (!busy.empty()) found.idle = busy.back().second - busy.front().first - length(busy);
  return found;
}

}  // namespace

// compute  AAAA..BBBB..    0-4, 6-10
// data     ...CCCC.....    3-7: one second under A, one under B
// fetch    ..........DD    11-12, after a second of nothing
TEST_CASE("Holistic Trace Analysis finds computation, messages, copies, overlap and idle time") {
  forecast::Timeline timeline;
  timeline.slices = {
      bar("compute", 0, 4, "forward m0"),        bar("compute", 6, 10, "backward m0 c1"),
      bar("data", 3, 7, "reduce gradients"),     bar("fetch", 11, 12, "offload m0"),
      bar("data loader", 0, 11, "load data m1"), bar("compute", 0, 12, "forward m0", 1)};
  const auto found = analysed(report::kineto_trace(timeline, 0, 2));
  CHECK(found.compute == 8e6);
  CHECK(found.communication == 4e6);
  CHECK(found.memory == 1e6);
  CHECK(found.overlap == 2e6);
  CHECK(found.idle == 1e6);
}

TEST_CASE("a trace names its rank, and its kernels as PyTorch's profiler does") {
  forecast::Timeline timeline;
  timeline.slices = {bar("compute", 0, 4, "forward m3 c1", 5),
                     bar("pipeline send", 4, 5, "send activations m3 c1", 5)};
  timeline.slices[1].bytes = {1024};
  timeline.slices[1].microbatch = 3;
  const auto trace = json::parse(report::kineto_trace(timeline, 5, 16));
  CHECK(trace["distributedInfo"] == json{{"backend", "nccl"}, {"rank", 5}, {"world_size", 16}});
  const auto& events = trace["traceEvents"];
  REQUIRE(events.size() == 3);
  CHECK(events[0]["cat"] == "kernel");
  CHECK(events[0]["name"] == "forward");
  CHECK(events[0]["tid"] == 7);
  CHECK(events[0]["args"]["stream"] == 7);
  CHECK(events[1]["name"] == "ncclKernel_send_activations");
  CHECK(events[1]["args"]["bytes"] == 1024);
  CHECK(events[1]["args"]["microbatch"] == 3);
  CHECK(events[1]["args"]["stream"] == 8);
  CHECK(events[2]["name"] == "ProfilerStep#0");
  CHECK(events[2]["dur"] == 5e6);
  CHECK(report::ranks_of(timeline) == std::vector<std::int64_t>{5});
  CHECK_THROWS_AS(report::kineto_trace(timeline, 4, 16), std::invalid_argument);
}

TEST_CASE("its idle time of the example is the bubble") {
  for (const std::int64_t rank : {0, 8})
    CHECK(analysed(report::kineto_trace(examples::timeline(), rank, 16)).idle ==
          (rank == 0 ? 3e6 : 2e6));
}

// In one stage of four replicas gradients are reduced under the backward pass, and the rest is
// exposed.
TEST_CASE("communication that it finds exposed is that of the forecast") {
  auto scenario = tests::scenario_under({.data = 4}, 8);
  scenario.plan.overlap.data = true;
  scenario.plan.bucket = units::Bytes{1e6};
  const auto f = forecast::simulate(scenario, {.timeline = true});
  const auto found = analysed(report::kineto_trace(f.timeline, 0, 4));
  REQUIRE(found.overlap > 0);
  CHECK((found.communication - found.overlap) * 1e-6 ==
        Approx(f.time[forecast::StepPart::data_comm].value).epsilon(1e-3));
  CHECK(found.idle * 1e-6 <=
        f.time[forecast::StepPart::bubble].value + f.time[forecast::StepPart::other].value + 1e-6);
}

// compute  AA.BB     0-2 and 3-5, in a pass that takes 6
// tensor   ..C       2-3
TEST_CASE("a pass is drawn as its kernels, with its communication on a stream of its own") {
  forecast::Timeline timeline;
  timeline.slices = {bar("compute", 10, 16, "forward m0 c1"), bar("data", 10, 16, "gather")};
  timeline.slices[0].steps = 0;
  const auto step = [](const char* part, std::int64_t start_s, std::int64_t end_s) {
    return forecast::PassStep{.part = part, .start_ps = start_s * second, .end_ps = end_s * second};
  };
  auto& pass = timeline.passes.emplace_back();
  pass = {step("forward", 0, 2), step("tensor comm", 2, 3), step("forward", 3, 5),
          step("waiting for the fullest rank", 5, 6)};
  pass[0].kernels = forecast::KernelClass::products;
  pass[1].asked = strategies::CostQuery{.collective = topology::Collective::reduce_scatter,
                                        .size = units::Bytes{4096}};
  pass[2].kernels = forecast::KernelClass::attention;
  const auto text = report::kineto_trace(timeline, 0, 2);
  const auto events = json::parse(text)["traceEvents"];
  REQUIRE(events.size() == 5);
  CHECK(events[0]["name"] == "gemm forward");
  CHECK(events[0]["ts"] == 10e6);
  CHECK(events[0]["args"]["stream"] == 7);
  CHECK(events[1]["name"] == "flash_fwd");
  CHECK(events[1]["ts"] == 13e6);
  CHECK(events[2]["name"] == "ncclKernel_reducescatter");
  CHECK(events[2]["dur"] == 1e6);
  CHECK(events[2]["args"]["stream"] == 8);
  CHECK(events[2]["args"]["In msg nelems"] == 4096);
  CHECK(analysed(text).compute == 4e6);
}

namespace {

// Returns what a rank's trace is read back as.
forecast::Profile profiled(const forecast::Timeline& timeline, std::int64_t rank,
                           std::int64_t world_size) {
  std::istringstream in(report::kineto_trace(timeline, rank, world_size));
  return scenarios::read_profiler_trace(*in.rdbuf(), "trace.json");
}

const std::string llama =
    "model: {base: llama3-8b, layers: 8}\ncluster: {node: dgx-h100, gpus: 8}\n"
    "training: {sequence_length: 4096, global_batch: 16}\n";

}  // namespace

TEST_CASE("the profile of a forecast has the parts of its ranks") {
  const auto text = GENERATE(as<std::string>(), llama + "plan: {tensor: 2, zero: 1}\n",
                             "model: {base: mixtral-8x7b, layers: 4}\n"
                             "cluster: {node: dgx-h100, gpus: 8}\n"
                             "training: {sequence_length: 4096, global_batch: 16}\n"
                             "plan: {expert: 8, zero: 1}\n");
  const auto scenario = scenarios::read_scenario(text, "plan");
  const auto f = forecast::simulate(scenario, {.timeline = true});
  const auto found = forecast::break_down(profiled(f.timeline, 0, 8)).steps.front();
  double computing = found.exposed[static_cast<std::size_t>(forecast::GpuWork::compute)].value;
  CHECK(computing == Approx(f.time.computation().value).epsilon(1e-3));
  for (const auto work : {forecast::GpuWork::tensor_comm, forecast::GpuWork::expert_comm,
                          forecast::GpuWork::context_comm, forecast::GpuWork::data_comm}) {
    CAPTURE(forecast::to_text(work));
    CHECK(found.exposed[static_cast<std::size_t>(work)].value ==
          Approx(f.time[*forecast::part_of(work)].value).epsilon(0.01).margin(2e-4));
  }
}

// A host that is slower than the kernels launches some of them behind communication that a faster
// one would have hidden.
TEST_CASE("the profile of a step that waits for its host has the exposed parts of the forecast") {
  const auto launch = GENERATE(as<std::string>(), "5 us", "20 us");
  const std::string text =
      llama + "plan: {tensor: 8, sequence_parallel: true, overlap: {tensor: true}}\n";
  const std::vector<std::string> sets{"training.sequence_length=2048",
                                      "software.launch_forward=" + launch};
  const auto scenario = scenarios::read_scenario(text, "plan", sets);
  const auto f = forecast::simulate(scenario, {.timeline = true});
  REQUIRE(f.time[forecast::StepPart::other].value > 0.1 * f.step.time.value);
  const auto found = forecast::break_down(profiled(f.timeline, 0, 8)).steps.front();
  // Where a pass begins under the last communication of the one before, the forecast takes that
  // time from the wait for the host of the later pass, the profile from the communication.
  double overlap = 0, ended = 0;
  for (const auto& slice : f.timeline.slices) {
    if (slice.rank != 0 || slice.lane != "compute") continue;
    overlap += std::max(0.0, ended - 1e-12 * static_cast<double>(slice.start_ps));
    ended = 1e-12 * static_cast<double>(slice.end_ps);
  }
  CHECK(found.exposed[static_cast<std::size_t>(forecast::GpuWork::tensor_comm)].value + overlap ==
        Approx(f.time[forecast::StepPart::tensor_comm].value).epsilon(1e-4));
  const auto waits = f.time[forecast::StepPart::other] + f.time[forecast::StepPart::bubble];
  CHECK(found.idle.value - overlap == Approx(waits.value).epsilon(1e-3));
}

namespace {

const std::string pipelined =
    "model: {base: llama3-70b, layers: 16}\ncluster: {node: dgx-h100, nodes: 4}\n"
    "training: {sequence_length: 8192, global_batch: 16}\n"
    "plan: {tensor: 8, pipeline: 4, micro_batch: 1}\n";

std::vector<forecast::Profile> profiles_of(const forecast::Timeline& timeline,
                                           std::initializer_list<std::int64_t> ranks) {
  std::vector<forecast::Profile> all;
  for (const auto rank : ranks) all.push_back(profiled(timeline, rank, 32));
  return all;
}

}  // namespace

TEST_CASE("explaining the profiles of a forecast's pipeline finds a slow NIC by both its ranks") {
  const auto scenario = scenarios::read_scenario(pipelined, "plan");
  const auto f = forecast::simulate(scenario, {.timeline = true, .causes = true});
  CHECK(forecast::diagnose(profiles_of(f.timeline, {0, 8, 16, 24}), scenario, f).suspects.empty());
  const std::vector<std::string> sets{"cluster.node.nics.bandwidth=1 GB/s"};
  const auto slower = scenarios::read_scenario(pipelined, "plan", sets);
  const auto slow = forecast::simulate(slower, {.timeline = true});
  const auto found = forecast::diagnose(profiles_of(slow.timeline, {0, 8, 16, 24}), scenario, f);
  REQUIRE_FALSE(found.suspects.empty());
  CHECK(found.suspects.front().cause == forecast::Cause::slow_link);
  CHECK(found.suspects.front().part == forecast::StepPart::pipeline_comm);
  const double lost = (slow.step.time - f.step.time).value;
  CHECK(found.suspects.front().seconds.value > 0.75 * lost);
}

// Where a trace names no groups, each rank is looked at alone. Data are loaded for the first stage.
TEST_CASE("a later stage that begins after the first fills the pipeline, and loads no data") {
  const auto scenario = scenarios::read_scenario(pipelined, "plan");
  const auto f = forecast::simulate(scenario, {.timeline = true, .causes = true});
  const std::vector<std::string> sets{"cluster.node.nics.bandwidth=1 GB/s"};
  const auto slow =
      forecast::simulate(scenarios::read_scenario(pipelined, "plan", sets), {.timeline = true});
  const auto loads = [&](std::initializer_list<std::int64_t> ranks) {
    auto profiles = profiles_of(slow.timeline, ranks);
    for (auto& profile : profiles)
      for (auto& work : profile.work) work.group = 0;
    const auto found = forecast::diagnose(profiles, scenario, f);
    return std::ranges::count(found.suspects, forecast::Cause::data_loading,
                              &forecast::Suspect::cause);
  };
  CHECK(loads({0, 24}) == 0);
  CHECK(loads({0, 8, 16, 24}) == 0);
  CHECK(loads({24}) == 1);  // nothing tells that the first stage began at once
}

TEST_CASE("explaining the profile of a forecast finds nothing slow but what was made slow") {
  const auto text = llama + "plan: {tensor: 4, zero: 1}\n";
  const auto scenario = scenarios::read_scenario(text, "plan");
  const auto f = forecast::simulate(scenario, {.timeline = true, .causes = true});
  CHECK(forecast::diagnose({profiled(f.timeline, 0, 8)}, scenario, f).suspects.empty());

  auto slower = scenario;
  slower.cluster.node.nvlink.bandwidth.value /= 4;
  const auto slow = forecast::simulate(slower, {.timeline = true});
  const auto suspects = forecast::diagnose({profiled(slow.timeline, 0, 8)}, scenario, f).suspects;
  REQUIRE_FALSE(suspects.empty());
  CHECK(suspects.front().cause == forecast::Cause::slow_link);
  CHECK(suspects.front().part == forecast::StepPart::tensor_comm);
}

}  // namespace kineto_spec
