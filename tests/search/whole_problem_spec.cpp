// SPDX-License-Identifier: Apache-2.0
// A search against the simulation of all plans that it chooses from. These tests fail if the memory
// of a device is off by one byte.
#include <limits>
#include <utility>

#include "search/cuts.hpp"
#include "search/evaluator.hpp"
#include "search/least_time.hpp"
#include "strategies/checkpoints.hpp"
#include "tests/catch.hpp"
#include "tests/search/whole_problem.hpp"

namespace whole_problem_spec {

using namespace search;
using whole::degrees_of, whole::name_of;

namespace {

// The answer with all plans found, not only the best.
Answer searched(const Question& question, ForEach for_each = {}) {
  return search::search(question, {.top = 100'000, .for_each = std::move(for_each)});
}

std::optional<Picoseconds> best_of(const Answer& answer) {
  if (answer.plans.empty()) return std::nullopt;
  return ticks(answer.plans.front().forecast.step.time);
}

double quantile(std::vector<double> values, double share) {
  REQUIRE(!values.empty());
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}

// The least bound of all choices of degrees, without simulation.
Picoseconds least_bound(const Question& question) {
  auto least = whole::unreachable;
  whole::for_each_look(question, [&](const auto&, const auto&, const Look& look) {
    if (look.fits) least = std::min(least, look.bound);
  });
  return least;
}

// Whether the best plan of `a` is no slower than that of `b`; an answer without plans is the worst.
bool no_worse(const Answer& a, const Answer& b) {
  return b.plans.empty() || (!a.plans.empty() && *best_of(a) <= *best_of(b));
}

}  // namespace

TEST_CASE("a search finds the best plan that simulation of the entire space finds", "[exact]") {
  int of_experts = 0, of_contexts = 0;  // best plans that divide experts or contexts
  for (unsigned seed = 0; seed < 320 / whole::fewer; ++seed) {
    const auto question = whole::draw_question(seed, 40);
    const auto truth = whole::truth_of(question);
    const auto answer = searched(question);
    CAPTURE(seed, truth.simulations);
    CHECK(answer.plans.empty() == !truth.best);
    CHECK(answer.space.enumerated == static_cast<std::int64_t>(truth.degrees.size()));
    if (!truth.best || answer.plans.empty()) continue;
    const auto& found = answer.plans.front();
    CAPTURE(name_of(found.plan), name_of(truth.best->plan));
    CHECK(ticks(found.forecast.step.time) == truth.best->time);
    CHECK(answer.lower_bound.value == Approx(static_cast<double>(truth.best->time) * 1e-12));
    CHECK(answer.gap == 0);
    CHECK(answer.optimal);
    of_experts += found.plan.expert > 1;
    of_contexts += found.plan.context > 1;
  }
  INFO(of_experts << " with experts divided, " << of_contexts << " with sequences divided");
  if (whole::usual_problems()) CHECK(of_experts > 8);
  if (whole::usual_problems()) CHECK(of_contexts > 8);
}

TEST_CASE("where layers are recomputed in rows, the plan found and its proof are exact too",
          "[rows]") {
  int found = 0;
  for (unsigned seed = 0; seed < 60 / whole::fewer; ++seed) {
    auto question = whole::draw_question(seed, 40);
    question.space.recompute = false;
    question.space.further_ways.clear();
    question.space.recompute_ways.clear();
    auto& plan = question.scenario.plan;
    plan.offload.activations = false;
    plan.recompute = {strategies::Recompute::Kind::full, 0, {}, {2}};
    if (seed % 2 == 0) plan.recompute.every = {4, 2};
    const auto truth = whole::truth_of(question);
    const auto answer = searched(question);
    CAPTURE(seed);
    CHECK(answer.plans.empty() == !truth.best);
    if (!truth.best || answer.plans.empty()) continue;
    CHECK(ticks(answer.plans.front().forecast.step.time) == truth.best->time);
    CHECK(answer.optimal);
    ++found;
  }
  if (whole::usual_problems()) CHECK(found > 20);
}

TEST_CASE("bounds hold where stages or replicas are neighbours, and groups spread over nodes",
          "[bounds]") {
  using strategies::Degree;
  int checked = 0;
  for (unsigned seed = 0; seed < 320 / whole::fewer; ++seed) {
    auto question = whole::draw_question(seed + 600000, 40);
    auto& cluster = question.scenario.cluster;
    if (!question.scenario.model.moe || cluster.nodes() == 1) continue;
    auto& order = question.scenario.plan.rank_order;
    if (seed % 2 == 0)
      order = {Degree::tensor, Degree::pipeline, Degree::context, Degree::expert, Degree::data};
    else
      order = {Degree::data, Degree::tensor, Degree::context, Degree::expert, Degree::pipeline};
    // Neighbours on a pipeline or among replicas have a NIC for each GPU, and NVLink is slower.
    cluster.node.nics.count = cluster.node.gpus;
    cluster.node.nvlink.bandwidth = 0.2 * cluster.node.nics.bandwidth;
    const auto truth = whole::truth_of(question);
    CAPTURE(seed);
    auto of = truth.degrees.begin();
    whole::for_each_look(question, [&](const auto& plan, const auto&, const Look& look) {
      CAPTURE(name_of(plan));
      if (of->best) CHECK(look.bound <= of->best->time);
      ++of, ++checked;
    });
  }
  if (whole::usual_problems()) CHECK(checked > 100);
}

TEST_CASE("where some layers of a stage may be recomputed in rows, the plan found is exact too",
          "[rows]") {
  int in_rows = 0;
  for (unsigned seed = 0; seed < 160 / whole::fewer; ++seed) {
    auto question = whole::draw_question(seed + 700000, 12);
    const strategies::Recompute row{strategies::Recompute::Kind::full, 0, {}, {2}};
    question.space.recompute = true;
    question.space.recompute_ways = {{}, row};
    if (seed % 2 == 0) question.space.recompute_ways.push_back({strategies::Recompute::Kind::full});
    question.scenario.plan.offload.activations = false;
    question.scenario.plan.recompute = {};
    if (whole::simulations_of(question, 400) > 400) continue;
    const auto truth = whole::truth_of(question);
    const auto answer = searched(question);
    CAPTURE(seed);
    CHECK(answer.plans.empty() == !truth.best);
    if (!truth.best || answer.plans.empty()) continue;
    CAPTURE(name_of(answer.plans.front().plan), name_of(truth.best->plan));
    CHECK(ticks(answer.plans.front().forecast.step.time) == truth.best->time);
    CHECK(answer.optimal);
    in_rows += strategies::has_rows(answer.plans.front().plan);
  }
  if (whole::usual_problems()) CHECK(in_rows > 5);
}

TEST_CASE("where layers may be regrouped, the plan found and its proof are exact too",
          "[regrouped]") {
  int regrouped = 0;
  for (unsigned seed = 0; seed < 160 / whole::fewer; ++seed) {
    auto question = whole::draw_question(seed + 500000, 12);
    question.space.layer_tensor = {};
    question.space.micro_batch.listed = {2, 4};
    question.space.tensor.most = 4;
    if (question.scenario.model.moe || whole::simulations_of(question, 60) > 60) continue;
    const auto truth = whole::truth_of(question);
    const auto answer = searched(question);
    CAPTURE(seed, truth.simulations);
    CHECK(answer.plans.empty() == !truth.best);
    CHECK(answer.space.enumerated == static_cast<std::int64_t>(truth.degrees.size()));
    if (!truth.best || answer.plans.empty()) continue;
    const auto& best = answer.plans.front();
    CAPTURE(name_of(best.plan), name_of(truth.best->plan));
    CHECK(ticks(best.forecast.step.time) == truth.best->time);
    CHECK(answer.optimal);
    regrouped += best.plan.layer_tensor.has_value();
  }
  if (whole::usual_problems()) CHECK(regrouped > 20);
}

TEST_CASE("where units of FSDP are copied, the plan found and its proof are exact too",
          "[copies]") {
  int sharded = 0;
  for (unsigned seed = 0; seed < 120 / whole::fewer; ++seed) {
    auto question = whole::draw_question(seed + 700000, 24);
    auto& scenario = question.scenario;
    scenario.software.copies_parameters = scenario.software.copies_gradients = true;
    scenario.software.root_unit = false;
    scenario.cluster.node.nvlink.bandwidth = {45e12};  // copies take longer than gathers
    question.space.zero.listed = {3};
    if (whole::simulations_of(question, 60) > 60) continue;
    const auto truth = whole::truth_of(question);
    const auto answer = searched(question);
    CAPTURE(seed, truth.simulations);
    CHECK(answer.plans.empty() == !truth.best);
    if (!truth.best || answer.plans.empty()) continue;
    const auto& best = answer.plans.front();
    CAPTURE(name_of(best.plan), name_of(truth.best->plan));
    CHECK(ticks(best.forecast.step.time) == truth.best->time);
    CHECK(ticks(answer.lower_bound) <= truth.best->time);
    sharded += best.plan.data > 1;
  }
  if (whole::usual_problems()) CHECK(sharded > 10);
}

TEST_CASE("layers that hold less when they are regrouped fit where others do not", "[regrouped]") {
  // States are sharded inside nodes: a node has one of the ranks that share a whole layer,
  // and eight of those that share a regrouped one.
  auto question = whole::draw_question(1800101 - whole::first_seed(), 12);
  question.space.layer_tensor = {};
  question.space.micro_batch.listed = {2, 4};
  question.space.tensor.most = 4;
  const auto truth = whole::truth_of(question);
  const auto answer = searched(question);
  REQUIRE(truth.best);
  REQUIRE_FALSE(answer.plans.empty());
  CHECK(answer.plans.front().plan.layer_tensor == 2);
  for (const auto& of : truth.degrees)
    if (!of.degrees.layer_tensor) CHECK_FALSE(of.best);
  CHECK(ticks(answer.plans.front().forecast.step.time) == truth.best->time);
  CHECK(answer.optimal);
}

TEST_CASE("no plan is faster than its bound, and no plan that fits is ever ruled out", "[bounds]") {
  for (unsigned seed = 0; seed < 100 / whole::fewer; ++seed) {
    const auto question = whole::draw_question(seed, 100);
    const auto truth = whole::truth_of(question);
    const auto answer = searched(question);
    CAPTURE(seed);
    if (truth.best) CHECK(ticks(answer.lower_bound) <= truth.best->time);
    for (const auto& found : answer.plans) {
      const auto same =
          std::ranges::find(truth.degrees, degrees_of(found.plan), &whole::Truth::Of::degrees);
      CAPTURE(name_of(found.plan));
      REQUIRE(same != truth.degrees.end());
      REQUIRE(same->best);
      CHECK(ticks(found.forecast.step.time) >= same->best->time);
      CHECK(ticks(found.bound) <= same->best->time);
      CHECK(whole::fits(found.forecast, question.memory_headroom));
    }
  }
}

TEST_CASE("bounds hold where every way recomputes something, and where few layers have replicas",
          "[bounds]") {
  for (const unsigned seed : {310005U, 310185U, 310544U, 311016U, 311436U}) {
    const auto question = whole::draw_question(seed, 100);
    const auto truth = whole::truth_of(question);
    CAPTURE(seed);
    auto of = truth.degrees.begin();
    whole::for_each_look(question, [&](const auto& plan, const auto&, const Look& look) {
      CAPTURE(name_of(plan));
      if (of->best) CHECK(look.bound <= of->best->time);
      ++of;
    });
  }
}

TEST_CASE("the bound of each choice of degrees is at most the time of its fastest plan",
          "[bounds]") {
  std::vector<double> tightness;  // the bound over the true time, for choices that fit
  for (unsigned seed = 0; seed < 100 / whole::fewer; ++seed) {
    const auto question = whole::draw_question(seed, 100);
    const auto truth = whole::truth_of(question);
    CAPTURE(seed);
    auto of = truth.degrees.begin();
    whole::for_each_look(question, [&](const auto& plan, const PlanBounds& bounds,
                                       const Look& look) {
      CAPTURE(name_of(of->fastest.plan));
      CHECK(least_time(bounds) <= of->fastest.time);
      // Uneven cuts are looked at one by one.
      const bool one_cut =
          uneven_cuts(plan, question.space, question.scenario.model.layers).cuts.empty();
      if (is_cut(bounds) && one_cut) CHECK(least_time_as_cut(bounds) <= of->fastest.time);
      if (of->best) {
        CHECK(look.fits);
        CHECK(look.bound <= of->best->time);
        tightness.push_back(static_cast<double>(look.bound) / static_cast<double>(of->best->time));
      }
      ++of;
    });
    CHECK(of == truth.degrees.end());
  }
  if (whole::usual_problems()) CHECK(quantile(tightness, 0.5) >= 0.85);
}

// The problems have one node: bounds know nothing of shared links, and most networks drawn here are
// slow.
TEST_CASE("the least bound of all choices is close to the best plan before any is simulated",
          "[bounds]") {
  std::vector<double> tightness;
  for (unsigned seed = 0; seed < 100 / whole::fewer; ++seed) {
    const auto question = whole::draw_question(seed, 40);
    if (question.scenario.cluster.nodes() > 1) continue;
    const auto truth = whole::truth_of(question);
    if (!truth.best) continue;
    const auto least = least_bound(question);
    CAPTURE(seed);
    CHECK(least <= truth.best->time);
    tightness.push_back(static_cast<double>(least) / static_cast<double>(truth.best->time));
  }
  if (whole::usual_problems()) CHECK(quantile(tightness, 0.5) >= 0.8);
}

TEST_CASE("more memory never makes the best plan slower", "[exact]") {
  for (unsigned seed = 0; seed < 40 / whole::fewer; ++seed) {
    auto question = whole::draw_question(seed, 20);
    auto before = searched(question);
    for (const double more : {1.02, 1.2, 2.0}) {
      question.scenario.cluster.memory_fraction *= more;
      auto after = searched(question);
      CAPTURE(seed, more);
      CHECK(no_worse(after, before));
      before = std::move(after);
    }
  }
}

TEST_CASE("a larger space never makes the best plan slower", "[exact]") {
  for (unsigned seed = 0; seed < 16 / whole::fewer; ++seed) {
    auto question = whole::draw_question(seed, 20);
    CAPTURE(seed);
    auto before = searched(question);
    const auto enlarge = [&](const char* by, auto change) {
      CAPTURE(by);
      change(question.space);
      auto after = searched(question);
      CHECK(no_worse(after, before));
      before = std::move(after);
    };
    enlarge("ways", [&](Space& space) {
      const auto all = ways_of(question.scenario.model);
      for (const auto& way : {all.front(), all.back()})
        if (std::ranges::find(space.recompute_ways, way) == space.recompute_ways.end())
          space.recompute_ways.push_back(way);
    });
    enlarge("microbatches", [](Space& space) { space.micro_batch = {}; });
  }
}

TEST_CASE("plans found keep to the space, and to the keys that the plan gives") {
  using strategies::Degree;
  for (unsigned seed = 0; seed < 40 / whole::fewer; ++seed) {
    whole::Draw draw(seed);
    auto question = whole::draw_question(seed);
    auto& given = question.scenario.plan;
    given.rank_order = {Degree::tensor, Degree::pipeline, Degree::context, Degree::expert,
                        Degree::data};
    given.overlap.data = draw.one_in(2);
    given.bucket = units::Bytes{1e7};
    const auto& space = question.space;
    CAPTURE(seed);
    for (const auto& found : searched(question).plans) {
      const auto& plan = found.plan;
      CAPTURE(name_of(plan));
      const std::pair<const Values*, std::int64_t> degrees[] = {
          {&space.tensor, plan.tensor},
          {&space.context, plan.context},
          {&space.expert, plan.expert},
          {&space.pipeline, plan.pipeline},
          {&space.data, plan.data},
          {&space.zero, plan.zero},
          {&space.micro_batch, plan.micro_batch}};
      for (const auto& [values, value] : degrees) CHECK(values->allow(value));
      CHECK(std::ranges::count(space.schedules, plan.schedule) > 0);
      if (!space.recompute) CHECK(plan.recompute == given.recompute);
      if (!space.recompute) CHECK(plan.layers.empty());
      if (!space.partition) CHECK(plan.layers_per_stage.empty());
      const auto is_asked = [&](const auto& way) {
        return std::ranges::find(space.recompute_ways, way) != space.recompute_ways.end();
      };
      if (space.recompute && plan.layers.empty()) CHECK(is_asked(plan.recompute));
      if (space.recompute)
        for (const auto& some : plan.layers) CHECK(is_asked(some.recompute));
      CHECK(plan.rank_order == given.rank_order);
      CHECK(plan.overlap == given.overlap);
      CHECK(plan.bucket == given.bucket);
      CHECK(plan.reshard_after_forward == given.reshard_after_forward);
    }
  }
}

TEST_CASE("a plan that is found takes its simulated time") {
  std::size_t checked = 0;
  for (unsigned seed = 0; seed < 40 / whole::fewer; ++seed) {
    const auto question = whole::draw_question(seed);
    auto scenario = question.scenario;
    CAPTURE(seed);
    for (const auto& found : searched(question).plans) {
      ++checked;
      scenario.plan = found.plan;
      const auto forecast = forecast::simulate(scenario);
      CAPTURE(name_of(found.plan));
      CHECK(ticks(forecast.step.time) == ticks(found.forecast.step.time));
      CHECK(forecast.memory.peak == found.forecast.memory.peak);
      CHECK(whole::fits(forecast, question.memory_headroom));
    }
  }
  CHECK(checked >= 40 / whole::fewer);
}

TEST_CASE("the answer does not depend on the order in which work is done") {
  const ForEach backwards = [](std::size_t count, const std::function<void(std::size_t)>& work) {
    for (std::size_t i = count; i-- > 0;) work(i);
  };
  for (unsigned seed = 0; seed < 40 / whole::fewer; ++seed) {
    const auto question = whole::draw_question(seed);
    const auto one = searched(question), other = searched(question, backwards);
    CAPTURE(seed);
    REQUIRE(one.plans.size() == other.plans.size());
    for (std::size_t i = 0; i < one.plans.size(); ++i) {
      CHECK(one.plans[i].plan == other.plans[i].plan);
      CHECK(one.plans[i].bound == other.plans[i].bound);
    }
    CHECK(one.lower_bound == other.lower_bound);
    CHECK(one.space.evaluated == other.space.evaluated);
    CHECK(one.space.simulated == other.space.simulated);
  }
}

TEST_CASE("every choice of degrees is either searched or ruled out") {
  for (unsigned seed = 0; seed < 40 / whole::fewer; ++seed) {
    const auto question = whole::draw_question(seed);
    const auto answer = searched(question);
    CAPTURE(seed);
    const auto& counts = answer.space;
    CHECK(counts.enumerated == counts.pruned_by_memory + counts.pruned_by_bound + counts.evaluated);
    CHECK(counts.pruned_by_bound >= 0);
  }
}

TEST_CASE("a search that is stopped anywhere claims nothing that is not so") {
  // With seed 211 the choice of degrees that is bounded last is best.
  for (unsigned seed = 211; seed < 211 + 30 / whole::fewer; ++seed) {
    const auto question = whole::draw_question(seed);
    const auto whole = searched(question);
    for (int after = 0; after < 64; after = after < 4 ? after + 1 : 2 * after) {
      std::atomic<bool> stop{false};
      int done = 0;
      const ForEach for_each = [&](std::size_t count,
                                   const std::function<void(std::size_t)>& work) {
        for (std::size_t i = 0; i < count; ++i) {
          if (done++ == after) stop = true;
          work(i);
        }
      };
      const auto answer = search::search(question, {.for_each = for_each, .stop = &stop});
      CAPTURE(seed, after);
      REQUIRE(answer.interrupted == stop);
      if (!answer.plans.empty()) {
        CHECK(answer.lower_bound.value <= whole.plans.front().forecast.step.time.value);
        if (answer.optimal) CHECK(best_of(answer) == best_of(whole));
      }
      const auto& counts = answer.space;
      CHECK(counts.pruned_by_bound >= 0);
      if (answer.interrupted && answer.plans.empty()) CHECK(counts.pruned_by_bound == 0);
    }
  }
}

TEST_CASE("where nothing fits no plan is found, and an empty space has nothing in it") {
  auto question = whole::draw_question(1);
  question.scenario.cluster.memory_fraction = 1e-6;
  auto answer = searched(question);
  CHECK(answer.plans.empty());
  CHECK(!answer.optimal);
  CHECK(answer.space.enumerated > 0);
  CHECK(answer.space.pruned_by_memory == answer.space.enumerated);
  question.space.tensor.listed = {7};
  answer = searched(question);
  CHECK(answer.plans.empty());
  CHECK(answer.space.enumerated == 0);
  CHECK(!answer.misfit);
}

}  // namespace whole_problem_spec
