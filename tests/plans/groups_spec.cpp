// SPDX-License-Identifier: Apache-2.0
// The groups in which ranks communicate, in every order of degrees.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "plans/placement.hpp"
#include "plans/words.hpp"
#include "tests/catch.hpp"
#include "tests/plans/drawn_placements.hpp"

namespace groups_spec {

using namespace strategies;
using Ranks = std::vector<std::int64_t>;

namespace {

constexpr auto tp = Degree::tensor, cp = Degree::context, ep = Degree::expert, dp = Degree::data,
               pp = Degree::pipeline;

// The ranks that sum gradients with this one, in the order of their places.
Ranks sharers_of(const Placement& placement, std::int64_t rank) {
  Ranks sharers;
  for (std::int64_t i = 0; i < placement.sharers(); ++i)
    sharers.push_back(placement.rank_of_sharer(i, placement.at(rank)));
  return sharers;
}

// The same of those that hold the same experts.
Ranks apart_sharers_of(const Placement& placement, std::int64_t rank) {
  Ranks sharers;
  for (std::int64_t i = 0; i < placement.apart_sharers(); ++i)
    sharers.push_back(placement.rank_of_apart_sharer(i, rank));
  return sharers;
}

std::string words_of_plan(const Plan& plan) {
  return "tensor " + std::to_string(plan.tensor) + " context " + std::to_string(plan.context) +
         " data " + std::to_string(plan.data) + " pipeline " + std::to_string(plan.pipeline) +
         " expert " + std::to_string(plan.expert) + " x " + std::to_string(expert_tensor(plan)) +
         " " + std::string(units::word(plan.schedule)) + " " + word(plan.rank_order);
}

}  // namespace

// 2 x 2 x 2 x 2 ranks; the first degree of the order has neighbours, the last is eight apart.
TEST_CASE("the innermost degree of an order has neighbouring ranks, the outermost distant ones") {
  struct Case {
    std::vector<Degree> order;
    Ranks tensor, context, sharers;
    std::int64_t next_stage;
  };
  const std::vector<Case> cases{{{tp, cp, ep, dp, pp}, {0, 1}, {0, 2}, {0, 2, 4, 6}, 8},
                                {{tp, cp, ep, pp, dp}, {0, 1}, {0, 2}, {0, 2, 8, 10}, 4},
                                {{dp, tp, cp, ep, pp}, {0, 2}, {0, 4}, {0, 1, 4, 5}, 8},
                                {{pp, dp, cp, tp, ep}, {0, 8}, {0, 4}, {0, 2, 4, 6}, 1},
                                {{cp, pp, tp, ep, dp}, {0, 4}, {0, 1}, {0, 1, 8, 9}, 2}};
  for (const auto& [order, tensor, context, sharers, next_stage] : cases) {
    Plan plan{.tensor = 2, .pipeline = 2, .data = 2, .context = 2};
    plan.rank_order = order;
    const Placement placement(plan);
    INFO(word(order));
    CHECK(tensor_group(placement, 0) == tensor);
    CHECK(context_group(placement, 0) == context);
    CHECK(sharers_of(placement, 0) == sharers);
    CHECK(placement.rank_of({.pipeline = 1}) == next_stage);
  }
}

// Eight ranks of a stage, tensor 2 x data 4.
TEST_CASE("experts are spread over replicas, and those of one rank are shared by what is left") {
  struct Case {
    std::int64_t expert, tensor;
    Ranks experts, parts, tokens, sharers;  // of rank 1
  };
  const std::vector<Case> cases{
      {2, 2, {1, 3}, {0, 1}, {1, 3}, {1, 5}},           // two replicas hold all experts
      {4, 2, {1, 3, 5, 7}, {0, 1}, {1, 3, 5, 7}, {1}},  // all replicas do
      {4, 1, {0, 1, 2, 3}, {1}, {0, 1, 2, 3}, {1, 5}},  // tensor ranks have experts of their own
      {8, 1, {0, 1, 2, 3, 4, 5, 6, 7}, {1}, {0, 1, 2, 3, 4, 5, 6, 7}, {1}},
      {1, 4, {1}, {0, 1, 2, 3}, {0, 1, 2, 3}, {1, 5}},  // parts of every expert over two replicas
      {1, 1, {1}, {1}, {1}, {0, 1, 2, 3, 4, 5, 6, 7}},  // every rank has all of them
      {1, 2, {1}, {0, 1}, {1}, {1, 3, 5, 7}}};          // divided as layers are
  for (const auto& [expert, tensor, experts, parts, tokens, sharers] : cases) {
    Plan plan{.tensor = 2, .data = 4, .expert = expert, .expert_tensor = tensor};
    const Placement placement(plan);
    INFO("expert " << expert << " x " << tensor);
    CHECK(expert_group(placement, 1) == experts);
    CHECK(apart_tensor_group(placement, 1) == parts);
    CHECK(token_group(placement, 1) == tokens);
    CHECK(apart_sharers_of(placement, 1) == sharers);
  }
}

TEST_CASE("smaller tensor groups are neighbours, and samples are dealt out between their places") {
  Plan plan{.tensor = 8, .data = 2, .layer_tensor = 2};
  const Placement placement(plan);
  CHECK(placement.regroups());
  CHECK(apart_tensor_group(placement, 5) == Ranks{4, 5});
  CHECK(regrouping_group(placement, 5) == Ranks{1, 3, 5, 7});
  CHECK(regrouping_group(placement, 12) == Ranks{8, 10, 12, 14});
  CHECK(apart_sharers_of(placement, 5) == Ranks{1, 3, 5, 7, 9, 11, 13, 15});
  CHECK(token_group(placement, 5) == Ranks{5});  // nobody sends tokens
  plan.layer_tensor.reset();
  CHECK_FALSE(Placement(plan).regroups());
}

TEST_CASE("in DualPipe stages from either end are copies, which sum gradients with each other") {
  Plan plan{.pipeline = 4, .data = 2, .schedule = ScheduleKind::dualpipe};
  const Placement placement(plan);  // stages of ranks 0 1 | 2 3 | 4 5 | 6 7
  CHECK(sharers_of(placement, 0) == Ranks{0, 1, 6, 7});
  CHECK(sharers_of(placement, 4) == Ranks{2, 3, 4, 5});
  CHECK(placement.lead_of(3) == 0);
  CHECK(placement.lead_of(2) == 1);
  plan.schedule = ScheduleKind::one_f_one_b;
  CHECK(sharers_of(Placement(plan), 4) == Ranks{4, 5});
  CHECK(Placement(plan).lead_of(3) == 3);
}

TEST_CASE("ranks and their coordinates are one to one in any order of degrees") {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const auto plan = tests::drawn_placement(random);
    const Placement placement(plan);
    INFO(words_of_plan(plan));
    CHECK(placement.ranks() == plan.tensor * plan.data * plan.pipeline * plan.context);
    std::set<std::vector<std::int64_t>> places, experts;
    bool back = true;
    for (std::int64_t rank = 0; rank < placement.ranks(); ++rank) {
      const auto at = placement.at(rank);
      const auto held = placement.expert_at(rank);
      places.insert({at.tensor, at.data, at.pipeline, at.context});
      experts.insert({held.tensor, held.expert, held.data, at.pipeline});
      back = back && placement.rank_of(at) == rank && placement.rank_of(held, at.pipeline) == rank;
    }
    CHECK(back);
    CHECK(std::ssize(places) == placement.ranks());
    CHECK(std::ssize(experts) == placement.ranks());
  }
}

