// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <set>

#include "tests/catch.hpp"
#include "tests/search/checkpointing.hpp"
#include "tests/search/oracle.hpp"

namespace checkpointing_spec {

using namespace search;

namespace {

StageChain chain_of(const std::string& text) {
  const auto parts = oracle::split(text, ';');
  StageChain chain{oracle::numbers(parts[0]), oracle::numbers(parts[1]), oracle::numbers(parts[2]),
                   oracle::numbers(parts[3]), oracle::numbers(parts[4]), oracle::numbers(parts[5])};
  // The file lists each saved set with the stage that made x_i, from x_0 on; the loss saves
  // nothing.
  chain.saved.erase(chain.saved.begin());
  chain.saved.push_back(0);
  return chain;
}

// Plays operations one by one: an operation's operands must be there, and everything must fit at
// every moment. Sums the time and keeps the most memory.
struct Player {
  const StageChain& chain;
  std::set<int> inputs{0}, saved{};
  int gradient = chain.stages();
  Picoseconds time = 0;
  ByteCount most = 0;

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  ByteCount input(int i) const { return i < chain.stages() ? chain.input[at(i)] : 0; }
  bool loss(int i) const { return i == chain.stages() - 1; }
  void hold(ByteCount beside) {
    auto bytes = input(gradient) + beside;
    for (const auto i : inputs) bytes += input(i);
    for (const auto i : saved) bytes += chain.saved[at(i)];
    most = std::max(most, bytes);
  }
  bool has(int i) const { return inputs.contains(i) || saved.contains(i - 1); }
  void forward(int i, ByteCount made) {
    REQUIRE(has(i));
    hold(made + (loss(i) ? 0 : chain.forward_transient[at(i)]));
    time += loss(i) ? 0 : chain.forward[at(i)];
  }
  void play(const ChainOperation& op) {
    const int i = op.stage;
    switch (op.kind) {
      case ChainOperation::Kind::forward_save:
        forward(i, chain.saved[at(i)]);
        saved.insert(i);
        break;
      case ChainOperation::Kind::forward_keep:
        forward(i, input(i + 1));
        inputs.insert(i + 1);
        break;
      case ChainOperation::Kind::backward:
        REQUIRE((gradient == i + 1 && has(i) && saved.contains(i)));
        hold(input(i) + chain.backward_transient[at(i)]);
        time += chain.backward[at(i)];
        saved.erase(i);
        inputs.erase(i);
        gradient = i;
        break;
      case ChainOperation::Kind::drop_input:
        REQUIRE(inputs.erase(i) == 1);
        break;
      case ChainOperation::Kind::drop_saved:
        REQUIRE(saved.erase(i) == 1);
        break;
    }
  }
};

void check_claims(const StageChain& chain, ByteCount limit, const ChainPlan& plan) {
  Player player{chain};
  for (const auto& operation : plan.operations) player.play(operation);
  CHECK(player.gradient == 0);
  CHECK(player.time == plan.time);
  CHECK(player.most <= limit);
}

}  // namespace

TEST_CASE("checkpoints of chains equal the known optima, persistent and unrestricted") {
  StageChain chain;
  int rows = 0, exact = 0;
  for (const auto& cells : oracle::rows_of("checkpoint_chain.csv")) {
    if (cells[0] == "chain") {
      chain = chain_of(cells[2]);
      continue;
    }
    INFO("row " << rows);
    const auto limit = std::stoll(cells[0]);
    const auto persistent = persistent_plan(chain, limit);
    const auto known = oracle::optimum(cells[1]);
    REQUIRE(persistent.has_value() == known.has_value());
    if (known) CHECK(persistent->time == *known);
    if (known) check_claims(chain, limit, *persistent);
    ++rows;
    if (cells[2] == "?") continue;
    const auto best = oracle::optimum(cells[2]);
    const auto plan = checkpoint_plan(chain, limit);
    REQUIRE(plan.has_value() == best.has_value());
    ++exact;
    if (!best) continue;
    CHECK(plan->exact);
    CHECK(plan->plan.time == *best);
    check_claims(chain, limit, plan->plan);
  }
  CHECK(rows == 454);
  CHECK(exact == 310);
}

TEST_CASE("more memory never makes a chain slower, and persistence never makes it faster") {
  std::mt19937 random(21);
  const auto draw = [&](int most) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(most + 1));
  };
  for (int trial = 0; trial < 60; ++trial) {
    StageChain chain;
    for (int i = 0, count = 1 + trial % 6; i < count; ++i) {
      if (i + 1 < count) chain.forward.push_back(draw(9));
      if (i + 1 < count) chain.forward_transient.push_back(draw(2));
      chain.backward.push_back(draw(9));
      chain.backward_transient.push_back(draw(2));
      chain.input.push_back(1 + draw(4));
      chain.saved.push_back(4 + draw(6));
    }
    constexpr std::int64_t gib = std::int64_t{1} << 30, second = 1'000'000'000'000;
    auto large = chain;
    for (auto* list : {&large.forward, &large.backward})
      for (auto& value : *list) value *= second;
    for (auto* list :
         {&large.input, &large.saved, &large.forward_transient, &large.backward_transient})
      for (auto& value : *list) value *= gib;
    std::optional<Picoseconds> before;
    for (ByteCount limit = 8; limit < 60; limit += 3) {
      const auto plan = checkpoint_plan(chain, limit);
      const auto persistent = persistent_plan(chain, limit);
      CHECK((!persistent || plan->plan.time <= persistent->time));
      CHECK((!before || plan->plan.time <= *before));
      if (!plan) continue;
      before = plan->plan.time;
      check_claims(chain, limit, plan->plan);
      // Gibibytes and seconds change the scale alone, and one byte below a gibibyte does not help.
      const auto scaled = checkpoint_plan(large, limit * gib + gib - 1);
      CHECK(scaled->plan.time == plan->plan.time * second);
    }
  }
}

TEST_CASE("a chain that can keep every input runs no stage forward more than twice") {
  // Ten stages of 1 forward and 2 backward; an input takes 1, a saved set 4. Beside all ten inputs
  // 16 bytes hold one saved set, the gradient that comes in and the one that goes out: 10 + 4 + 1 +
  // 1.
  const StageChain chain{std::vector<Picoseconds>(9, 1), std::vector<Picoseconds>(10, 2),
                         std::vector<ByteCount>(10, 1),  std::vector<ByteCount>(10, 4),
                         std::vector<ByteCount>(9, 0),   std::vector<ByteCount>(10, 0)};
  CHECK(persistent_plan(chain, 1000)->time == 9 + 20);
  const auto tight = persistent_plan(chain, 16);
  REQUIRE(tight);
  check_claims(chain, 16, *tight);
  CHECK(tight->time <= 9 + 20 + 9);
  CHECK(tight->time > 9 + 20);
}

}  // namespace checkpointing_spec
