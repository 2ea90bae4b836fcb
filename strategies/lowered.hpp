// SPDX-License-Identifier: Apache-2.0
// A lowered step: its program, and what each actor and link of it stands for.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plans/holdings.hpp"
#include "plans/memory.hpp"
#include "plans/schedules/schedule.hpp"
#include "sim/program.hpp"
#include "strategies/costs.hpp"
#include "strategies/folding.hpp"
#include "strategies/passes.hpp"

namespace strategies {

// The ranks that an actor stands for, and the memory that one of them holds.
struct ActorFacts {
  int stage = 0;
  std::int64_t rank = 0;  // lowest of its class
  Gpu gpu;
  std::int64_t multiplicity = 1;  // ranks
  std::int64_t layers = 0;
  Holding held;
  int communicators = 0;          // groups of more than one rank that it belongs to
  units::Bytes host_activations;  // most that the host holds for it at once
};

// Links that a tensor-parallel group crosses inside its node, and in how many shares its bytes are
// counted there (Folding::fan_out).
struct InsideLinks {
  std::vector<sim::Traffic::Use> uses;
  double shares = 1;
};

struct Lowered {
  sim::Program program;
  Order order;
  std::vector<ActorFacts> actors;
  // The links of passes' own traffic (sim::Template::sent), by actor; only of the first actor of
  // each group.
  std::vector<InsideLinks> inside;
  std::vector<LinkClass> links;  // of the program
  std::vector<std::string> link_names;
  std::int64_t microbatches = 0;  // of one data-parallel replica
  std::int64_t written = 0;       // of these, as many as the program has
  // The writer of the first rank's group; it refers to the job's values.
  std::shared_ptr<const PassWriter> writer;
  Shards shards;  // ranks that divide an optimizer state (zero ≥ 1)
};

}  // namespace strategies
