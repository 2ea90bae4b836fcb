// SPDX-License-Identifier: Apache-2.0
// Kernels and collectives of a prepared device or group, through the C interface and beneath it.
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "library/costs.hpp"
#include "library/stepcast.h"
#include "scenarios/catalog.hpp"
#include "tests/catch.hpp"
#include "topology/words.hpp"

namespace costs_spec {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

struct Text {  // text of an error
  char* text = nullptr;
  ~Text() { stepcast_text_free(text); }
};

stepcast_kernel product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {sizeof(stepcast_kernel),
          STEPCAST_PRODUCT,
          stepcast_precision("bf16"),
          STEPCAST_FORWARD,
          0,
          1,
          m,
          n,
          k,
          0,
          0};
}

}  // namespace

TEST_CASE("a prepared group takes the time that a forecast gives its collectives, bit for bit") {
  std::mt19937 random(7);
  for (const std::string node :
       {"dgx-h100", "dgx-a100-80gb", "dgx-1v", "mi300x-8", "gb200-nvl72"}) {
    const auto cluster = library::cluster_of("{node: " + node + ", nodes: 8}");
    for (int i = 0; i < 40; ++i) {
      const auto stride = std::int64_t{1} << random() % 4;
      const auto most = cluster->gpus / stride;
      std::vector<std::int64_t> gpus(
          1 + random() % static_cast<std::uint64_t>(std::min<std::int64_t>(most, 64)));
      for (std::size_t g = 0; g < gpus.size(); ++g) gpus[g] = static_cast<std::int64_t>(g) * stride;
      const int sharing = i % 3 == 0 ? 2 : 1;
      const library::Group group(cluster, gpus, sharing);
      auto shape = topology::shape_of(gpus, *cluster);
      shape.sharing = sharing;
      for (const auto& [word, collective] : words_of(topology::Collective{})) {
        const units::Bytes size{std::exp2(static_cast<double>(random() % 340) / 10)};
        CAPTURE(node, word, gpus.size(), stride, size.value);
        CHECK(group.time(collective, size).value ==
              topology::collective_time(collective, size, shape, *cluster).value);
      }
    }
  }
}

TEST_CASE("a kernel without flops and traffic has those of a layer's kernel") {
  const library::Device device("h100-80gb-sxm");
  const units::Kernel bare{.kind = units::Kernel::Kind::product, .m = 4096, .n = 1024, .k = 2048};
  const auto whole = library::completed(bare);
  CHECK(whole.flops.value == 2.0 * 4096 * 1024 * 2048);
  CHECK(whole.traffic.value == 2.0 * (4096 * 2048 + 2048 * 1024 + 4096 * 1024));
  CHECK(device.time(bare).value == device.time(whole).value);
  // The attention has two products of 64 heads' width over half of the pairs, three tensors in and
  // one out.
  const auto attention = library::completed({.kind = units::Kernel::Kind::attention,
                                             .causal = true,
                                             .batch = 16,
                                             .m = 1024,
                                             .n = 1024,
                                             .k = 64});
  CHECK(attention.flops.value == 2.0 * 16 * (1024.0 * 1024 / 2) * (64 + 64));
  CHECK(attention.traffic.value == 2.0 * 4 * 16 * 1024 * 64);
}

TEST_CASE("the C interface states its version, and answers as calls do") {
  CHECK(stepcast_abi_version() == STEPCAST_ABI_VERSION);
  CHECK_THAT(stepcast_version(), Contains(STEPCAST_VERSION));
  auto* answer = stepcast_call(
      R"({"command": "schedule", "options": {"schedule": "1f1b", "stages": 4, "microbatches": 8,
          "forward": 1, "backward": 2}})",
      nullptr, nullptr, nullptr);
  REQUIRE(answer != nullptr);
  CHECK(stepcast_answer_status(answer) == 0);
  CHECK(json::parse(stepcast_answer_json(answer))["makespan"] == 33);
  const char* page = stepcast_answer_page(answer);
  CHECK_THAT(page, Contains("<html"));
  CHECK(stepcast_answer_page(answer) == page);
  CHECK(json::parse(stepcast_answer_trace(answer)).contains("traceEvents"));
  stepcast_answer_free(answer);
}

TEST_CASE("the C interface hands out the warnings of a call") {
  const auto warnings = [](const char* schedule) {
    const std::string request = R"({"command": "schedule", "options": {"stages": 4,
        "microbatches": 8, "forward": 1, "backward": 2, "schedule": ")" +
                                std::string(schedule) + "\"}}";
    auto* answer = stepcast_call(request.c_str(), nullptr, nullptr, nullptr);
    const auto list = json::parse(stepcast_answer_warnings(answer));
    stepcast_answer_free(answer);
    return list;
  };
  CHECK(warnings("1f1b") == json::array());
  REQUIRE(warnings("zb-h1").size() == 1);
  CHECK_THAT(warnings("zb-h1")[0].get<std::string>(), Contains("without --weight"));
  CHECK(stepcast_answer_warnings(nullptr) == nullptr);
}

