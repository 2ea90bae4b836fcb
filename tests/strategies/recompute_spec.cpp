// SPDX-License-Identifier: Apache-2.0
// The tensors that recomputation keeps, and the operators that it runs again.
#include <array>
#include <random>
#include <string_view>
#include <vector>

#include "plans/recompute.hpp"
#include "strategies/compression.hpp"
#include "tests/catch.hpp"
#include "tests/model/small_models.hpp"
#include "tests/strategies/small_world.hpp"

namespace recompute_spec {

using namespace strategies;

namespace {

// A world in which a product takes as many ticks as it has flops, collectives a thousand, and
// everything else one for each byte.
struct World : tests::World {
  World() { model = small_models::llama(); }
  PassWriter writer(const Block& block) const {
    const auto ticks = [](const units::Kernel& kernel) {
      return kernel.flops.value > 0 ? kernel.flops.value : kernel.traffic.value;
    };
    return {share(), tests::costs_of(ticks, 1000), {{block}}};
  }
  BlockCost cost(const Block& block) const { return writer(block).cost(block); }
  sim::Spent backward(const Block& block) const {
    return spent_alone(writer(block).backward({block}, Pass::backward));
  }
};

Block dropping(Drop drop, bool experts = false) {
  return {.kind = Block::Kind::layer, .experts = experts, .drop = drop};
}

Drop of(const std::vector<Module>& modules) { return {Drop::modules, ModuleSet::of(modules)}; }

constexpr std::array every{Module::core_attn,     Module::layernorm, Module::moe_act,
                           Module::mla_up_proj,   Module::mlp,       Module::moe,
                           Module::shared_experts};

std::vector<std::string_view> names(const model::Operators& ops, const Replay& replay) {
  std::vector<std::string_view> list;
  for (const auto& run : replay.runs) list.push_back(ops[run.op].name);
  return list;
}

}  // namespace

// The layer has 32 tokens, hidden 64, 4 heads of 16 with 2 for keys and values, ffn 192, and 2
// bytes a value. Its products in order are q 64, k 32, v 32, output 64, gate 192, up 192 and down
// 64; q, v, gate and down are kept.
TEST_CASE("per-op recomputation keeps every second product of a Llama layer and attention") {
  World world;
  world.model.kv_heads = 2;
  const auto block = dropping({Drop::per_op});
  const std::int64_t input = 32 * 64 * 2, sums = 4 * 4 * 32, heads = 32 * 64 * 2;
  const std::int64_t q = 32 * 64 * 2, v = 32 * 32 * 2, gate = 32 * 192 * 2, down = 32 * 64 * 2;
  CHECK(world.cost(block).kept == input + sums + heads + q + v + gate + down);
  // Norms, rotation and activation run again, and the products k, output projection and up.
  double streams = 0;
  for (const auto& op :
       model::layer(world.model, model::whole(world.model, 1, 32), {}, units::Precision::bf16))
    if (op.name != "MLP residual")
      for (const auto& kernel : op.forward)
        if (kernel.kind == units::Kernel::Kind::stream) streams += kernel.traffic.value;
  CHECK(static_cast<double>(world.backward(block).on[recompute_compute]) ==
        Approx(2.0 * 32 * 64 * (32 + 64 + 192) + streams));

  world.software.compile = true;  // nothing reads the output of the down projection
  CHECK(world.cost(block).kept == input + sums + heads + q + v + gate);

  // Two tensor-parallel ranks have half of the rows at norms and sums each.
  world.plan = {.tensor = 2, .sequence_parallel = true};
  CHECK(world.cost(block).kept ==
        input / 2 + (sums + heads + q + v + gate) / 2 + /* of the output projection */ input / 2);
  world.software.compile = false;
  CHECK(world.cost(block).kept == input / 2 + (sums + heads + q + v + gate) / 2 + down + input);
  CHECK(world.backward(block).on[recompute_tensor_comm] == 2 * 1000);  // gathers, no scatter
}

TEST_CASE("the outputs of a module are dropped, and its operators run again, no more and no less") {
  const auto seed = GENERATE(range(0u, 60u));
  std::mt19937 random(seed);
  World world;
  world.model = small_models::random_model(random);
  INFO("seed " << seed);
  const bool experts = world.model.moe.has_value();
  const auto ops =
      model::layer(world.model, model::whole(world.model, 1, 32), {}, units::Precision::bf16, 0,
                   experts ? model::Mlp::experts : model::Mlp::dense);
  const auto none = world.cost(dropping({}, experts));
  for (const auto module : every) {
    const auto block = dropping(of({module}), experts);
    const auto cost = world.cost(block);
    std::int64_t dropped = 0, again = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      for (const auto& tensor : ops[i].kept)
        if (model::includes(module, tensor.module))
          dropped += static_cast<std::int64_t>(tensor.size.value);
      if (model::includes(module, ops[i].module))
        for (auto ticks : none.operators[i].forward) again += ticks;
    }
    CHECK(cost.recomputed == dropped);
    CHECK(cost.kept == none.kept - dropped);
    CHECK(world.backward(block).on[recompute_compute] == again);
  }
}

