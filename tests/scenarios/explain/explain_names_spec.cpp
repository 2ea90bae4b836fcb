// SPDX-License-Identifier: Apache-2.0
// Single faults and foreign traces that are easily taken for something else.
#include <algorithm>
#include <string>
#include <vector>

#include "forecast/diagnosis/diagnosis.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/explain/explained_run.hpp"

namespace explain_names_spec {

using explained_runs::diagnosed;
using explained_runs::listed;
using explained_runs::names;
using explained_runs::near;
using explained_runs::Planned;
using explained_runs::planned;
using explained_runs::planned_as;
using explained_runs::plans;
using faulty_runs::Fault;
using faulty_runs::Injected;
using faulty_runs::record;
using forecast::Cause;
using forecast::KernelClass;
using forecast::StepPart;

TEST_CASE("a trace of another run is noticed, and nothing is compared", "[explain]") {
  const auto what_differs = [](std::size_t ran, const std::string& asked) {
    const auto& of = planned(ran);
    const auto run = record(of.scenario, of.expected, {}, {.missing = {}, .seed = 5});
    Planned other;
    other.scenario = scenarios::read_scenario(asked, "other");
    other.forecast = forecast::simulate(other.scenario);
    const auto found = diagnosed(other, run);
    CHECK(found.suspects.empty());
    std::vector<std::string> what;
    for (const auto& one : found.mismatches) what.push_back(one.what);
    return what;
  };
  using Names = std::vector<std::string>;
  const std::string training = "training: {sequence_length: 4096, global_batch: 16";
  const std::string dense = "model: {base: llama3-8b, layers: 8}\n";
  CHECK(what_differs(
            0, dense + "cluster: {node: dgx-h100, gpus: 4}\n" + training + "}\nplan: {zero: 1}\n")
            .at(0) == "GPUs");
  CHECK(what_differs(0,
                     "model: {base: llama3-8b, layers: 12}\n"
                     "cluster: {node: dgx-h100, gpus: 2}\n" +
                         training + "}\nplan: {zero: 1}\n") == Names{"layers x microbatches"});
  CHECK(what_differs(0, dense + "cluster: {node: dgx-h100, gpus: 2}\n" + training +
                            ", precision: fp16}\nplan: {zero: 1}\n") == Names{"number format"});
  CHECK(what_differs(0, dense + "cluster: {node: dgx-a100-80gb, gpus: 2}\n" + training +
                            "}\nplan: {zero: 1}\n") == Names{"device"});
  CHECK(what_differs(1, dense + "cluster: {node: dgx-h100, gpus: 8}\n" + training +
                            "}\nplan: {tensor: 4, zero: 1}\n")
            .at(0) == "tensor-parallel group");
}

void check_straggler(const Planned& of, const std::string& plan, std::int64_t rank) {
  for (const double amount : {1.1, 1.15, 1.2}) {
    const Injected slow{.fault = Fault::slow_ranks, .amount = amount, .ranks = {rank}};
    const auto run = record(of.scenario, of.expected, {slow}, {.missing = {}, .seed = 11});
    const auto found = diagnosed(of, run);
    INFO(plan << rank << " x" << amount << listed(found));
    REQUIRE_FALSE(found.suspects.empty());
    CHECK(names(found.suspects.front(), slow, run.ranks));
    CHECK(found.suspects.front().factor == Approx(amount).epsilon(0.02));
    for (std::size_t i = 1; i < found.suspects.size(); ++i)
      CHECK(found.suspects[i].seconds.value < 0.02 * found.measured.value);
  }
}

TEST_CASE("a rank that is slower by a tenth is found, and no wait for it counts as another fault",
          "[explain]") {
  for (const std::size_t plan : {0UL, 1UL, 2UL, 5UL, 7UL})
    check_straggler(planned(plan), plans()[plan], planned(plan).scenario.cluster.gpus - 1);
  // No single wait is a thousandth of a step of so many layers and microbatches.
  const std::string many =
      "model: {base: llama3-8b, layers: 8}\ncluster: {node: dgx-h100, gpus: 8}\n"
      "training: {sequence_length: 4096, global_batch: 64}\nplan: {tensor: 4, zero: 1}\n";
  const auto of = planned_as(many);
  for (const std::int64_t rank : {0, 3}) check_straggler(of, many, rank);
}

TEST_CASE("one transfer that stalls is no slow link, and no key is said to stand for it",
          "[explain]") {
  const auto& of = planned(1);
  const Injected stalled{
      .fault = Fault::stall, .amount = 0.3, .ranks = {2, 3}, .part = StepPart::tensor_comm};
  const auto run = record(of.scenario, of.expected, {stalled}, {.missing = {}, .seed = 12});
  const auto found = diagnosed(of, run);
  INFO(listed(found));
  REQUIRE(found.suspects.size() == 1);
  const auto& suspect = found.suspects.front();
  CHECK(suspect.cause == Cause::stall);
  CHECK(suspect.ranks == stalled.ranks);
  CHECK(suspect.stalled == 1);
  CHECK(suspect.set.empty());
  CHECK(near(suspect.seconds.value, 0.3 * of.clean, run.seconds));
}

// The run with another name for its products.
faulty_runs::RecordedRun with_products_named(faulty_runs::RecordedRun run,
                                             const std::string& name) {
  const std::string old = "nvjet_hsh_256x128_64x4_2x1_v_bz_coopA_TNN";
  for (auto& trace : run.traces)
    for (auto at = trace.find(old); at != trace.npos; at = trace.find(old, at + name.size()))
      trace.replace(at, old.size(), name);
  return run;
}

TEST_CASE("of a model without experts all products are products, whatever their names sound like",
          "[explain]") {
  const auto& of = planned(0);
  const auto run =
      record(of.scenario, of.expected,
             {{.fault = Fault::slow_class, .amount = 1.5, .kernels = KernelClass::products}},
             {.missing = {}, .seed = 13});
  for (const char* name :
       {"cutlass_grouped_gemm_bf16", "sm90_xmma_gemm_warpgroupsize1x1x1_cublas"}) {
    const auto found = diagnosed(of, with_products_named(run, name));
    INFO(name << listed(found));
    REQUIRE_FALSE(found.suspects.empty());
    CHECK(found.suspects.front().cause == Cause::slow_kernels);
    CHECK(found.suspects.front().kernels == KernelClass::products);
  }
}

TEST_CASE("experts that run one by one, under the names of other products, are no fault",
          "[explain]") {
  const auto& of = planned(7);
  auto run = record(of.scenario, of.expected, {}, {.missing = {}, .seed = 14});
  const std::string grouped = "cutlass_grouped_gemm_bf16";
  for (auto& trace : run.traces)
    for (auto at = trace.find(grouped); at != trace.npos; at = trace.find(grouped, at))
      trace.replace(at, grouped.size(), "nvjet_tst");
  const auto found = diagnosed(of, run);
  INFO(listed(found));
  for (const auto& suspect : found.suspects)
    CHECK(suspect.seconds.value < 0.02 * found.measured.value);
}

TEST_CASE("products of 8 bits beside a scenario of 16 are noticed by their names, and the reverse",
          "[explain]") {
  const auto& of = planned(0);
  const auto run = record(of.scenario, of.expected, {}, {.missing = {}, .seed = 15});
  const auto narrow = with_products_named(run, "nvjet_qqtst_128x256_128x6_1x2_h_bz_coopA_TNT");
  const std::vector<std::string> sets{"training.precision=fp8"};
  Planned fp8;
  fp8.scenario = scenarios::read_scenario(plans()[0], "plan", sets);
  fp8.forecast = forecast::simulate(fp8.scenario);
  const auto differs = [](const Planned& asked, const faulty_runs::RecordedRun& ran) {
    std::string all;
    for (const auto& one : diagnosed(asked, ran).mismatches)
      all += one.what + ": " + one.trace + ", " + one.scenario;
    return all;
  };
  CHECK(differs(of, run).empty());
  CHECK(differs(fp8, narrow).empty());
  CHECK(differs(of, narrow) == "format of products: 8 bits or fewer, bf16");
  CHECK(differs(fp8, run) == "format of products: 16 bits or more, fp8");
  CHECK(differs(fp8, with_products_named(run, "gemm_kernel")).empty());
}

}  // namespace explain_names_spec
