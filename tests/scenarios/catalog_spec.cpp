// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/catalog.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "topology/kernel_time.hpp"
#include "topology/rate_surface.hpp"

namespace catalog_spec {

using scenarios::Kind;

namespace {

const std::map<Kind, std::vector<std::string>> promised{
    {Kind::model,
     {"gpt2-xl",      "gpt3-175b",     "megatron-22b", "megatron-530b", "megatron-1t",
      "bloom-176b",   "opt-175b",      "gpt-neox-20b", "llama2-7b",     "llama2-13b",
      "llama2-70b",   "llama3-8b",     "llama3-70b",   "llama3-405b",   "mistral-7b",
      "mixtral-8x7b", "mixtral-8x22b", "qwen2-72b",    "qwen3-30b-a3b", "qwen3-235b-a22b",
      "deepseek-v2",  "deepseek-v3",   "kimi-k2",      "gpt-oss-120b",  "dialogpt-large"}},
    {Kind::device,
     {"v100-32gb-sxm", "a100-40gb-sxm", "a100-80gb-sxm", "a800-80gb-sxm", "h100-80gb-sxm",
      "h800-80gb-sxm", "h20",           "h200-sxm",      "b200",          "b300",
      "gb200",         "gb300",         "l40s",          "rtx4090",       "mi250x",
      "mi300x",        "mi325x",        "mi350x",        "mi355x",        "gaudi3",
      "tpu-v4",        "tpu-v5e",       "tpu-v5p",       "tpu-v6e",       "trainium2"}},
    {Kind::node,
     {"dgx-1v", "dgx-2", "dgx-a100-40gb", "dgx-a100-80gb", "dgx-h100", "dgx-h800", "dgx-h200",
      "dgx-b200", "dgx-b300", "gb200-nvl72", "gb300-nvl72", "mi300x-8", "l40s-8-pcie"}},
    {Kind::fabric,
     {"hdr-rail-fat-tree", "ndr-rail-fat-tree", "xdr-rail-fat-tree", "edr-fat-tree",
      "roce-100g-fat-tree", "roce-200g-fat-tree", "roce-400g-rail", "ethernet-100g", "efa-100g",
      "efa-400g", "dragonfly-plus-hdr", "torus-3d"}},
    {Kind::software,
     {"megatron-2019", "megatron-2021", "megatron-2023", "megatron-2023-llama", "megatron-core",
      "megatron-deepspeed", "megatron-deepspeed-bf16", "deepspeed", "internevo", "fsdp",
      "llm-foundry", "torchtitan", "nemo", "nanotron", "maxtext"}}};

void read(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::model:
      scenarios::catalog_model(name);
      return;
    case Kind::device:
      scenarios::catalog_device(name);
      return;
    case Kind::node:
      scenarios::catalog_node(name);
      return;
    case Kind::fabric:
      scenarios::catalog_fabric(name);
      return;
    case Kind::software:
      scenarios::catalog_software(name);
      return;
  }
}

}  // namespace

TEST_CASE("the catalog holds every promised name") {
  for (const auto& [kind, names] : promised) {
    const auto known = scenarios::catalog_names(kind);
    for (const auto& name : names) {
      CAPTURE(name);
      CHECK(std::ranges::find(known, name) != known.end());
    }
  }
}

TEST_CASE("every entry says where its figures come from and can be read") {
  for (const auto word : scenarios::catalog_kinds()) {
    const auto kind = *scenarios::parse_kind(word);
    for (const auto name : scenarios::catalog_names(kind)) {
      CAPTURE(name);
      const auto text = scenarios::catalog_text(kind, name);
      REQUIRE(text);
      CHECK(scenarios::parse_yaml(*text, std::string(name)).find("source") != nullptr);
      CHECK_NOTHROW(read(kind, name));
    }
  }
}