TEST_CASE("a mistake comes back as JSON, whatever it is") {
  for (const char* request :
       {static_cast<const char*>(nullptr), "", "{", R"({"command": "nothing"})",
        R"({"command": "simulate", "inputs": [{"plan": {"tensor": "many"}}]})"}) {
    auto* answer = stepcast_call(request, nullptr, nullptr, nullptr);
    REQUIRE(answer != nullptr);
    CHECK(stepcast_answer_status(answer) == 2);
    const auto document = json::parse(stepcast_answer_json(answer));
    CHECK(!document["error"].get<std::string>().empty());
    CHECK(stepcast_answer_page(answer) == nullptr);
    stepcast_answer_free(answer);
  }
  stepcast_answer_free(nullptr);
}

TEST_CASE("another thread stops a call, which is told how far it is") {
  auto* stop = stepcast_stop_new();
  auto* answer = stepcast_call(
      R"({"command": "search", "inputs": ["scenarios/examples/gpt3-175b-search-4096-a100.yaml"]})",
      stop,
      [](const char* text, void* user) {
        if (json::parse(text).contains("text"))
          std::jthread([&] { stepcast_stop_request(static_cast<stepcast_stop*>(user)); });
      },
      stop);
  CHECK(stepcast_answer_status(answer) == 130);
  CHECK(json::parse(stepcast_answer_json(answer))["interrupted"] == true);
  stepcast_answer_free(answer);
  stepcast_stop_free(stop);
}

TEST_CASE("costs in C equal those of the handles, and impossible ones are not a number") {
  Text error;
  auto* cluster = stepcast_cluster_new(R"({"node": "dgx-h100", "nodes": 2})", &error.text);
  REQUIRE(cluster != nullptr);
  CHECK(error.text == nullptr);
  std::vector<std::int64_t> gpus(16);
  std::iota(gpus.begin(), gpus.end(), 0);
  auto* group = stepcast_group_new(cluster, gpus.data(), gpus.size(), 1, &error.text);
  REQUIRE(group != nullptr);
  stepcast_cluster_free(cluster);  // the group keeps all that it needs
  const int all_reduce = stepcast_collective("all_reduce");
  const std::vector<double> sizes{0, 1e3, 1e6, 1e9, -1, std::nan(""), INFINITY};
  std::vector<double> times(sizes.size());
  stepcast_collective_times(group, all_reduce, sizes.data(), times.data(), sizes.size());
  const auto known = scenarios::catalog_cluster("dgx-h100", "ndr-rail-fat-tree", 2);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(times[i] == topology::collective_time(topology::Collective::all_reduce, {sizes[i]},
                                                topology::shape_of(gpus, known), known)
                          .value);
  for (std::size_t i = 4; i < sizes.size(); ++i) CHECK(std::isnan(times[i]));
  CHECK(std::isnan(stepcast_collective_time(group, -1, 1)));
  CHECK(std::isnan(stepcast_collective_time(nullptr, all_reduce, 1)));
  stepcast_collective_times(group, all_reduce, nullptr, times.data(), 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::isnan(times[i]));
  stepcast_collective_times(group, all_reduce, nullptr, nullptr, 3);  // does nothing
  stepcast_collective_times(group, all_reduce, sizes.data(), nullptr, 3);
  CHECK(stepcast_collective("all_reduced") == -1);
  stepcast_group_free(group);

  auto* device = stepcast_device_new("h100-80gb-sxm", &error.text);
  REQUIRE(device != nullptr);
  auto kernel = product(4096, 4096, 4096);
  const double whole = stepcast_kernel_time(device, &kernel);
  CHECK(whole > 2.0 * 4096 * 4096 * 4096 / 989e12);
  for (const auto& wrong : {product(0, 1, 1), product(1, -1, 1)})
    CHECK(std::isnan(stepcast_kernel_time(device, &wrong)));
  kernel.size = 8;
  CHECK(std::isnan(stepcast_kernel_time(device, &kernel)));
  stepcast_device_free(device);
}

TEST_CASE("a wrong cluster, group or device is refused with every complaint") {
  Text one, two, three, four;
  CHECK(stepcast_cluster_new("{node: dgx-h10, nodes: none}", &one.text) == nullptr);
  CHECK_THAT(one.text, Contains("did you mean 'dgx-h100'?") && Contains("nodes"));
  auto* cluster = stepcast_cluster_new("{node: dgx-h100, nodes: 1}", nullptr);
  REQUIRE(cluster != nullptr);
  const std::vector<std::int64_t> twice{0, 1, 0}, beyond{0, 8};
  CHECK(stepcast_group_new(cluster, twice.data(), twice.size(), 1, &two.text) == nullptr);
  CHECK_THAT(two.text, Contains("GPU 0 is twice in the group"));
  CHECK(stepcast_group_new(cluster, beyond.data(), beyond.size(), 1, &three.text) == nullptr);
  CHECK_THAT(three.text, Contains("no GPU 8 in a cluster of 8"));
  CHECK(stepcast_group_new(cluster, nullptr, 0, 1, nullptr) == nullptr);
  stepcast_cluster_free(cluster);
  CHECK(stepcast_device_new("h1000", &four.text) == nullptr);
  CHECK_THAT(four.text, Contains("unknown device 'h1000'"));
}

}  // namespace costs_spec
