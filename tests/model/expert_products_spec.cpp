// SPDX-License-Identifier: Apache-2.0
// Ways in which the products of routed experts reach the device. The rank has R token copies,
// hidden h = 64, and experts of width f = 32.
#include <numeric>

#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"

namespace expert_products_spec {

using namespace model;
using namespace small_models;
using units::Kernel;
using units::Precision;

namespace {

Operators layer_with(ExpertProducts products, Precision precision, bool biases = false) {
  auto t = mixture(8, 2, 32);
  t.moe->expert_biases = biases;
  Kernels kernels;
  kernels.expert_products = products;
  return model::layer(t, whole(t, 1, 16), kernels, precision, 0, Mlp::experts);
}

std::int64_t launches(const std::vector<Kernel>& kernels) {
  std::int64_t sum = 0;
  for (const auto& kernel : kernels) sum += kernel.launches;
  return sum;
}

double bytes(const std::vector<Kernel>& kernels) {
  double sum = 0;
  for (const auto& kernel : kernels) sum += kernel.traffic.value;
  return sum;
}

}  // namespace

TEST_CASE("in 16 bit the products of experts are as many kernels, or one") {
  const auto of = [](ExpertProducts products) {
    const auto ops = layer_with(products, Precision::bf16);
    const auto& up = named(ops, "expert up projection");
    return std::vector{launches(up.forward), launches(up.input_gradient),
                       launches(up.weight_gradient)};
  };
  CHECK(of(ExpertProducts::one_by_one) == std::vector<std::int64_t>{8, 8, 8});
  CHECK(of(ExpertProducts::grouped) == std::vector<std::int64_t>{1, 1, 1});
}

TEST_CASE("in 8 bit each expert has a cast and products of its own, in mxfp8 scales to lay out") {
  const auto of = [](ExpertProducts products, Precision precision) {
    const auto ops = layer_with(products, precision);
    const auto& up = named(ops, "expert up projection");
    return std::vector{launches(up.forward), launches(up.input_gradient),
                       launches(up.weight_gradient)};
  };
  using Counts = std::vector<std::int64_t>;
  CHECK(of(ExpertProducts::grouped, Precision::fp8) == Counts{2, 2, 1});
  CHECK(of(ExpertProducts::one_by_one, Precision::fp8) == Counts{16, 16, 8});
  CHECK(of(ExpertProducts::one_by_one, Precision::mxfp8) == Counts{32, 32, 24});
}

TEST_CASE("one by one or not, the device has the same to do") {
  const auto precision = GENERATE(Precision::bf16, Precision::fp8, Precision::mxfp8);
  auto alone = layer_with(ExpertProducts::one_by_one, precision);
  for (auto& op : alone)
    for (auto* pass : {&op.forward, &op.input_gradient, &op.weight_gradient})
      for (auto& kernel : *pass) kernel.launches = 1;
  const auto together = layer_with(ExpertProducts::grouped, precision);
  REQUIRE(alone.size() == together.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    CHECK(alone[i].forward == together[i].forward);
    CHECK(alone[i].input_gradient == together[i].input_gradient);
    CHECK(alone[i].weight_gradient == together[i].weight_gradient);
  }
}

TEST_CASE("fused products take activation, its cast and biases along, in mxfp8 only") {
  const auto fused = layer_with(ExpertProducts::fused, Precision::mxfp8, true);
  const auto apart = layer_with(ExpertProducts::grouped, Precision::mxfp8);
  CHECK(named(fused, "expert activation").forward.empty());
  CHECK(named(fused, "expert activation").input_gradient.empty());
  // Dispatched tokens, and the gradients of combined ones, are still cast.
  CHECK(launches(named(fused, "expert up projection").forward) == 2);
  CHECK(launches(named(fused, "expert up projection").input_gradient) == 1);
  CHECK(launches(named(fused, "expert down projection").forward) == 1);
  CHECK(launches(named(fused, "expert down projection").input_gradient) == 2);
  CHECK(named(fused, "expert up projection").forward ==
        named(apart, "expert up projection").forward);

  const auto wide = layer_with(ExpertProducts::fused, Precision::bf16, true);
  const auto one_by_one = layer_with(ExpertProducts::one_by_one, Precision::bf16, true);
  for (std::size_t i = 0; i < wide.size(); ++i) CHECK(wide[i].forward == one_by_one[i].forward);
}

TEST_CASE("weighted biases cost 28 bytes of each value forward and 40 backward") {
  const auto with = layer_with(ExpertProducts::one_by_one, Precision::bf16, true);
  const auto without = layer_with(ExpertProducts::one_by_one, Precision::bf16);
  const double values = 16.0 * 2 * 64;
  const auto& down = named(with, "expert down projection");
  const auto& plain = named(without, "expert down projection");
  CHECK(bytes(down.forward) - bytes(plain.forward) == 28 * values);
  CHECK(bytes(down.input_gradient) - bytes(plain.input_gradient) == 40 * values);
  // Biases are weighted and added expert by expert, then joined and cast at once.
  CHECK(launches(down.forward) - launches(plain.forward) == 8 + 8 + 1 + 1);
  // Biases of the first projection are added inside its product.
  CHECK(named(with, "expert up projection").forward ==
        named(without, "expert up projection").forward);
}

}  // namespace expert_products_spec