TEST_CASE("every form keeps no more than nothing dropped and no less than all dropped") {
  const auto seed = GENERATE(range(0u, 60u));
  std::mt19937 random(seed + 100);
  World world;
  world.model = small_models::random_model(random);
  world.software.compile = true;
  INFO("seed " << seed);
  const bool experts = world.model.moe.has_value();
  const auto none = dropping({}, experts), full = dropping({Drop::everything}, experts);
  const auto most = world.cost(none).kept, least = world.cost(full).kept;
  const auto quickest = world.backward(none).total(), slowest = world.backward(full).total();
  std::vector<Drop> forms{{Drop::per_op}, of({every.begin(), every.end()})};
  for (const auto module : every) forms.push_back(of({module}));
  for (const auto& form : forms) {
    const auto block = dropping(form, experts);
    CHECK(world.cost(block).kept <= most);
    CHECK(world.cost(block).kept >= least);
    CHECK(world.backward(block).total() >= quickest);
    CHECK(world.backward(block).total() <= slowest);
  }
}

TEST_CASE("outputs are made again just before they are needed, blocks before their gradients") {
  auto model = small_models::mixture(4, 2, 32);
  small_models::make_latent(model, 0);
  const auto ops = model::layer(model, model::whole(model, 1, 32), {}, units::Precision::bf16, 0,
                                model::Mlp::experts);
  const auto before = [&](Module module) {
    std::vector<std::string_view> where;
    for (const auto& replay : replays_of(ops, of({module}), {}))
      where.push_back(ops[replay.before].name);
    return where;
  };
  using Names = std::vector<std::string_view>;
  CHECK(before(Module::core_attn) == Names{"attention"});
  CHECK(before(Module::layernorm) == Names{"expert down projection", "output projection"});
  CHECK(before(Module::moe_act) == Names{"expert down projection"});
  CHECK(before(Module::mla_up_proj) == Names{"attention"});
  CHECK(before(Module::moe) == Names{"unpermute"});
  CHECK(before(Module::mlp).empty());
  const auto up = replays_of(ops, of({Module::mla_up_proj}), {});
  CHECK(names(ops, up.front()) == Names{"compressed key and value norm", "query projection",
                                        "key and value up projection", "rotary embedding"});
  // A module inside of another one runs once.
  CHECK(replays_of(ops, of({Module::moe, Module::moe_act}), {}).size() == 1);
}

