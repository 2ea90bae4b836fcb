// SPDX-License-Identifier: Apache-2.0
// Frontiers of every interval of consecutive layers of a model, made when asked for.
#pragma once
#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "search/solvers/frontier.hpp"
#include "search/solvers/timetable.hpp"

namespace search {

struct Layer {
  ByteCount fixed = 0;         // parameters, gradients and optimizer states
  std::vector<Price> options;  // ways to run it
  // The first option that regroups the layer. From it on, options begin and end with exchanges,
  // which intervals of such layers share.
  int first_regrouped = std::numeric_limits<int>::max();
  // Times as in StageTimes, whatever the option; they add up over layers.
  Picoseconds reduction = 0, gathering = 0, update = 0, slowed_forward = 0, slowed_backward = 0;
  // Times of the last layer of a virtual stage, whose gradients leave first: `first_unit` from the
  // start of the last backward pass until they can be sent; `less_slowed_…` is taken off slowed_….
  // `last_unit` is a time of the first layer, whose gradients leave last.
  Picoseconds first_unit = 0, less_slowed_forward = 0, less_slowed_backward = 0, last_unit = 0;
  // For the last layer of a virtual stage: the time by which its backward pass is longer right
  // behind a forward pass (Parts::message_contention), and the options' prices; without them,
  // prices are those of any place.
  Picoseconds message_contention = 0;
  std::vector<Price> options_as_last = {};
  const Price& price(int option, bool last) const {
    const auto& prices = last && !options_as_last.empty() ? options_as_last : options;
    return prices[static_cast<std::size_t>(option)];
  }
  friend bool operator==(const Layer&, const Layer&) = default;
};

// Consecutive layers that can also be run together, as when only the input of all is kept.
struct LayerRun {
  int first = 0, layers = 2;
  std::vector<Price> options;
};

struct Chain {
  std::vector<Layer> layers;
  std::vector<LayerRun> runs;
};

// Intervals that look alike share one frontier: with t types of layers in n places about n·t are
// made, not n². Throws std::invalid_argument if a segment is not inside the chain, Stopped once
// `stop` is set.
class IntervalFrontiers {
 public:
  explicit IntervalFrontiers(const Chain& chain, const std::atomic<bool>* stop = nullptr);

  int layers() const { return static_cast<int>(layer_types_.size()); }
  // The frontier of layers first … last − 1 of one virtual stage; first < last.
  FrontierId of(int first, int last);
  ByteCount fixed(int first, int last) const {
    return fixed_[static_cast<std::size_t>(last)] - fixed_[static_cast<std::size_t>(first)];
  }
  // The times of an interval besides its options.
  StageTimes exchanged(int first, int last) const {
    const auto &a = exchanged_[static_cast<std::size_t>(first)],
               &b = exchanged_[static_cast<std::size_t>(last)];
    return {.reduction = b.reduction - a.reduction,
            .gathering = b.gathering - a.gathering,
            .first_unit = b.first_unit,
            .last_unit = a.last_unit,
            .slowed_forward =
                std::max<Picoseconds>(0, b.slowed_forward - a.slowed_forward -
                                             layer_less_[static_cast<std::size_t>(last)].first),
            .slowed_backward =
                std::max<Picoseconds>(0, b.slowed_backward - a.slowed_backward -
                                             layer_less_[static_cast<std::size_t>(last)].second),
            .update = b.update - a.update,
            .message_contention = b.message_contention};
  }
  // Whether every part of an interval keeps less and is faster than the interval.
  bool monotone() const { return segments_.empty(); }
  const Frontiers& pool() const { return pool_; }

 private:
  // An interval ends with a layer, and with the runs that end there, the longest last.
  struct Ending {
    int layers;
    FrontierId frontier;
    friend auto operator<=>(const Ending&, const Ending&) = default;
  };
  struct Segments {
    int first;
    Ending ending;
  };
  using Name = std::uint32_t;  // of intervals that look alike

  std::vector<Ending> endings(int first, int last) const;
  // The frontier of an interval before the virtual stage's end.
  FrontierId inner(int first, int last);

  Frontiers pool_;
  std::vector<FrontierId> layer_types_, last_types_;  // last_types_: last of a virtual stage
  std::vector<ByteCount> fixed_;                      // sums over the first layers
  // Sums over the first layers, by their number; the first unit is that of the last of them, the
  // last unit that of the layer behind it.
  std::vector<StageTimes> exchanged_;
  std::vector<std::pair<Picoseconds, Picoseconds>> layer_less_;  // of the layer before
  std::vector<std::vector<Segments>> segments_;  // by their last layer + 1; empty: none
  std::vector<std::vector<Name>> names_of_;      // by first layer, then layers − 1
  std::map<std::pair<Name, std::vector<Ending>>, Name> names_;
  std::vector<FrontierId> frontiers_;  // by name
  // Frontiers of whole stages, by the interval before the last layer.
  std::map<std::pair<Name, FrontierId>, FrontierId> whole_;
};

}  // namespace search
