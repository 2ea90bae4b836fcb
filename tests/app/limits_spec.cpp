// SPDX-License-Identifier: Apache-2.0
// Inputs that are too large, too long or too much for memory are refused early, with their place.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"

namespace limits_spec {

using nlohmann::json;
using tests::stepcast;

namespace {

namespace fs = std::filesystem;

struct File {
  File(const std::string& name, const std::string& text)
      : path((fs::temp_directory_path() / ("stepcast_limits_" + name)).string()) {
    std::ofstream(path) << text;
  }
  ~File() { fs::remove(path); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path;
};

std::string many_passes(const std::string& plan) {
  return "model: {layers: 2000, hidden: 128, heads: 1, vocab: 1000}\n"
         "cluster: {node: dgx-h100, nodes: 125}\n"
         "training: {sequence_length: 128, global_batch: 16000}\n"
         "plan: {pipeline: 1000, " +
         plan + "}\n";
}

// A scenario of experts on devices that hardly compute, whose step takes as many weeks as a test
// asks for.
std::string slow_products(const std::string& peak, int batch) {
  return "model: kimi-k2\n"
         "cluster:\n"
         "  node: {base: dgx-2, device: {base: b200, peak: {bf16: " +
         peak +
         "}}}\n"
         "  nodes: 4\n"
         "training: {sequence_length: 1024, global_batch: " +
         std::to_string(batch) +
         "}\n"
         "plan: {tensor: 2, pipeline: 2, micro_batch: 2, schedule: zb-v, expert: 8, "
         "expert_tensor: 1, sequence_parallel: true}\n";
}

constexpr auto far_apart =
    "model: gpt2-xl\n"
    "cluster:\n"
    "  node: {base: dgx-a100-80gb, nvlink: {bandwidth: 1 PB/s}}\n"
    "  nodes: 2\n"
    "  degraded_links: [{link: nic0.0, factor: 0.001}]\n"
    "  fabric: {base: hdr-rail-fat-tree, link_bandwidth: 1 MB/s}\n"
    "training: {sequence_length: 128, global_batch: 16}\n"
    "plan: {pipeline: 4}\n";

constexpr auto one_kernel =
    "cluster: one kernel, collective or message would take more than 10^6 seconds; are the sizes "
    "and bandwidths of the scenario meant?\n";

void check_refused(std::vector<std::string> arguments, const std::string& says) {
  const auto run = stepcast(std::move(arguments));
  CHECK(run.status == app::wrong_input);
  CHECK(run.out.empty());
  CHECK(run.err == says);
}

}  // namespace

TEST_CASE("an order that nobody could search for is refused where the schedule stands") {
  const File file("searched.yaml", many_passes("schedule: zb-v"));
  const std::string says =
      file.path +
      ":4:34: plan.schedule: the order of zb-v is searched for, which is not done on 1000 stages; "
      "write a schedule of fixed order, such as 1f1b, or fewer stages\n";
  check_refused({"simulate", file.path}, says);
  check_refused({"search", file.path, "--set",
                 "plan={pipeline: 1000, schedule: zb-v, tensor: 1, context: 1, micro_batch: 1}"},
                "--set 1" + says.substr(says.find(": plan.schedule")));
}

TEST_CASE("passes are counted before they are built, beside all other mistakes of a file") {
  const File file("passes.yaml", many_passes("schedule: 1f1b, sequence_parallel: maybe"));
  check_refused(
      {"simulate", file.path},
      file.path +
          ":3:48: training.global_batch: 16000 microbatches on 1000 stages are 32000000 forwards "
          "and backwards; at most 6666666 are simulated: raise micro_batch, or lower global_batch, "
          "pipeline or virtual_stages\n" +
          file.path + ":4:59: plan.sequence_parallel: 'maybe' is not true or false\n");
}

TEST_CASE("schedule searches for orders as far as simulate does") {
  const auto play = [](const char* name, const char* stages, const char* microbatches) {
    return stepcast({"schedule", "--schedule", name, "--stages", stages, "--microbatches",
                     microbatches, "--forward", "1", "--backward", "1"});
  };
  CHECK(play("zb-h2", "256", "1025").err ==
        "stepcast: --schedule zb-h2: the order of zb-h2 is searched for, on 256 stages with at "
        "most 1024 microbatches, not 1025; write a schedule of fixed order, such as 1f1b, or fewer "
        "and larger microbatches\n");
  CHECK(play("dualpipe-v", "8", "100000").err ==
        "stepcast: --stages x --microbatches x --chunks gives 3200000 operations; at most 2 "
        "million are simulated\n");
}

TEST_CASE(
    "a search leaves out orders that are not searched for, and says which limit leaves none") {
  const File file("open.yaml",
                  "model: {layers: 800, hidden: 128, heads: 1, vocab: 1000}\n"
                  "cluster: {node: dgx-h100, nodes: 50}\n"
                  "training: {sequence_length: 128, global_batch: 16}\n"
                  "plan: {pipeline: 400, micro_batch: 1}\n"
                  "search: {schedule: zb-v, recompute: none, partition: even}\n");
  const auto run = stepcast({"search", file.path, "--threads", "1"});
  CHECK(run.status == app::no_answer);
  CHECK(run.err ==
        "stepcast: no plan is possible: the order of zb-v is searched for, which is not done on "
        "400 stages; write a schedule of fixed order, such as 1f1b, or fewer stages; there are "
        "some if pipeline or schedule is left open\n");
}

TEST_CASE("a step of more than 26 days is said to be that, whatever its schedule") {
  for (const auto* schedule : {"zb-v", "1f1b"}) {
    const File file("long.yaml", slow_products("1e9", 1600));
    check_refused({"simulate", file.path, "--set", std::string("plan.schedule=") + schedule},
                  file.path +
                      ":5:49: training.global_batch: the step would take longer than 26 days, "
                      "which is not simulated; lower global_batch or sequence_length\n");
    const File slower("slow.yaml", slow_products("1e6", 32));
    check_refused({"simulate", slower.path, "--set", std::string("plan.schedule=") + schedule},
                  slower.path + ":3:3: " + one_kernel);
  }
}

TEST_CASE("a value that a simulation refuses has a place in every command that reads a scenario") {
  const File file("apart.yaml", far_apart);
  const File slow("slow.yaml", slow_products("1e6", 32));
  const std::string apart =
      "cluster.degraded_links: nic0.0:out carries 960 B/s and gpu9.nvlink:in carries 790 TB/s: "
      "links that a step shares differ by less than a factor 2^35; are the bandwidths of the "
      "scenario meant?\n";
  check_refused({"simulate", file.path, "--json"}, file.path + ":5:19: " + apart);
  check_refused({"trace", "no-such.json", "--against", file.path}, file.path + ":5:19: " + apart);
  check_refused({"simulate", file.path, "--against", slow.path},
                slow.path + ":3:3: " + one_kernel + file.path + ":5:19: " + apart);
  const File slower("slower.yaml", slow_products("2e7", 160));
  check_refused({"search", slower.path},
                slower.path +
                    ":5:49: training.global_batch: every plan that may fit takes longer than 26 "
                    "days for a step, which no search looks at; lower global_batch or "
                    "sequence_length\n");
  check_refused({"simulate", file.path, "--set",
                 "cluster.degraded_links=[{link: nic0.1, factor: "
                 "0.001}]"},
                "--set 1: cluster.degraded_links: nic0.1:out carries 960 B/s" +
                    apart.substr(apart.find(" and gpu9")));
}

TEST_CASE("measured steps that simulation refuses are all named, by their places") {
  const File apart("apart.yaml", far_apart), slow("slow.yaml", slow_products("1e6", 32));
  const File list("corrections.yaml", "- {scenario: " + apart.path + ", measured: 3 s}\n" +
                                          "- {scenario: " + slow.path + ", measured: 3 s}\n");
  const auto run = stepcast(
      {"simulate", "scenarios/examples/megatron-22b-8-a100.yaml", "--corrections", list.path});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err.find(list.path + ":1:3: 0.scenario: nic0.0:out carries") == 0);
  CHECK(run.err.find('\n' + list.path + ":2:3: 1.scenario: one kernel") != std::string::npos);
}

TEST_CASE("an option of a purchase that cannot be simulated is named where its cluster stands") {
  const File file("buy.yaml",
                  "workload:\n"
                  "  model: kimi-k2\n"
                  "  training: {sequence_length: 1024, global_batch: 32}\n"
                  "  tokens: 1e9\n"
                  "  plan: {tensor: 2, pipeline: 2, micro_batch: 2, zero: 0, schedule: 1f1b}\n"
                  "options:\n"
                  "  - name: slow\n"
                  "    cluster: {node: {base: dgx-2, device: {base: b200, memory: 16 TB, "
                  "peak: {bf16: 1e6}}}, nodes: 4}\n");
  check_refused({"purchase", file.path, "--quiet"}, file.path + ":8:14: options.0." + one_kernel);
}

TEST_CASE("all options of a purchase that cannot be simulated are named in one run") {
  const std::string slow =
      "{node: {base: dgx-2, device: {base: b200, memory: 16 TB, "
      "peak: {bf16: 1e6}}}, nodes: 4}\n";
  const File file("buys.yaml",
                  "workload:\n"
                  "  model: kimi-k2\n"
                  "  training: {sequence_length: 1024, global_batch: 32}\n"
                  "  tokens: 1e9\n"
                  "  plan: {tensor: 2, pipeline: 2, micro_batch: 2, zero: 0, schedule: 1f1b}\n"
                  "options:\n"
                  "  - name: slow\n"
                  "    cluster: " +
                      slow +
                      "  - name: as slow\n"
                      "    cluster: " +
                      slow);
  check_refused(
      {"purchase", file.path, "--quiet"},
      file.path + ":8:14: options.0." + one_kernel + file.path + ":10:14: options.1." + one_kernel);
}

TEST_CASE("a link is never used beyond its capacity") {
  const File file(
      "link.yaml",
      "model: mixtral-8x22b\n"
      "cluster:\n"
      "  node:\n"
      "    base: dgx-b200\n"
      "    nvlink: {bandwidth: 1e6, efficiency: 0.8, multicast: true}\n"
      "    device: {base: a100-80gb-sxm, memory_bandwidth: 1e15}\n"
      "  nodes: 1\n"
      "training: {sequence_length: 1024, global_batch: 4, precision: mxfp8}\n"
      "plan: {tensor: 4, pipeline: 2, schedule: gpipe, sequence_parallel: true, zero: 2,\n"
      "       recompute: full, expert: 1, expert_tensor: 1}\n");
  const auto run = stepcast({"simulate", file.path, "--json", "--quiet"});
  REQUIRE(run.status == app::success);
  const auto links = json::parse(run.out)["network"]["links"];
  CHECK(links.size() == 4);
  for (const auto& link : links) {
    CHECK(link["utilisation"] > 0.8);
    CHECK(link["utilisation"] <= 1.0);
  }
}

#if defined(STEPCAST_PROGRAM) && !defined(STEPCAST_SANITIZED)
TEST_CASE("an answer that does not fit into memory is no fault of the program") {
  const File err("err.txt", "");
  const std::string command =
      "ulimit -v 300000 && '" STEPCAST_PROGRAM
      "' schedule --schedule 1f1b --stages 8 --microbatches 100000 --forward 1 --backward 2 --json "
      "> /dev/null 2> '" +
      err.path + "'";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == app::wrong_input);
  std::ifstream told(err.path);
  std::string line;
  std::getline(told, line);
  CHECK(line.find("stepcast: out of memory: the answer needs more than there is") == 0);
}
#endif

}  // namespace limits_spec
