// SPDX-License-Identifier: Apache-2.0
// The conditions that a plan must meet to run. One list serves the reader of files, which complains
// of those that fail, and the search, which leaves such plans out.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/transformer.hpp"
#include "plans/plan.hpp"
#include "topology/cluster.hpp"

namespace strategies {

// A plan with its model, training and cluster, as conditions are asked about it. Degrees are at
// least 1.
struct Case {
  const model::Transformer& model;
  const Training& training;
  const Plan& plan;
  const topology::Cluster& cluster;
};

struct Condition {
  std::vector<std::string_view> asks;  // paths of a scenario that it looks at: "model.heads"
  std::vector<std::string_view> keys;  // to complain of: the first that is given, else the last
  bool (*holds)(const Case&);          // true too where it does not apply
  std::string (*why)(const Case&);     // where it does not hold: what is wrong, and what to write
};

// A number in the sentence of a condition.
inline std::string digits(std::int64_t number) { return std::to_string(number); }

bool all_hold(std::span<const Condition> conditions, const Case& of);

// The conditions by subject. Each list looks at no more degrees than the one before. A condition
// that makes no sense if an earlier one fails counts as met then.
std::span<const Condition> on_tensor();          // heads and MLPs that are divided
std::span<const Condition> on_context();         // sequences that are cut
std::span<const Condition> on_sequence_parts();  // parts of them, cut again
std::span<const Condition> on_ulysses();         // heads that are dealt out
std::span<const Condition> on_experts();         // spread and divided
std::span<const Condition> on_expert_rows();     // tokens that each rank sends
std::span<const Condition> on_expert_ranks();    // of a stage, arranged anew
std::span<const Condition> on_shards();          // of nodes. O(ranks)
std::span<const Condition> on_states();          // divided, compressed, or outside the device
std::span<const Condition> on_batch();           // microbatches
std::span<const Condition> on_layers();          // of virtual stages
std::span<const Condition> on_stages();          // of schedules that feed both ends of a pipeline
std::span<const Condition> on_microbatches();    // of these; where the batch makes whole ones
std::span<const Condition> on_chunks();          // virtual stages of a rank
std::span<const Condition> on_regrouping();      // layers with a smaller tensor degree

// Whether the conditions on layers, stages, microbatches and chunks hold.
bool takes_pipeline(const Case& of);

}  // namespace strategies
