// SPDX-License-Identifier: Apache-2.0
// A plan becomes a program: who does what and when.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/transformer.hpp"
#include "plans/duties.hpp"
#include "plans/memory.hpp"
#include "plans/placement.hpp"
#include "plans/plan.hpp"
#include "plans/schedule.hpp"
#include "plans/software.hpp"
#include "sim/program.hpp"
#include "strategies/costs.hpp"
#include "strategies/folding.hpp"
#include "strategies/passes.hpp"
#include "topology/cluster.hpp"

namespace strategies {

// What is to be lowered; `cluster` says only where ranks lie.
struct Job {
  const model::Transformer& model;
  const Training& training;
  const Plan& plan;
  const Software& software;
  const topology::Cluster& cluster;
  bool counts_flops = false;  // of passes: sim::Template::flops
  // Of a rank that is alone in its groups.
  Share share() const {
    return {.model = model,
            .plan = plan,
            .training = training,
            .software = software,
            .counts_flops = counts_flops};
  }
};

struct ActorFacts {
  int stage = 0;
  std::int64_t rank = 0;  // lowest of its class
  Gpu gpu;
  std::int64_t multiplicity = 1;
  std::int64_t layers = 0;
  Holding held;
  int communicators = 0;          // groups of more than one rank that it belongs to
  units::Bytes host_activations;  // most that the host holds for it at once
};

// Links that a tensor-parallel group crosses inside its node, and in how many shares its bytes are
// counted there (Routes::shares).
struct InsideLinks {
  std::vector<sim::Traffic::Use> uses;
  double shares = 1;
};

struct Lowered {
  sim::Program program;
  Order order;
  std::vector<ActorFacts> actors;
  // By actor, of what passes send (sim::Template::sent); only of the first actor of each group.
  std::vector<InsideLinks> inside;
  std::vector<LinkClass> links;  // of the program
  std::vector<std::string> link_names;
  std::int64_t microbatches = 0;
  std::unique_ptr<PassWriter> writer;  // of the first rank's group; it refers to the job's values
  Shards shards;                       // ranks that divide an optimizer state (zero ≥ 1)
};

// Microbatches of one data-parallel replica. Throws std::invalid_argument if the global batch does
// not divide evenly.
std::int64_t microbatches_of(const Plan& plan, const Training& training);

// What a choice drops of a layer before which `layers` others were counted: of its pipeline rank,
// or, where every virtual stage has a choice of its own, of that.
Drop drop_of(const Recompute& recompute, std::int64_t layers);

// Blocks of every virtual stage, in model order. `keep_sent` as the software's keep_sent_outputs.
std::vector<std::vector<Block>> blocks_of(const model::Transformer& model, const Plan& plan,
                                          bool keep_sent = false);

// Lowers one training step. O(actors · microbatches · chunks) plus the templates.
Lowered lower(const Job& job, const Costs& costs, Ranks ranks);

// Throws Refusal where a step takes sim::unreached, 26 days, at least.
void check_ticks(double ticks);

}  // namespace strategies