TEST_CASE("models of the catalog have the numbers of parameters that their sources print") {
  const std::map<std::string, std::int64_t> published{
      {"gpt2-xl", 1'557'611'200},
      {"dialogpt-large", 774'030'080},
      {"gpt-neox-20b", 20'554'567'680},
      {"llama2-7b", 6'738'415'616},
      {"llama2-13b", 13'015'864'320},
      {"llama2-70b", 68'976'648'192},
      {"llama3-8b", 8'030'261'248},
      {"llama3-70b", 70'553'706'496},
      {"llama3-405b", 405'853'388'800},
      {"mistral-7b", 7'248'023'552},
      {"qwen2-72b", 72'706'203'648},
      {"mixtral-8x7b", 46'702'792'704},
      {"mixtral-8x22b", 140'620'634'112},
      {"qwen3-30b-a3b", 30'532'122'624},
      {"qwen3-235b-a22b", 235'093'634'560},
      {"deepseek-v2", 235'741'434'880},
      {"deepseek-v3", 671'026'419'200},
      {"kimi-k2", 1'026'408'232'448},
      {"gpt-oss-120b", 116'829'156'672},
      // BLOOM's page prints 176,247,271,424, which counts a norm after the embedding.
      {"bloom-176b", 176'247'271'424 - 2 * 14336}};
  for (const auto& [name, parameters] : published) {
    CAPTURE(name);
    CHECK(model::parameters(scenarios::catalog_model(name)) == parameters);
  }
  // These are in billions, with the vocabulary of 51,200 (Narayanan et al. 2021, table 1).
  const std::map<std::string, double> rounded{
      {"gpt3-175b", 174.6}, {"megatron-530b", 529.6}, {"megatron-1t", 1008.0}};
  for (const auto& [name, billions] : rounded) {
    CAPTURE(name);
    CHECK(static_cast<double>(model::parameters(scenarios::catalog_model(name))) ==
          Approx(billions * 1e9).epsilon(1e-3));
  }
  // The papers' names give these to the billion (arXiv 2205.01068; arXiv 2205.05198, table 3).
  for (const auto& [name, billions] : {std::pair{"opt-175b", 175}, std::pair{"megatron-22b", 22}}) {
    CAPTURE(name);
    const auto model = scenarios::catalog_model(name);
    CHECK(std::lround(static_cast<double>(model::parameters(model)) / 1e9) == billions);
  }
}

// Numbers are in billions, as the reports of the models print them: Mixtral (arXiv 2401.04088;
// 8x22B's announcement), Qwen3 (arXiv 2505.09388), DeepSeek-V2 (arXiv 2405.04434), -V3 (arXiv
// 2412.19437), Kimi K2 (arXiv 2507.20534), gpt-oss (arXiv 2508.10925: the embedding is not active,
// the head is).
TEST_CASE("models of the catalog have the active parameters that their authors print") {
  struct Active {
    const char* name;
    double total, active;
    bool embedding;  // counted as active
  };
  const std::vector<Active> published{
      {"mixtral-8x7b", 46.7, 12.9, true}, {"mixtral-8x22b", 141, 39, true},
      {"qwen3-30b-a3b", 30.5, 3.3, true}, {"qwen3-235b-a22b", 235, 22, true},
      {"deepseek-v2", 236, 21, false},    {"deepseek-v3", 671, 37, false},
      {"kimi-k2", 1030, 32, false},       {"gpt-oss-120b", 117, 5.1, false}};
  for (const auto& [name, total, active, embedding] : published) {
    CAPTURE(name);
    const auto model = scenarios::catalog_model(name);
    const auto look_up = embedding ? 0 : model.vocab * model.hidden;
    CHECK(static_cast<double>(parameters(model)) == Approx(total * 1e9).epsilon(0.005));
    CHECK(static_cast<double>(active_parameters(model) - look_up) ==
          Approx(active * 1e9).epsilon(0.02));
  }
  CHECK(prediction_parameters(scenarios::catalog_model("deepseek-v3")) == 11'610'068'224);
}

TEST_CASE("a device shows a process a little less memory than its label says") {
  for (const auto name : scenarios::catalog_names(Kind::device)) {
    CAPTURE(name);
    const auto device = scenarios::catalog_device(name);
    CHECK(device.usable_memory <= device.memory);
    CHECK(device.usable_memory > 0.9 * device.memory);
    CHECK(device.vector_peak.value > 0);
    CHECK(std::ranges::any_of(device.peak, [](auto peak) { return peak.value > 0; }));
  }
}

TEST_CASE("devices carry kernels that were measured on them, their export versions the same ones") {
  CHECK_FALSE(scenarios::catalog_device("a100-80gb-sxm").efficiency.products.empty());
  for (const auto* name : {"h100-80gb-sxm", "h200-sxm"}) {
    CAPTURE(name);
    const auto device = scenarios::catalog_device(name);
    CHECK(device.measured_itself(device.efficiency.kernels));
    for (const auto layout : {units::Kernel::Layout::forward, units::Kernel::Layout::input_gradient,
                              units::Kernel::Layout::weight_gradient})
      CHECK(std::ranges::count(device.efficiency.products, layout,
                               &topology::MeasuredProduct::layout) == 119);
    CHECK(std::ranges::any_of(device.efficiency.attention, [](const auto& row) {
      return row.fused == units::FusedAttention::cudnn &&
             row.pass == topology::MeasuredAttention::Pass::backward;
    }));
  }
  CHECK(scenarios::catalog_device("a800-80gb-sxm").efficiency ==
        scenarios::catalog_device("a100-80gb-sxm").efficiency);
  CHECK(scenarios::catalog_device("h800-80gb-sxm").efficiency ==
        scenarios::catalog_device("h100-80gb-sxm").efficiency);
  CHECK(scenarios::catalog_node("dgx-h800").nvlink.bandwidth.value == 200e9);
}

TEST_CASE("an H200 knows all attention that was measured on an H100, the same chip") {
  const auto h100 = scenarios::catalog_device("h100-80gb-sxm"),
             h200 = scenarios::catalog_device("h200-sxm");
  for (const auto& row : h100.efficiency.attention)
    CHECK(std::ranges::any_of(h200.efficiency.attention, [&](auto other) {
      other.efficiency = row.efficiency;
      return other == row;
    }));
}

TEST_CASE("a device names the device that its rates were measured on, or a name that has rates") {
  const auto* b200 = scenarios::catalog_device("b200").rates;
  REQUIRE(b200 != nullptr);
  CHECK(b200->name == "b200");
  // A device that is built on another one has its rates, or its own.
  CHECK(scenarios::catalog_device("h800-80gb-sxm").rates->name == "h100-sxm");
  CHECK(scenarios::catalog_device("h200-sxm").rates->name == "h200-sxm");
  CHECK(scenarios::catalog_device("a100-80gb-sxm").rates == nullptr);
  const auto named = [](const std::string& rates) {
    return scenarios::read_scenario("cluster: {node: {device: {base: b200, rates: " + rates + "}}}",
                                    "s.yaml");
  };
  CHECK_THROWS_WITH(named("b2000"),
                    STEPCAST_HOLDS("s.yaml:1:46: cluster.node.device.rates: no rates were measured "
                                   "on 'b2000'; expected one of a100-sxm, b200, b300") &&
                        STEPCAST_HOLDS("did you mean 'b200'?"));
}

TEST_CASE("half the power limit slows products of NVIDIA's devices since A100 by the root of two") {
  for (const auto* name : {"a100-80gb-sxm", "h100-80gb-sxm", "b200", "b300", "gb200", "gb300"}) {
    CAPTURE(name);
    auto device = scenarios::catalog_device(name);
    const double clock = device.clock();
    device.power = device.power / 2.0;
    CHECK(device.clock() == Approx(clock / std::sqrt(2)));
  }
}

TEST_CASE("8 experts of 2048 x 7168 are faster in mxfp8 than in bf16 on Blackwell, in each pass") {
  using units::Kernel;
  // torchao measured, on B200 with 16,384 rows an expert, 750 TFLOP/s in bf16 for forward and
  // backward together, and in mxfp8 2300 forward and 1830 for the weight's gradient, without casts.
  for (const auto* name : {"b200", "b300", "gb200", "gb300"})
    for (const auto layout :
         {Kernel::Layout::forward, Kernel::Layout::input_gradient, Kernel::Layout::weight_gradient})
      for (const std::int64_t launches : {1, 8}) {
        const auto device = scenarios::catalog_device(name);
        const auto time_in = [&](units::Precision precision) {
          const std::int64_t rows = 16384, out = 2048, in = 7168;
          Kernel kernel{.kind = Kernel::Kind::product, .precision = precision, .layout = layout};
          kernel.batch = 8, kernel.grouped = true, kernel.launches = launches;
          const bool last = layout == Kernel::Layout::weight_gradient;
          kernel.m = last ? out : rows, kernel.k = last ? rows : in;
          kernel.n = last ? in : out;
          if (layout == Kernel::Layout::input_gradient) std::swap(kernel.n, kernel.k);
          kernel.flops = {2.0 * 8 * static_cast<double>(rows * out * in)};
          return topology::kernel_time(kernel, device);
        };
        CAPTURE(name, launches);
        CHECK(time_in(units::Precision::mxfp8) < time_in(units::Precision::bf16));
      }
}

TEST_CASE("every node names a usual fabric that exists") {
  for (const auto name : scenarios::catalog_names(Kind::node)) {
    CAPTURE(name);
    CHECK_NOTHROW(scenarios::catalog_fabric(scenarios::catalog_node(name).usual_fabric));
  }
}

TEST_CASE("an unknown name is answered with the known names and the nearest") {
  CHECK_THROWS_WITH(
      scenarios::catalog_device("h100"),
      STEPCAST_HOLDS("unknown device 'h100'") && STEPCAST_HOLDS("did you mean 'h100-80gb-sxm'?"));
  CHECK_THROWS_WITH(scenarios::catalog_model("lama3-8b"),
                    STEPCAST_HOLDS("did you mean 'llama3-8b'?"));
  CHECK_THROWS_WITH(scenarios::catalog_software("zzzzzz"), !STEPCAST_HOLDS("did you mean"));
}

}  // namespace catalog_spec
