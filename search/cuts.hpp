// SPDX-License-Identifier: Apache-2.0
// The partitions into virtual stages that a search chooses from, as numbers of layers.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "search/space.hpp"

namespace search {

using LayersOfStages = std::vector<std::int64_t>;  // as Plan::layers_per_stage

// Whether layers may be cut anywhere: `gpipe` and `1f1b`.
bool cuts_anywhere(strategies::ScheduleKind schedule);

// The most virtual stages that a pipeline of `layers` layers may have in the space: one for each
// layer; where its ends may be without a layer, two more, which hold the embedding and the head; as
// many as the plan lists in layers_per_stage.
std::int64_t most_virtual_stages(const strategies::Plan& plan, const Space& space,
                                 strategies::ScheduleKind schedule, std::int64_t layers);

// Cuts of an `interleaved` pipeline that Megatron-Core makes beside the even one (v chunks on each
// of p ranks, L layers; transformer_block.py, get_num_layers_to_build):
//   --account-for-embedding-in-pipeline-split   k layers each, one less on the first virtual stage,
//                                               where L + 1 = k·p·v
//   --decoder-first-pipeline-num-layers and     a, b ≥ 1 layers in each chunk of the first and of
//   --decoder-last-pipeline-num-layers          the last rank, k ≥ 1 in each of the others, where
//                                               v·(a + (p − 2)·k + b) = L
// (To account for the loss, or for both, is the even cut.) Only those of at most `most` layers per
// virtual stage, ascending; of other plans, and of those with cuts that are given or anywhere:
// none. O(cuts · p·v)
struct UnevenCuts {
  std::vector<LayersOfStages> cuts;
  bool all = true;  // false: there may be others, with more than `most` layers on some stage
};
UnevenCuts uneven_cuts(const strategies::Plan& plan, const Space& space, std::int64_t layers,
                       std::int64_t most = std::numeric_limits<std::int64_t>::max());

// Whether the space holds this cut of a plan's layers into its virtual stages. `plan` may have
// layers_per_stage of its own: `given` are those of the question.
bool holds_cut(const strategies::Plan& plan, const LayersOfStages& given, const Space& space,
               std::int64_t layers);

}  // namespace search
