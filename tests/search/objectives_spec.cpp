// SPDX-License-Identifier: Apache-2.0
// Searches that vary the cluster, the batch or the sequence.
#include <algorithm>

#include "search/objectives.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace objectives_spec {

using namespace search;
using Kind = Objective::Kind;

namespace {

// A question about eight sequences that all GPUs, one in each node, share with sharded states.
Question sharded(Kind kind) {
  Question question{.scenario = tests::small_llama()};
  auto& scenario = question.scenario;
  scenario.cluster = tests::cluster_of(8, 1, 1);
  scenario.training.global_batch = 8;
  auto& space = question.space;
  space.tensor = space.context = space.pipeline = space.micro_batch = {.listed = {1}};
  space.zero = {.listed = {3}};
  question.objective.kind = kind;
  return question;
}

// A question about long sequences over fast links, for which more GPUs are faster.
Question scaling(Kind kind) {
  auto question = sharded(kind);
  auto& scenario = question.scenario;
  scenario.training.sequence_length = 8192;
  scenario.cluster.node.nics.bandwidth = scenario.cluster.fabric.link_bandwidth = {1e12};
  return question;
}

// Leaves each GPU just the memory that one of `gpus` needs with ZeRO 3 and full recomputation.
void shrink_to(Question& question, std::int64_t gpus) {
  auto scenario = question.scenario;
  scenario.cluster.gpus = scenario.plan.data = gpus;
  scenario.plan.zero = 3;
  scenario.plan.recompute.kind = strategies::Recompute::Kind::full;
  const auto memory = forecast::simulate(scenario).memory;
  question.scenario.cluster.memory_fraction *= 1.0001 * (memory.peak / memory.capacity);
}

std::vector<std::int64_t> sizes(const Outcome& outcome) {
  std::vector<std::int64_t> all;
  for (const auto& one : outcome.tried) all.push_back(one.size);
  return all;
}

const Tried& chosen(const Outcome& outcome) {
  REQUIRE(outcome.chosen);
  return outcome.tried[*outcome.chosen];
}

}  // namespace

TEST_CASE("the shortest step is found by one search without other sizes") {
  const auto outcome = optimise(sharded(Kind::step_time));
  CHECK(outcome.tried.empty());
  CHECK(outcome.answer.plans.front().plan.data == 8);
}

TEST_CASE("the smallest cluster is found by doubling and halving") {
  auto question = sharded(Kind::smallest_cluster);
  shrink_to(question, 4);
  const auto outcome = optimise(question);
  CHECK(sizes(outcome) == std::vector<std::int64_t>{1, 2, 3, 4});  // 3 cannot share 8 sequences
  CHECK(chosen(outcome).size == 4);
  CHECK(outcome.question.scenario.cluster.gpus == 4);
  CHECK(outcome.answer.plans.front().plan.data == 4);
  CHECK((outcome.tried[1].possible && !outcome.tried[1].step));
  CHECK_FALSE(outcome.tried[2].possible);

  question.objective.nodes.least = 3;  // no size lies between 3 and 4
  CHECK(sizes(optimise(question)) == std::vector<std::int64_t>{3, 4});
  question.objective.nodes = {.most = 2};
  const auto none = optimise(question);
  CHECK_FALSE(none.chosen);
  CHECK(none.answer.plans.empty());
  CHECK(none.question.scenario.cluster.gpus == 2);
}

TEST_CASE("the smallest cluster from listed numbers of nodes is the first that is large enough") {
  auto question = sharded(Kind::smallest_cluster);
  shrink_to(question, 4);
  question.objective.nodes.listed = {1, 3, 8, 16};
  const auto outcome = optimise(question);
  CHECK(sizes(outcome) == std::vector<std::int64_t>{1, 3, 8});
  CHECK(chosen(outcome).size == 8);
}

TEST_CASE("a cluster is large enough when it reaches the rate") {
  auto question = scaling(Kind::smallest_cluster);
  question.objective.nodes.listed = {1, 2, 4, 8};
  const auto any = optimise(question);
  CHECK(chosen(any).size == 1);
  question.objective.rate = 1.2 * any.tried[0].step->tokens_per_second;
  const auto fast = optimise(question);
  CHECK(chosen(fast).size > 1);
  CHECK(chosen(fast).step->tokens_per_second >= *question.objective.rate);
  CHECK_FALSE(fast.tried[0].enough);
  question.objective.rate = 1e15;
  const auto never = optimise(question);
  CHECK_FALSE(never.chosen);
  CHECK(never.tried.size() == 4);
  const auto fastest = std::ranges::max(
      never.tried, {}, [](const Tried& one) { return one.step->tokens_per_second; });
  CHECK(never.question.scenario.cluster.gpus == fastest.size);
  CHECK_FALSE(never.answer.plans.empty());
}

