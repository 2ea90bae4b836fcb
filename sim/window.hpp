// SPDX-License-Identifier: Apache-2.0
// The events inside of a pass, played once for each distinct state in which it was entered.
#pragma once
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/measures.hpp"
#include "sim/pass_matrix.hpp"
#include "sim/waits.hpp"

namespace sim {

// The facts of a template that decide which part of a state matters to a pass.
struct PassShape {
  Picoseconds total_issue = 0;
  bool tensor_joins = true;  // no collective begins before the first step
  bool meets = false;
};

// The work of a participant between its first step and the end of its last, and the number of the
// state in which it entered the pass.
struct Window {
  Spent spent;
  std::uint32_t number = 0;
};

class Windows {
 public:
  // `keeps`: whether take_entered() is asked for.
  explicit Windows(const Program& program, bool keeps = false);

  // Returns the window of participant `which`; `entered`: states by participant. O(participants)
  // when the pass was entered in this state before. The reference stays valid.
  const Window& window(const Op& pass, const std::vector<Entry>& entered, std::uint32_t which,
                       Picoseconds start);
  // The states, by number.
  std::vector<EnteredPass> take_entered() { return std::move(states_); }

 private:
  struct Hash {
    std::size_t operator()(const std::vector<Picoseconds>& key) const;
  };
  using Known = std::unordered_map<std::vector<Picoseconds>, Window, Hash>;
  struct Latest {
    Entry state{};
    const Window* window = nullptr;
  };

  std::uint32_t body_of(const Op& pass, std::size_t participant) const {
    return static_cast<std::uint32_t>(
        program_.body_of(pass, static_cast<std::uint32_t>(participant)));
  }
  Picoseconds began_at(std::uint32_t body, const Entry& entered) const;
  Window played(const Op& pass, std::uint32_t which);

  const Program& program_;
  const bool keeps_;
  std::vector<EnteredPass> states_;
  std::vector<PassShape> shapes_;
  Known known_;                 // looked up, never iterated
  std::vector<Latest> latest_;  // by template: most passes on actors of their own repeat the last
  // The pass that is being looked up: its key, and the lanes and arrivals that the key stands for.
  std::vector<Picoseconds> key_, arrivals_, ends_;
  std::vector<LaneTimes> lanes_then_;
};

}  // namespace sim