TEST_CASE("each virtual stage may have a choice of its own, its layers counted from its first") {
  Plan plan{.pipeline = 2, .schedule = ScheduleKind::interleaved, .virtual_stages = 2};
  plan.recompute_of_stage = {{Recompute::Kind::full},
                             {Recompute::Kind::none},
                             {Recompute::Kind::full_layers, 1},
                             {Recompute::Kind::modules, 0, {Module::mlp}}};
  auto model = small_models::llama();
  model.layers = 8;
  const auto blocks = blocks_of(model, {}, plan);
  const auto drops = [&](std::size_t v) {
    std::vector<Drop> list;
    for (const auto& block : blocks[v])
      if (block.kind == Block::Kind::layer) list.push_back(block.drop);
    return list;
  };
  const Drop nothing{}, everything{Drop::everything};
  CHECK(drops(0) == std::vector{everything, everything});
  CHECK(drops(1) == std::vector{nothing, nothing});
  CHECK(drops(2) == std::vector{everything, nothing});
  CHECK(drops(3) == std::vector{of({Module::mlp}), of({Module::mlp})});
  plan.recompute_of_stage.pop_back();
  CHECK_THROWS_WITH(blocks_of(model, {}, plan), "recompute needs one entry per virtual stage");
}

TEST_CASE("a layer's own choice goes before that of its stage") {
  Plan plan{.pipeline = 2, .recompute = {Recompute::Kind::full}};
  plan.layers = {{1, 2, Recompute{}},
                 {5, 5, Recompute{Recompute::Kind::modules, 0, {Module::mlp}}}};
  auto model = small_models::llama();
  model.layers = 6;
  const auto blocks = blocks_of(model, {}, plan);
  std::vector<Drop> drops;
  for (const auto& stage : blocks)
    for (const auto& block : stage)
      if (block.kind == Block::Kind::layer) drops.push_back(block.drop);
  const Drop nothing{}, everything{Drop::everything};
  CHECK(drops ==
        std::vector{everything, nothing, nothing, everything, everything, of({Module::mlp})});
}

// The inputs of the four projections have 64 + 64 + 64 + 192 values a token, the input of the
// activation 2 · 192, of 2 bytes each.
TEST_CASE("compressed, inputs take a byte and 1/32, read and written once more") {
  World world;
  const Block block = dropping({});
  const auto plain = world.cost(block);
  const auto forward = spent_alone(world.writer(block).forward({block})).total();
  const auto backward = world.backward(block).total();
  world.plan.activation_compression = ActivationCompression::fp8;
  const double values = 32.0 * (64 + 64 + 64 + 192 + 2 * 192),
               moved = values * (2 + stored_value_bytes);
  CHECK(static_cast<double>(plain.kept - world.cost(block).kept) ==
        values * (2 - stored_value_bytes));
  CHECK(static_cast<double>(spent_alone(world.writer(block).forward({block})).total() - forward) ==
        moved);
  CHECK(static_cast<double>(world.backward(block).total() - backward) == moved);
  CHECK(world.cost(dropping({Drop::everything})).kept == 32 * 64 * 2);  // nothing to compress
}

// The output of flash attention has 64 values a token, the input of the activation 2 · 192.
TEST_CASE("in 8 bit, only tensors that no product reads are left to compress") {
  World world;
  world.training.precision = units::Precision::fp8;
  world.software.kernels.attention = model::AttentionKernel::flash;
  const auto plain = world.cost(dropping({})).kept;
  world.plan.activation_compression = ActivationCompression::fp8;
  CHECK(static_cast<double>(plain - world.cost(dropping({})).kept) ==
        32 * (64 + 2 * 192) * (2 - stored_value_bytes));
}

TEST_CASE("a compiler does not fuse the search for the largest value with the cast that needs it") {
  World world;
  world.training.precision = units::Precision::fp8;
  world.software.compile = GENERATE(false, true);
  const auto ticks = [&](Fp8Recipe recipe) {
    world.training.fp8_recipe = recipe;
    return spent_alone(world.writer(dropping({})).forward({dropping({})})).total();
  };
  // The inputs of the four linear layers are read once more.
  CHECK(ticks(Fp8Recipe::tensorwise) - ticks(Fp8Recipe::delayed) == 2 * 32 * (64 + 64 + 64 + 192));
}

}  // namespace recompute_spec