// Two nodes of 1,262.304 USD that last 126,230,400 s cost 20 millionths of a dollar a second. A
// step of 1,000 s and 5,000 tokens costs 0.02 USD, 4e-6 USD a token; its 2 · 1,000 s of a GPU are
// 5/9 of an hour.
TEST_CASE("the price of a token is a share of the price of the nodes") {
  auto cluster = tests::cluster_of(2, 1, 1);
  forecast::Step step{.time = {1000}, .tokens = 5000, .useful_tokens = 5000};
  auto cost = cost_of(cluster, step);
  CHECK(cost.gpu_hours_per_token == Approx(5.0 / 9 / 5000));
  CHECK_FALSE(cost.per_token);
  cluster.node.price = {1262.304};
  CHECK(cost_of(cluster, step).per_token->value == Approx(4e-6));
  cluster.fabric.switch_price = {2 * 1262.304};  // one switch joins both nodes
  CHECK(cost_of(cluster, step).per_token->value == Approx(8e-6));
  step.useful_tokens = 2500;  // half of the tokens are padding: the others cost twice as much
  CHECK(cost_of(cluster, step).per_token->value == Approx(16e-6));
  CHECK(cost_of(cluster, step).gpu_hours_per_token == Approx(5.0 / 9 / 2500));
}

TEST_CASE("a rate is asked of the tokens that are no padding") {
  auto question = sharded(Kind::smallest_cluster);
  question.objective.nodes = {.listed = {8}};
  const auto all = chosen(optimise(question)).step->tokens_per_second;
  question.objective.rate = 0.9 * all;
  CHECK(optimise(question).chosen);
  question.scenario.training.padding = 0.5;
  CHECK_FALSE(optimise(question).chosen);
  question.objective.rate = 0.45 * all;
  CHECK(optimise(question).chosen);
}

TEST_CASE("where no batch fits, the smallest that degrees divide says what it lacks") {
  auto question = sharded(Kind::largest_batch);
  question.scenario.cluster.memory_fraction = 0.001;
  const auto outcome = optimise(question);
  CHECK_FALSE(outcome.chosen);
  CHECK(outcome.tried.front().size == 1);  // one sequence, which eight replicas do not divide
  CHECK_FALSE(outcome.tried.front().possible);
  CHECK(outcome.question.scenario.training.global_batch == 8);
  CHECK(outcome.answer.misfit);
}

TEST_CASE("the cheapest cluster is the smallest where more GPUs only add communication") {
  auto question = scaling(Kind::cost);
  const auto outcome = optimise(question);
  CHECK(sizes(outcome) == std::vector<std::int64_t>{1, 2, 4, 8});
  CHECK(chosen(outcome).size == 1);
  for (const auto& one : outcome.tried)
    CHECK(one.cost.gpu_hours_per_token >= chosen(outcome).cost.gpu_hours_per_token);
  question.objective.rate = 1.2 * outcome.tried[0].step->tokens_per_second;
  CHECK(chosen(optimise(question)).size > 1);
}

TEST_CASE("the largest batch is held at once, and twice as many sequences do not fit") {
  auto question = sharded(Kind::largest_batch);
  question.space.micro_batch = {};
  question.scenario.cluster.memory_fraction = 0.05;
  const auto outcome = optimise(question);
  const auto size = chosen(outcome).size;
  CHECK(size >= 8);
  CHECK(outcome.question.scenario.training.global_batch == size);
  CHECK(outcome.tried.back().size == 2 * size);
  CHECK_FALSE(outcome.tried.back().step);
  const auto& plan = outcome.answer.plans.front().plan;
  CHECK(plan.micro_batch * plan.data * plan.pipeline == size);
  // A search that starts far above that batch comes down to it.
  question.scenario.training.global_batch = 16 * size;
  const auto down = optimise(question);
  CHECK(chosen(down).size == size);
  CHECK(down.tried.size() == 5);
}

TEST_CASE("the largest sequence fits, and one of twice the tokens does not") {
  auto question = sharded(Kind::largest_sequence);
  question.scenario.cluster.memory_fraction = 0.05;
  const auto outcome = optimise(question);
  const auto size = chosen(outcome).size;
  CHECK(outcome.question.scenario.training.sequence_length == size);
  CHECK(outcome.tried.back().size == 2 * size);
  CHECK_FALSE(outcome.tried.back().enough);
}

TEST_CASE("a search that is stopped before its first size has no answer") {
  const std::atomic<bool> stop{true};
  const auto question = sharded(Kind::smallest_cluster);
  const auto outcome = optimise(question, {.stop = &stop});
  CHECK_FALSE(outcome.chosen);
  CHECK(outcome.answer.interrupted);
}

}  // namespace objectives_spec
