// SPDX-License-Identifier: Apache-2.0
// Costs that are computed once and remembered.
#include <vector>

#include "strategies/remembering.hpp"
#include "tests/catch.hpp"

namespace remembering_spec {

using units::Kernel;

TEST_CASE("a kernel is priced once, and one that differs in anything that has a price anew") {
  const Kernel product{.kind = Kernel::Kind::product, .batch = 4, .m = 64, .n = 32, .k = 16};
  std::vector<Kernel> kernels(13, product);
  kernels[1].kind = Kernel::Kind::stream;
  kernels[2].precision = units::Precision::fp8;
  kernels[3].layout = Kernel::Layout::weight_gradient;
  kernels[4].causal = true;
  kernels[5].fused = units::FusedAttention::cudnn;
  kernels[6].batch = 5;
  kernels[7].m = 65;
  kernels[8].flops = {1};
  kernels[9].traffic = {1};
  kernels[10].grouped = true;
  kernels[11].launches = 4;
  kernels[12].reduces = true;
  std::size_t asked = 0;
  const strategies::Costs costs{.kernel = [&](const Kernel&, const strategies::Gpu&) {
    return units::Seconds{static_cast<double>(++asked)};
  }};
  const auto remembered = strategies::remembering(costs);
  for (int again = 0; again < 2; ++again)
    for (std::size_t i = 0; i < kernels.size(); ++i)
      CHECK(remembered.kernel(kernels[i], {}).value == static_cast<double>(i + 1));
  CHECK(asked == kernels.size());
}

}  // namespace remembering_spec
