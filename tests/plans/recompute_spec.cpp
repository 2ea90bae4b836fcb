// SPDX-License-Identifier: Apache-2.0
// The operators that run again, and the gradients before which they do.
#include "plans/recompute.hpp"
#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"

namespace recompute_spec {

using namespace strategies;

TEST_CASE("an unfused attention core runs again before the gradients of its last operator") {
  const auto t = small_models::llama();
  const auto layer =
      model::layer(t, model::whole(t, 1, 8), small_models::unfused, small_models::bf16);
  const std::vector<model::Module> core{model::Module::core_attn};
  const auto replays = replays_of(layer, {.kind = Drop::modules, .of = ModuleSet::of(core)}, {});
  REQUIRE(replays.size() == 1);
  CHECK(layer[replays[0].before].name == "sum over values");
  CHECK(replays[0].runs.size() == 4);
}

}  // namespace recompute_spec