TEST_CASE("groups of each kind part all ranks among them, and every member names the same group") {
  using Group = std::function<Ranks(const Placement&, std::int64_t)>;
  struct Kind {
    const char* name;
    Group of;
    std::function<std::int64_t(const Placement&)> size;
  };
  const std::vector<Kind> kinds{
      {"tensor", tensor_group, &Placement::tensor},
      {"context", context_group, &Placement::context},
      {"expert", expert_group, &Placement::expert},
      {"parts of experts", apart_tensor_group, &Placement::expert_tensor},
      {"sharers", sharers_of, &Placement::sharers},
      {"sharers of experts", apart_sharers_of, &Placement::apart_sharers}};
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const auto plan = tests::drawn_placement(random);
    const Placement placement(plan);
    for (const auto& kind : kinds) {
      const auto& of = kind.of;
      INFO(kind.name << " of " << words_of_plan(plan));
      bool alike = true;
      for (std::int64_t rank = 0; rank < placement.ranks(); ++rank) {
        const auto group = of(placement, rank);
        alike = alike && std::ssize(group) == kind.size(placement) &&
                std::ranges::count(group, rank) == 1 && std::ranges::all_of(group, [&](auto other) {
                  return other < placement.ranks() && of(placement, other) == group;
                });
      }
      CHECK(alike);
    }
  }
}

