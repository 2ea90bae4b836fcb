// SPDX-License-Identifier: Apache-2.0
// Many paths through a schedule, folded where they begin or go on alike.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "search/solvers/timetable.hpp"

namespace search {

// The longest of a set of paths, virtual stage by virtual stage: a state before a stage stands for
// paths that went there alike, or that go on alike from there. There is one state before the first
// stage and one behind the last. A partial partition must remember one length per state.
struct Trellis {
  struct Arc {
    std::uint32_t from, to;
    Visits visits;
  };
  std::vector<std::vector<Arc>> arcs;  // by virtual stage
  std::vector<std::uint32_t> states;   // number before each virtual stage, and behind the last
};

// The least deterministic automaton of the paths as words. `paths` are not empty and equally long.
// O(paths · stages · log)
Trellis fold(std::span<const Path> paths);

}  // namespace search
