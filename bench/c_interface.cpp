// SPDX-License-Identifier: Apache-2.0
// Queries of the C interface, each of another size: collectives on a group that was prepared once,
// with a new group for each query, and kernels. items_per_second are queries in a second;
// docs/c-interface.md promises 10^6 on a prepared group.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "library/stepcast.h"

namespace {

// Eight GPUs of one node, or one of each of 16 nodes.
std::vector<std::int64_t> gpus_of(std::int64_t ranks, std::int64_t apart) {
  std::vector<std::int64_t> gpus(static_cast<std::size_t>(ranks));
  for (std::int64_t i = 0; i < ranks; ++i) gpus[static_cast<std::size_t>(i)] = i * apart;
  return gpus;
}

stepcast_cluster* dgx_h100() {
  return stepcast_cluster_new(R"({"node": "dgx-h100", "nodes": 16})", nullptr);
}

double size_of_query(std::int64_t query) {
  return 1e3 + static_cast<double>(query % 1'000'003) * 997;
}

void prepared(benchmark::State& state, const char* collective, std::int64_t ranks,
              std::int64_t apart) {
  auto* cluster = dgx_h100();
  const auto gpus = gpus_of(ranks, apart);
  auto* group = stepcast_group_new(cluster, gpus.data(), gpus.size(), 1, nullptr);
  const int asked = stepcast_collective(collective);
  std::int64_t query = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(stepcast_collective_time(group, asked, size_of_query(++query)));
  state.SetItemsProcessed(state.iterations());
  stepcast_group_free(group);
  stepcast_cluster_free(cluster);
}

void anew(benchmark::State& state, std::int64_t ranks) {
  auto* cluster = dgx_h100();
  const auto gpus = gpus_of(ranks, 1);
  const int asked = stepcast_collective("all_reduce");
  std::int64_t query = 0;
  for (auto _ : state) {
    auto* group = stepcast_group_new(cluster, gpus.data(), gpus.size(), 1, nullptr);
    benchmark::DoNotOptimize(stepcast_collective_time(group, asked, size_of_query(++query)));
    stepcast_group_free(group);
  }
  state.SetItemsProcessed(state.iterations());
  stepcast_cluster_free(cluster);
}

void products(benchmark::State& state) {
  auto* device = stepcast_device_new("h100-80gb-sxm", nullptr);
  stepcast_kernel kernel{};
  kernel.size = sizeof kernel;
  kernel.kind = STEPCAST_PRODUCT;
  kernel.precision = stepcast_precision("bf16");
  kernel.batch = 1;
  kernel.n = kernel.k = 4096;
  std::int64_t query = 0;
  for (auto _ : state) {
    kernel.m = 1024 + ++query % 8191;
    benchmark::DoNotOptimize(stepcast_kernel_time(device, &kernel));
  }
  state.SetItemsProcessed(state.iterations());
  stepcast_device_free(device);
}

BENCHMARK_CAPTURE(prepared, c_all_reduce_of_a_node, "all_reduce", 8, 1);
BENCHMARK_CAPTURE(prepared, c_all_reduce_of_16_nodes, "all_reduce", 16, 8);
BENCHMARK_CAPTURE(prepared, c_all_gather_of_a_node, "all_gather", 8, 1);
BENCHMARK_CAPTURE(prepared, c_all_to_all_of_16_nodes, "all_to_all", 16, 8);
BENCHMARK_CAPTURE(anew, c_new_group_of_8, 8);
BENCHMARK_CAPTURE(anew, c_new_group_of_128, 128);
BENCHMARK(products)->Name("c_products");

}  // namespace