TEST_CASE("ranks that hold the same experts differ neither in experts nor in their part of them") {
  std::mt19937 random(4);
  for (int i = 0; i < 100; ++i) {
    const auto plan = tests::drawn_placement(random);
    const Placement placement(plan);
    INFO(words_of_plan(plan));
    bool same = true, numbered = true;
    for (std::int64_t rank = 0; rank < placement.ranks(); ++rank) {
      const auto held = placement.expert_at(rank);
      const auto sharers = apart_sharers_of(placement, rank);
      for (const auto other : sharers) {
        const auto of_other = placement.expert_at(other);
        same = same && of_other.expert == held.expert && of_other.tensor == held.tensor &&
               placement.lead_of(placement.at(other).pipeline) ==
                   placement.lead_of(placement.at(rank).pipeline);
      }
      numbered = numbered &&
                 sharers[static_cast<std::size_t>(placement.index_of_apart_sharer(rank))] == rank;
    }
    CHECK(same);
    CHECK(numbered);
  }
}

// The least number of neighbouring replicas of the first stage such that no group of experts leaves
// its block of so many replicas.
namespace {

std::int64_t least_whole_replicas(const Placement& placement) {
  const auto replica_of = [&](std::int64_t rank) { return placement.at(rank).data; };
  for (std::int64_t replicas = 1; replicas < placement.data(); ++replicas) {
    if (placement.data() % replicas != 0) continue;
    bool whole = true;
    for (std::int64_t rank = 0; rank < placement.ranks(); ++rank)
      for (const auto expert : expert_group(placement, rank))
        for (const auto other : apart_tensor_group(placement, expert))
          whole = whole && replica_of(other) / replicas == replica_of(rank) / replicas;
    if (whole) return replicas;
  }
  return placement.data();
}

}  // namespace

TEST_CASE("groups of experts are whole on the least number of replicas that holds none in part") {
  std::mt19937 random(5);
  int between = 0;
  for (int i = 0; i < 200; ++i) {
    const auto plan = tests::drawn_placement(random, false);
    const Placement placement(plan);
    INFO(words_of_plan(plan));
    const auto least = least_whole_replicas(placement);
    CHECK(placement.apart_replicas() == least);
    CHECK(placement.apart_sharers_in(placement.data()) * placement.copies() ==
          placement.apart_sharers());
    between += least > 1 && least < placement.data();
  }
  CHECK(between >= 10);
}

TEST_CASE("experts that do not divide the ranks of a stage have no place") {
  CHECK(places_experts({.tensor = 2, .data = 3, .expert = 3}));
  CHECK_FALSE(places_experts({.tensor = 2, .data = 3, .expert = 2}));  // 2 x 2 of 6
  CHECK(places_experts({.tensor = 2, .data = 3, .expert = 2, .expert_tensor = 1}));
  CHECK_THROWS_WITH(Placement({.tensor = 2, .data = 3, .expert = 2}),
                    "expert x expert_tensor must divide tensor x context x data");
}

}  // namespace groups_spec
