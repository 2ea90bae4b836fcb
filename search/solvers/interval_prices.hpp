// SPDX-License-Identifier: Apache-2.0
// The costs of intervals of layers on virtual stages at given prices, and the cheapest partition.
#pragma once
#include <limits>
#include <vector>

#include "search/solvers/relaxation.hpp"
#include "search/solvers/stage_groups.hpp"

namespace search {

// The stage of each layer, and the option that each type of layer takes there.
struct Placing {
  std::vector<int> first_layer;         // by virtual stage, then the number of layers
  std::vector<std::vector<int>> taken;  // by virtual stage and type of layer
  friend auto operator<=>(const Placing&, const Placing&) = default;
};

// Intervals that virtual stages may hold: stage v begins with one of the layers v … v + slack.
class OpenIntervals {
 public:
  OpenIntervals(int stages, int layers)
      : stages_(stages),
        width_(layers - stages + 1),
        open_(static_cast<std::size_t>(stages * width_ * width_), 1) {}
  int width() const { return width_; }
  // Places: `first` is the first layer − v, `last` the first layer behind − (v + 1); first ≤ last.
  char& open(int v, int first, int last) {
    return open_[static_cast<std::size_t>((v * width_ + first) * width_ + last)];
  }
  bool holds(const std::vector<int>& first_layer) {
    for (int v = 0; v < stages_; ++v) {
      const auto begin = first_layer.begin() + v;
      if (!open(v, *begin - v, *(begin + 1) - v - 1)) return false;
    }
    return first_layer.front() == 0;
  }

 private:
  int stages_, width_;
  std::vector<char> open_;
};

// A problem's intervals of layers. It must outlive this.
class IntervalPrices {
 public:
  IntervalPrices(const PipelineProblem& problem, const std::vector<StageGroup>& groups);

  // Layers that are alike, each type once; and the type of each layer.
  const std::vector<const Layer*>& types() const { return types_; }
  std::size_t type_of(int layer) const { return type_of_[static_cast<std::size_t>(layer)]; }
  // The times of a virtual stage beside its layers.
  const StageTimes& besides(int v) const { return besides_[static_cast<std::size_t>(v)]; }
  // The intervals that the problem's ranges of layers allow.
  OpenIntervals intervals() const;

  // Limits a device to as many layers of the usual type, and of types that take no less time, as
  // fit below the target.
  void count_layers(Picoseconds target);
  bool counts(int layer) const { return counted_[type_of(layer)]; }
  // The most such layers on the devices of a group; infinite if the limit does not matter.
  double most_layers() const { return most_layers_; }

  struct Cheapest {
    double cost = std::numeric_limits<double>::infinity();  // infinite: there is none
    Placing placing = {};
  };
  // The cheapest partition of open intervals. Intervals that lie in no partition that costs less
  // than `most` close; if all do, it costs infinitely much. O(virtual stages · (layers² + types ·
  // options))
  Cheapest cheapest(const Multipliers& multipliers, OpenIntervals& intervals, double most);
  // Whether some interval ever closed.
  bool struck_out() const { return struck_out_; }

 private:
  // Finds the types of layers: layers that are alike have one type.
  void find_types();
  // The price of a byte on each virtual stage: of bytes that a microbatch keeps, and of fixed ones.
  struct BytePrices {
    double kept = 0, fixed = 0, layer = 0;
  };
  std::vector<BytePrices> byte_prices(const Multipliers& multipliers) const;
  // The costs of intervals on a virtual stage: a sum over layers, and the additions of the first
  // and the last layer.
  struct StageCosts {
    double constant = 0;
    std::vector<double> sum;          // sums over the first layers
    std::vector<double> first, last;  // by type
    std::vector<int> taken;           // by type
  };
  StageCosts costs_of(int v, const Multipliers& multipliers, const BytePrices& bytes) const;
  static double cheapest_option(const Layer& layer, const Parts<double>& weights,
                                const BytePrices& bytes, int& taken);
  // The costs of every virtual stage, and the part that does not depend on the partition.
  struct Costs {
    std::vector<StageCosts> stages;
    double constant = 0;
  };
  Costs costs_of(const Multipliers& multipliers) const;
  double cost_of(const Costs& costs, int v, int first, int last) const;
  // The cheapest way by virtual stage and its first layer, and the first layer of the stage before
  // on that way.
  struct Ways {
    std::vector<std::vector<double>> cost;
    std::vector<std::vector<int>> from;
  };
  Ways ways_to(const Costs& costs, OpenIntervals& intervals) const;
  // Closes intervals that lie on no way that costs less than `most`; false if none is left.
  bool close(const Costs& costs, const Ways& ways, OpenIntervals& intervals, double most);

  const PipelineProblem& problem_;
  const std::vector<StageGroup>& groups_;
  int stages_, layers_;
  std::vector<StageTimes> besides_;
  std::vector<const Layer*> types_;
  std::vector<std::size_t> type_of_;
  std::vector<bool> counted_;  // by type
  double most_layers_ = std::numeric_limits<double>::infinity();
  bool struck_out_ = false;
};

}  // namespace search
