// SPDX-License-Identifier: Apache-2.0
// Pipelines whose ends hold the embedding or the head alone, and uneven cuts of interleaved ones.
// These tests fail if the peak of an embedding that is alone on its stage is wrong, or if the last
// virtual stage may have one layer less than the others.
#include "search/cuts.hpp"
#include "search/least_time.hpp"
#include "tests/catch.hpp"
#include "tests/search/whole_problem.hpp"

namespace uneven_spec {

using namespace search;
using strategies::Plan;
using strategies::ScheduleKind;
using whole::name_of;

namespace {

using Cuts = std::vector<LayersOfStages>;

Plan interleaved(std::int64_t ranks, std::int64_t chunks) {
  Plan plan;
  plan.pipeline = ranks;
  plan.schedule = ScheduleKind::interleaved;
  plan.virtual_stages = chunks;
  return plan;
}

bool has_bare_end(const Plan& plan, std::int64_t layers) {
  const auto cut = strategies::layers_per_virtual_stage(plan, layers);
  return cut.front() == 0 || cut.back() == 0;
}
bool is_uneven(const Plan& plan, std::int64_t layers) {
  auto even = plan;
  even.layers_per_stage.clear();
  return plan.schedule == ScheduleKind::interleaved &&
         strategies::layers_per_virtual_stage(plan, layers) !=
             strategies::layers_per_virtual_stage(even, layers);
}

// A question about few layers for many stages, with a small remaining space.
Question few_layers(unsigned seed, std::int64_t layers) {
  auto question = whole::draw_question(seed, 40);
  whole::Draw draw(seed + 77);
  question.scenario.model.layers = layers;
  if (auto& moe = question.scenario.model.moe) moe->first_dense_layers = 0, moe->every = 1;
  auto& space = question.space;
  space.schedules = draw.of(std::vector{ScheduleKind::interleaved},
                            std::vector{ScheduleKind::one_f_one_b, ScheduleKind::interleaved},
                            std::vector{ScheduleKind::gpipe, ScheduleKind::one_f_one_b});
  space.partition = true;
  space.pipeline = {.listed = {}, .least = 2, .most = 4};
  if (space.recompute_ways.size() > 2) space.recompute_ways.resize(2);
  question.scenario.plan.offload.activations = false;
  return question;
}

struct Seen {
  int problems = 0, bare = 0, uneven = 0;
};
// Compares the search with the simulation of everything. Counts the best plans whose ends have no
// layer, and those with an uneven cut.
Seen compared(unsigned first_seed, unsigned seeds,
              const std::function<std::int64_t(unsigned)>& layers, std::int64_t most) {
  Seen seen;
  for (unsigned seed = first_seed; seed < first_seed + seeds; ++seed) {
    const auto question = few_layers(seed, layers(seed));
    const auto many = whole::simulations_of(question, most);
    if (many < 2 || many > most) continue;
    const auto truth = whole::truth_of(question);
    const auto answer = search::search(question, {.top = 100'000});
    CAPTURE(seed, truth.simulations);
    ++seen.problems;
    CHECK(answer.plans.empty() == !truth.best);
    CHECK(answer.space.enumerated == static_cast<std::int64_t>(truth.degrees.size()));
    if (!truth.best || answer.plans.empty()) continue;
    CAPTURE(name_of(answer.plans.front().plan), name_of(truth.best->plan));
    CHECK(ticks(answer.plans.front().forecast.step.time) == truth.best->time);
    CHECK(answer.optimal);
    seen.bare += has_bare_end(truth.best->plan, question.scenario.model.layers);
    seen.uneven += is_uneven(truth.best->plan, question.scenario.model.layers);
  }
  return seen;
}

}  // namespace

TEST_CASE("ends without a layer make two more virtual stages than layers, under three schedules") {
  using enum ScheduleKind;
  for (const auto schedule : {gpipe, one_f_one_b, ScheduleKind::interleaved})
    CHECK(most_virtual_stages({}, {}, schedule, 126) == 128);
  for (const auto schedule : {zb_h1, zb_v, dualpipe, dualpipe_v})
    CHECK(most_virtual_stages({}, {}, schedule, 126) == 126);
  CHECK(most_virtual_stages({}, {.partition = false}, one_f_one_b, 126) == 126);
  Plan given;
  given.layers_per_stage = {0, 0, 1};
  CHECK(most_virtual_stages(given, {.partition = false}, one_f_one_b, 1) == 3);
}

// 7 layers and the embedding make 7 + 1 = 2 · 4. Each rank has two chunks of the same number of
// layers, so an even number in all.
TEST_CASE("where the embedding counts as a layer, the first virtual stage has one less") {
  CHECK(uneven_cuts(interleaved(2, 2), {}, 7).cuts == Cuts{{1, 2, 2, 2}});
  CHECK(uneven_cuts(interleaved(2, 2), {}, 3).cuts == Cuts{{0, 1, 1, 1}});
  CHECK(uneven_cuts(interleaved(2, 2), {.chunks = true}, 7).cuts.empty());
  CHECK(uneven_cuts(interleaved(2, 2), {}, 5).cuts.empty());
}

// With 8 layers in two chunks the first chunks of all ranks have 4. Two ranks share them as 1 + 3
// and 3 + 1 beside the even 2 + 2; three ranks as 1 + 1 + 2, 1 + 2 + 1 (even: the first and the
// last ones give up two of nine) and 2 + 1 + 1.
TEST_CASE("the first and the last rank may have other numbers of layers than the rest") {
  CHECK(uneven_cuts(interleaved(2, 2), {}, 8).cuts == Cuts{{1, 3, 1, 3}, {3, 1, 3, 1}});
  const auto three = uneven_cuts(interleaved(3, 2), {}, 8);
  CHECK(three.cuts == Cuts{{1, 1, 2, 1, 1, 2}, {2, 1, 1, 2, 1, 1}, {1, 2, 1, 1, 2, 1}});
  CHECK(three.all);
}

TEST_CASE("uneven cuts of few layers a stage are all uneven cuts that have no more on any stage") {
  for (const std::int64_t layers : {4, 6, 9, 12, 15, 31})
    for (const std::int64_t ranks : {2, 3, 4, 5})
      for (const std::int64_t chunks : {2, 3})
        for (std::int64_t most = 0; most <= layers; ++most) {
          const auto plan = interleaved(ranks, chunks);
          if (ranks * chunks > layers + 2) continue;
          auto all = uneven_cuts(plan, {}, layers).cuts;
          const auto some = uneven_cuts(plan, {}, layers, most);
          const auto before = all.size();
          std::erase_if(all, [&](const auto& cut) { return std::ranges::max(cut) > most; });
          CAPTURE(layers, ranks, chunks, most);
          CHECK(some.cuts == all);
          if (all.size() < before) CHECK_FALSE(some.all);
        }
}

TEST_CASE("uneven cuts are all of those that say of themselves that they are") {
  for (std::int64_t layers = 2; layers <= 9; ++layers)
    for (const std::int64_t ranks : {2, 3, 4})
      for (const bool chunks : {false, true}) {
        const auto plan = interleaved(ranks, 2);
        const Space space{.chunks = chunks};
        if (2 * ranks > layers + 2) continue;
        CAPTURE(layers, ranks, chunks);
        auto one = plan;
        std::size_t many = 0;
        for (const auto& cut : whole::partitions_of(plan, layers, space)) {
          one.layers_per_stage = cut;
          CHECK(holds_cut(one, {}, space, layers));
          ++many;
        }
        if (!chunks) CHECK(many == 1 + uneven_cuts(plan, space, layers).cuts.size());
      }
}

TEST_CASE("with fewer layers than stages the plan found and its proof are exact", "[exact]") {
  const auto seen = compared(
      900000, 240 / whole::fewer, [](unsigned seed) { return 1 + seed % 3; }, 200);
  INFO(seen.problems << " problems, " << seen.bare << " with bare ends");
  if (whole::usual_problems()) CHECK(seen.problems > 50);
  if (whole::usual_problems()) CHECK(seen.bare > 20);
}

TEST_CASE("where interleaved pipelines are cut unevenly, the plan found and its proof are exact",
          "[exact]") {
  const auto seen = compared(
      910000, 240 / whole::fewer, [](unsigned seed) { return 5 + seed % 4; }, 200);
  INFO(seen.problems << " problems, " << seen.uneven << " cut unevenly");
  if (whole::usual_problems()) CHECK(seen.problems > 20);
  if (whole::usual_problems()) CHECK(seen.uneven > 3);
}

TEST_CASE("no bound of pipelines of few layers is above the time of the fastest of them",
          "[bounds]") {
  int checked = 0;
  for (unsigned seed = 920000; seed < 920000 + 160 / whole::fewer; ++seed) {
    const auto question = few_layers(seed, 1 + seed % 7);
    const auto many = whole::simulations_of(question, 200);
    if (many < 2 || many > 200) continue;
    const auto truth = whole::truth_of(question);
    CAPTURE(seed);
    auto of = truth.degrees.begin();
    whole::for_each_look(question, [&](const auto&, const PlanBounds& bounds, const Look& look) {
      CAPTURE(name_of(of->fastest.plan));
      CHECK(least_time(bounds) <= of->fastest.time);
      if (of->best) CHECK(look.fits);
      if (of->best) CHECK(look.bound <= of->best->time);
      ++of, ++checked;
    });
    CHECK(of == truth.degrees.end());
  }
  if (whole::usual_problems()) CHECK(checked > 500);
}

}  // namespace uneven_spec
