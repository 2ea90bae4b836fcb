// SPDX-License-Identifier: Apache-2.0
// Bytes that move in the memory of devices and hosts beside the passes, for each parameter.
#include <optional>
#include <string>
#include <vector>

#include "plans/memory.hpp"
#include "tests/catch.hpp"

namespace traffic_spec {

using namespace strategies;
using enum units::Precision;

// A sign is an eighth of a byte; the error that it leaves has four.
TEST_CASE("gradients travel as signs or in 8 bit, for the traffic of packing them") {
  struct Case {
    std::string name;
    GradientCompression compression;
    Optimizer optimizer;
    std::optional<double> packed;
    double packing, unpacking;  // of gradients of four bytes
  };
  const std::vector<Case> cases{
      {"whole", GradientCompression::none, Optimizer::adamw, {}, 0, 0},
      {"signs", GradientCompression::onebit, Optimizer::adamw, 1.0 / 8, 1.0 / 8 + 4 + 2 * 4,
       1.0 / 8 + 4},
      {"signs of momentum", GradientCompression::none, Optimizer::onebit_adam, 1.0 / 8,
       1.0 / 8 + 4 + 2 * 4, 1.0 / 8 + 4},
      {"8 bit, read twice", GradientCompression::fp8, Optimizer::adamw, 1, 1 + 2 * 4, 1 + 4}};
  for (const auto& [name, compression, optimizer, packed, packing, unpacking] : cases) {
    Plan plan{.data = 2};
    plan.gradient_compression = compression;
    const Training training{.optimizer = optimizer};
    INFO(name);
    CHECK(packed_bytes(plan, training) == packed);
    CHECK(sends_signs(plan, training) == (packed == 1.0 / 8));
    CHECK(packing_traffic(plan, training, 4) == packing);
    CHECK(unpacking_traffic(plan, training, 4) == unpacking);
  }
}

TEST_CASE("FSDP 2 copies parameters out of what it gathered, and gradients into what it reduces") {
  const Software copies{.copies_parameters = true, .copies_gradients = true}, none;
  const Training one{.global_batch = 2};
  for (int zero = 0; zero <= 3; ++zero) {
    const Plan plan{.data = 2, .zero = zero};
    INFO("zero " << zero);
    CHECK(copied_parameter_traffic(plan, copies, 2) == (zero == 3 ? 2 + 2 : 0));  // read, written
    CHECK(copied_gradient_traffic(plan, one, copies, 4) == (zero == 3 ? 2 + 4 : 0));  // bf16, fp32
    CHECK(copied_parameter_traffic(plan, none, 2) == 0);
    CHECK(copied_gradient_traffic(plan, one, none, 4) == 0);
  }
  Plan plan{.data = 2, .zero = 3};
  CHECK(copied_gradient_traffic(plan, {.global_batch = 2, .precision = fp32}, copies, 4) == 4 + 4);
  plan.gradient_sync = GradientSync::step;  // four microbatches are summed in fp32 first
  CHECK(copied_gradient_traffic(plan, {.global_batch = 8}, copies, 4) == 4 + 4);
  plan.gradient_compression = GradientCompression::fp8;  // which is packed instead
  CHECK(copied_gradient_traffic(plan, one, copies, 4) == 0);
}

// Adam reads and writes master copy and two moments of 4 bytes, writes weights of 2, and reads
// gradients of 4 twice.
TEST_CASE("an update moves what its optimizer keeps, and LAMB's and Adafactor's once more") {
  struct Case {
    Optimizer optimizer;
    double traffic, on_host, states;
  };
  for (const auto& [optimizer, traffic, on_host, states] :
       {Case{Optimizer::adamw, 34, 28, 12}, Case{Optimizer::adam, 34, 28, 12},
        Case{Optimizer::sophia, 34, 28, 12},
        Case{Optimizer::sgd, 34 - 2 * 4, 28 - 2 * 4, 8},             // one moment
        Case{Optimizer::muon, 34 - 2 * 4, 28 - 2 * 4, 8},            // likewise
        Case{Optimizer::adafactor, 34 - 2 * 8 + 12, 28 - 2 * 8, 4},  // none, but the update's norm
        Case{Optimizer::lamb, 34 + 12, 28, 12},
        Case{Optimizer::onebit_adam, 34 - 4, 28, 12}}) {  // a variance that stays as it is
    const Training training{.optimizer = optimizer};
    INFO(static_cast<int>(optimizer));
    CHECK(optimizer_traffic({}, training, {}) == traffic);
    CHECK(host_traffic({}, training, {}) == on_host);
    CHECK(state_bytes({}, training, {}) == states);
  }
}

TEST_CASE("in 32 bit an update writes no second copy, and no state is a second one") {
  for (const auto precision : {fp32, tf32}) {
    const Training training{.precision = precision};
    CHECK(optimizer_traffic({}, training, {}) == 34 - 2);
    CHECK(state_bytes({}, training, {}) == 8);
  }
}

TEST_CASE("an update reads wider gradients as often as the software passes over them") {
  const auto traffic = [](double own, std::optional<units::Precision> asked) {
    const Software software{
        .gradient_precision = bf16, .gradient_bytes = 2, .optimizer_traffic = own};
    Plan plan;
    plan.gradient_precision = asked;
    return optimizer_traffic(plan, {}, software);
  };
  // 26 bytes are states and weights; each further 4 are a pass over gradients.
  CHECK(traffic(30, {}) == 30);
  CHECK(traffic(30, bf16) == 30);
  CHECK(traffic(30, fp32) == 30 + 2);
  CHECK(traffic(34, fp32) == 34 + 2 * 2);
  CHECK(traffic(26, fp32) == 26);
  CHECK(traffic(4, {}) == 12);  // no update moves less than weights and gradients
}

// The software reduces gradients of one width and keeps them in another.
TEST_CASE("a plan's precision makes kept gradients wider or narrower than the software's") {
  struct Case {
    units::Precision own;
    double kept;
    std::optional<units::Precision> asked;
    double bytes;
  };
  for (const auto& [own, kept, asked, bytes] :
       {Case{fp32, 4, {}, 4}, Case{fp32, 4, bf16, 2}, Case{fp32, 6, bf16, 4},  // a copy stays
        Case{bf16, 2, fp32, 4}, Case{bf16, 4, fp32, 6}, Case{bf16, 2, bf16, 2},
        Case{fp32, 2, bf16, 2}}) {  // no less than what is reduced
    const Software software{.gradient_precision = own, .gradient_bytes = kept};
    Plan plan;
    plan.gradient_precision = asked;
    INFO(kept << " kept");
    CHECK(kept_gradient_bytes(plan, {}, software) == bytes);
  }
  CHECK(kept_gradient_bytes({}, {.precision = fp32}, {.gradient_bytes = 2}) == 4);
}

}  // namespace traffic_spec
