// SPDX-License-Identifier: Apache-2.0
// The events inside of a pass, played once for each distinct state in which it was entered.
#pragma once
#include <array>
#include <unordered_map>
#include <vector>

#include "sim/measures.hpp"
#include "sim/pass_matrix.hpp"

namespace sim {

class Windows {
 public:
  explicit Windows(const Program& program);

  // Returns what participant `which` did between its first step and the end of its last; `entered`:
  // states by participant. O(participants) when the pass was entered in this state before. The
  // reference stays valid.
  const Spent& spent(const Op& pass, const std::vector<Entry>& entered, std::uint32_t which,
                     Picoseconds start);

 private:
  struct Shape {
    Picoseconds total_issue = 0;
    bool tensor_joins = true;  // no collective begins before the first step
    bool meets = false;
  };
  struct Hash {
    std::size_t operator()(const std::vector<Picoseconds>& key) const;
  };
  using Known = std::unordered_map<std::vector<Picoseconds>, Spent, Hash>;
  // The state of one participant as far as it matters: free lanes and arrival, after the start of
  // the pass.
  using State = std::array<Picoseconds, 4>;
  struct Latest {
    State state{};
    const Spent* spent = nullptr;
  };

  std::uint32_t body_of(const Op& pass, std::size_t participant) const {
    return static_cast<std::uint32_t>(
        program_.body_of(pass, static_cast<std::uint32_t>(participant)));
  }
  State state_of(std::uint32_t body, const Entry& entered, Picoseconds start, Picoseconds began,
                 bool clip) const;
  Picoseconds began_at(std::uint32_t body, const Entry& entered) const;
  Spent played(const Op& pass, std::uint32_t which);

  const Program& program_;
  std::vector<Shape> shapes_;
  Known known_;                 // looked up, never iterated
  std::vector<Latest> latest_;  // by template: most passes on actors of their own repeat the last
  // The pass that is being looked up: its key, and the lanes and arrivals that the key stands for.
  std::vector<Picoseconds> key_, arrivals_, ends_;
  std::vector<LaneTimes> lanes_then_;
};

}  // namespace sim
