// SPDX-License-Identifier: Apache-2.0
// Bounds where experts of several nodes exchange over links that messages and gradients use too.
#include "search/evaluator.hpp"
#include "search/solvers/enumeration.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/search/bounded_plans.hpp"

namespace contention_bound_spec {

using namespace bounded_plans;

namespace {

template <class... Choices>
auto pick(std::mt19937& random, Choices... choices) {
  const auto list = {choices...};
  return *(list.begin() + static_cast<std::ptrdiff_t>(random() % sizeof...(choices)));
}

// A scenario of experts on several nodes with a NIC for each GPU, of 1F1B pipelines, its states
// divided or not.
forecast::Scenario crowded_scenario(std::mt19937& random) {
  std::mt19937 always(1);
  auto s = tests::random_scenario(always);
  s.model = {.name = "experts",
             .layers = pick(random, 4, 6, 9),
             .hidden = pick(random, 1024, 2048, 4096),
             .heads = 8,
             .kv_heads = 8,
             .head_dim = 64,
             .ffn = 1024,
             .vocab = pick(random, 1000, 50257),
             .max_sequence = 4096};
  s.model.activation = model::Activation::swiglu;
  s.model.norm = model::Norm::rmsnorm;
  s.model.tied_embeddings = pick(random, false, true);
  s.model.multi_token_prediction = pick(random, 0, 0, 1);
  s.model.moe = model::Moe{.experts = 32,
                           .top_k = pick(random, 1, 2, 4),
                           .expert_ffn = pick(random, 64, 256, 1024),
                           .first_dense_layers = pick(random, 0, 1, 3),
                           .every = pick(random, 1, 1, 2)};
  s.plan = {.pipeline = pick(random, 2, 3, 4),
            .data = pick(random, 8, 16),
            .expert = pick(random, 4, 8),
            .expert_tensor = 1,
            .schedule = strategies::ScheduleKind::one_f_one_b,
            .zero = pick(random, 0, 1)};
  s.plan.overlap.data = s.plan.overlap.pipeline = true;
  s.plan.overlap.parameters = pick(random, false, true);
  s.plan.bucket = units::Bytes{pick(random, 1e5, 1e6)};
  s.training.sequence_length = pick(random, 512, 2048, 4096);
  s.training.global_batch = s.plan.data * pick(random, 4, 7, 12, 20);
  s.software = {.name = "software"};
  s.software.pipeline_sync = pick(random, false, true);
  s.software.interference = pick(random, 0.0, 0.2);
  s.software.moe_dispatcher =
      pick(random, strategies::MoeDispatcher::all_to_all, strategies::MoeDispatcher::deepep);
  s.software.launch_forward = s.software.launch_backward = {0.0};
  const int per_node = pick(random, 2, 4);
  s.cluster = tests::cluster_of(tests::gpus_of(s.plan), per_node, per_node);
  const double rate = pick(random, 4.0, 1.0, 0.3);
  s.cluster.fabric.link_bandwidth = rate * s.cluster.fabric.link_bandwidth;
  s.cluster.node.nics.bandwidth = rate * s.cluster.node.nics.bandwidth;
  return s;
}

bool contends(const PipelineProblem& problem) { return problem.lane.message_contends; }

}  // namespace

TEST_CASE("no plan is faster than its passes and the time that sharing of links adds to them") {
  std::vector<double> ratios;
  int contended = 0;
  for (unsigned seed = 0; seed < 300 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 12000);
    const BoundedPlan bounded(crowded_scenario(random));
    const auto problem = bounded.problem();
    const auto partition = random_partition(bounded, problem, random);
    auto s = bounded.scenario();
    s.plan = plan_with(bounded.bounds(), partition, true);
    const auto step = ticks(forecast::simulate(s).step.time);
    CHECK(partition.makespan <= step);
    contended += contends(problem) ? 1 : 0;
    ratios.push_back(static_cast<double>(partition.makespan) / static_cast<double>(step));
  }
  if (tests::fewer == 1) CHECK(contended > 150);
  std::ranges::sort(ratios);
  CHECK(ratios[ratios.size() / 2] > 0.96);
}

TEST_CASE("messages and reductions beside nothing are not counted twice") {
  for (unsigned seed = 0; seed < 200 / tests::fewer; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 13000);
    auto drawn = crowded_scenario(random);
    drawn.plan.overlap.data = drawn.plan.overlap.pipeline = false;
    const BoundedPlan bounded(std::move(drawn));
    const auto partition = random_partition(bounded, bounded.problem(), random);
    auto s = bounded.scenario();
    s.plan = plan_with(bounded.bounds(), partition, true);
    CHECK(partition.makespan <= ticks(forecast::simulate(s).step.time));
  }
}

// Stages of one GPU: the copies of the embedding are summed over one link, after all other sums.
TEST_CASE("a tied embedding's gradients are summed after all others") {
  std::mt19937 random(7);
  auto s = crowded_scenario(random);
  s.model.moe.reset();
  s.model.multi_token_prediction = 0;
  s.plan.expert = 1;
  s.plan.expert_tensor.reset();
  s.plan.zero = 0;
  const auto bound = [&](bool tied) {
    s.model.tied_embeddings = tied;
    const BoundedPlan bounded(s);
    std::mt19937 same(1);
    return random_partition(bounded, bounded.problem(), same).makespan;
  };
  s.model.tied_embeddings = true;
  const BoundedPlan bounded(s);
  CHECK(bounded.replicas().embedding() > 0);
  CHECK(bound(true) >= bound(false) + bounded.replicas().embedding());
}

// The tensors that the last layer recomputes are there beside all that its stage keeps.
TEST_CASE("a stage of 1F1B needs the memory of its last layer's backward pass") {
  int exact = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed + 14000);
    auto drawn = crowded_scenario(random);
    drawn.model.moe.reset();
    drawn.plan.expert = 1;
    drawn.plan.expert_tensor.reset();
    drawn.plan.zero = 1;
    const BoundedPlan bounded(std::move(drawn));
    const auto problem = bounded.problem();
    const auto partition = random_partition(bounded, problem, random);
    Question question;
    question.scenario = bounded.scenario();
    question.scenario.plan = plan_with(bounded.bounds(), partition, true);
    const auto needed = missing(question, forecast::simulate(question.scenario));
    const auto model = excess(problem, partition);
    CHECK(model <= needed + 1024);
    exact += needed - model < 1024 ? 1 : 0;
  }
  CHECK(exact > 60);
}

}  // namespace contention_bound_spec
