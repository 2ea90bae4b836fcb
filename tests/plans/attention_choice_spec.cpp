// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "plans/attention_choice.hpp"
#include "tests/catch.hpp"

namespace attention_choice_spec {

using enum model::AttentionKernel;

namespace {

topology::Cluster of(const std::string& device) {
  topology::Cluster cluster;
  cluster.node.device.name = device;
  return cluster;
}

}  // namespace

TEST_CASE("cuDNN's attention is chosen from the named generation of NVIDIA's GPUs on") {
  for (const auto* device : {"h100-80gb-sxm", "h20", "h800-80gb-sxm", "gh200-96gb"}) {
    CAPTURE(device);
    CHECK(strategies::attention_on(of(device), fused_from_hopper) == fused);
    CHECK(strategies::attention_on(of(device), fused_from_blackwell) == flash);
  }
  for (const auto* device : {"b200", "gb300"}) {
    CHECK(strategies::attention_on(of(device), fused_from_hopper) == fused);
    CHECK(strategies::attention_on(of(device), fused_from_blackwell) == fused);
  }
  for (const auto* device : {"a100-80gb-sxm", "l40s", "mi300x", "my accelerator"})
    CHECK(strategies::attention_on(of(device), fused_from_hopper) == flash);
}

TEST_CASE("on a cluster of two kinds the older one decides over the kernel of attention") {
  auto cluster = of("b200");
  auto older = cluster.node;
  older.device.name = "a100-80gb-sxm";
  cluster.others.push_back({.node = older});
  CHECK(strategies::attention_on(cluster, fused_from_hopper) == flash);
}

TEST_CASE("a kernel of attention that is told is not changed") {
  for (const auto kernel : {unfused, fused, flash, flash_1, flash_3, memory_efficient})
    CHECK(strategies::attention_on(of("a100-80gb-sxm"), kernel) == kernel);
}

}  // namespace attention_choice_spec
