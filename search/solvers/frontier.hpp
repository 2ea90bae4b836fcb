// SPDX-License-Identifier: Apache-2.0
// Pareto frontiers of what layers keep in memory against how long they take.
#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/program.hpp"

namespace search {

using ByteCount = std::int64_t;
using sim::Picoseconds;

// The price of one layer, run in one way, or of an interval of layers, per microbatch.
struct Price {
  ByteCount kept = 0;        // from the forward pass to the end of the backward pass; adds up
  Picoseconds forward = 0;   // these three add up
  Picoseconds backward = 0;  // gradients of the inputs, recomputation included
  Picoseconds weight = 0;    // gradients of the weights
  ByteCount transient = 0;   // beside what is kept, while a layer runs; the largest one counts
  friend auto operator<=>(const Price&, const Price&) = default;
};

// Whether one way of an interval of layers takes and needs no more of anything than another.
inline bool no_worse(const Price& a, const Price& b) {
  return a.kept <= b.kept && a.forward <= b.forward && a.backward <= b.backward &&
         a.weight <= b.weight && a.transient <= b.transient;
}

// One layer of an interval, or several that were decided together (a checkpointed segment), and the
// option taken.
struct Choice {
  int layers = 1, option = 0;
  friend bool operator==(const Choice&, const Choice&) = default;
};

enum class FrontierId : std::uint32_t {};

// Thrown by work that takes long and was told to stop.
struct Stopped {};

// A pool of frontiers. A frontier has the points that options, or the frontiers it was made from,
// can achieve together, without those that another point is no_worse than; they are in ascending
// order of (kept, forward, backward, weight, transient). Every point remembers how it was made.
// Exact: no grid, no sampling. Equal input gives equal points in equal order.
class Frontiers {
 public:
  // `stop`: once it is set, making a frontier throws Stopped.
  explicit Frontiers(const std::atomic<bool>* stop = nullptr) : stop_(stop) {}

  // The options of a layer, or of `layers` layers decided together. Option numbers are places in
  // `options`; of equal options the first stays. None: a frontier without points.
  FrontierId of(std::span<const Price> options, int layers = 1);
  // The frontier of no layers at all: one point of nothing.
  FrontierId nothing();
  // The frontier of both intervals, one after the other: every point of `first` with every point of
  // `second`. O(|first|·|second|·log min(|first|, |second|)) where only `kept` and one more
  // coordinate differ, times the logarithm of the points where one more does, and the number of
  // values of a third (the one that has fewest) where that does, times the points beyond.
  FrontierId sum(FrontierId first, FrontierId second);
  // The frontier of several ways to run the same interval.
  FrontierId either(std::span<const FrontierId> ways);

  std::span<const Price> points(FrontierId id) const { return node(id).points; }
  // The number of points that keep at most `kept` bytes: they are the first ones. O(log points)
  std::size_t within(FrontierId id, ByteCount kept) const;
  // Whether keeping less costs backward time and changes nothing else.
  bool trades_backward_only(FrontierId id) const { return node(id).backward_only; }
  // The choices of an interval's layers at a point, first to last. O(choices)
  std::vector<Choice> choices(FrontierId id, std::size_t point) const;

 private:
  enum class Kind : std::uint8_t { options, sum, either };
  struct Origin {
    std::uint32_t first = 0;   // the option, the point of the first interval, or the way
    std::uint32_t second = 0;  // the point of the second interval, or of that way
  };
  struct Candidate {
    Price price;
    Origin origin;
  };
  struct Node {
    Kind kind = Kind::options;
    int layers = 1;  // options: covered by one choice
    bool backward_only = true;
    std::vector<FrontierId> parts;  // sum: the two intervals; either: the ways
    std::vector<Price> points;
    std::vector<Origin> origins;
  };

  void prune(std::vector<Candidate>& sorted) const;
  std::vector<Candidate> sums(std::span<const Price> longer, std::span<const Price> shorter,
                              std::size_t begin, std::size_t end) const;
  FrontierId add(Node node, std::vector<Candidate> pruned);
  const Node& node(FrontierId id) const { return nodes_[static_cast<std::size_t>(id)]; }

  const std::atomic<bool>* stop_;
  std::vector<Node> nodes_;
};

}  // namespace search
