// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/solvers/mixture_program.hpp"

namespace search {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// Sums of doubles are exact to this share; bounds are rounded down by it.
constexpr double rounding = 1e-9;

Picoseconds rounded_down(double value) {
  return static_cast<Picoseconds>(std::floor(value - rounding * std::abs(value)));
}

// The time of a mixture of partitions by the known paths.
double value_of(const Mixture& mixture) {
  const double sum = mixture.parts();
  return sum > 0 ? mixture.scale / sum : infinite;
}

// A mixture of two sets of multipliers: those that the program asks for leap about, those between
// do not (Wentges 1997).
Multipliers between(const Multipliers& a, const Multipliers& b, double share_of_a) {
  Multipliers result = b;
  for (std::size_t v = 0; v < a.stages.size(); ++v)
    for (const auto part : Parts<double>::all())
      result.stages[v].*part =
          share_of_a * (a.stages[v].*part) + (1 - share_of_a) * (b.stages[v].*part);
  for (auto& bytes : result.bytes) bytes.price *= 1 - share_of_a;
  for (const auto& bytes : a.bytes) {
    const auto same = std::ranges::find_if(result.bytes, [&](const auto& other) {
      return other.group == bytes.group && other.load == bytes.load;
    });
    if (same != result.bytes.end())
      same->price += share_of_a * bytes.price;
    else
      result.bytes.push_back({bytes.group, bytes.load, share_of_a * bytes.price});
  }
  for (double& price : result.layers) price *= 1 - share_of_a;
  for (std::size_t g = 0; g < std::min(a.layers.size(), result.layers.size()); ++g)
    result.layers[g] += share_of_a * a.layers[g];
  return result;
}

}  // namespace

class Relaxation::Impl {
 public:
  explicit Impl(const PipelineProblem& problem)
      : pipeline_(problem), prices_(problem, pipeline_.groups), program_(pipeline_, prices_) {}

  const Timetable& timetable() const { return pipeline_.timetable; }

  // Prices of layers hold below a target only, and loads are those of the problem that priced them:
  // others are left out.
  std::optional<Picoseconds> bound(Multipliers multipliers) {
    multipliers.layers.clear();
    std::erase_if(multipliers.bytes, [&](const Multipliers::BytePrice& price) {
      const auto group = static_cast<std::size_t>(price.group);
      return group >= pipeline_.groups.size() ||
             static_cast<std::size_t>(price.load) >= pipeline_.groups[group].loads.size();
    });
    auto open = prices_.intervals();
    const auto value = prices_.cheapest(multipliers, open, infinite).cost;
    if (value == infinite) return std::nullopt;
    return rounded_down(value);
  }

  Relaxed improve(Picoseconds target, const RelaxationLimits& limits) {
    Relaxed result;
    target_ = target;
    prices_.count_layers(target);
    limits_ = limits;
    std::vector<Node> open;
    open.push_back({prices_.intervals(), 0, program_.begin()});
    std::optional<Picoseconds> low;  // over nodes that are closed for good
    for (int nodes = 0; !open.empty(); ++nodes) {
      // The node with the least bound is the one to improve.
      const auto next = std::ranges::min_element(open, {}, &Node::bound);
      Node node = std::move(*next);
      open.erase(next);
      if (nodes >= limits.nodes || result.rounds >= limits.rounds) {
        low = std::min(low.value_or(node.bound), node.bound);
        continue;
      }
      const auto mixture = improve(node, result);
      if (node.none_fits) {
        // The target bounds partitions that may be faster; if nothing was struck out, no partition
        // at all fits.
        if (struck_out_ || prices_.struck_out() || nodes > 0)
          low = std::min(low.value_or(target), target);
        continue;
      }
      if (node.bound >= target || !branch(node, mixture, open))
        low = std::min(low.value_or(node.bound), node.bound);
    }
    result.lower_bound = low;
    return result;
  }

 private:
  struct Node {
    OpenIntervals intervals;
    Picoseconds bound = 0;
    Multipliers multipliers = {};  // of the bound
    bool none_fits = false;
  };

  // The unit of time of programs, in picoseconds.
  double scale() const { return std::max(1.0, static_cast<double>(target_)); }

  // Raises the node's bound by the prices that it comes with; returns whether it reaches the
  // target.
  bool reaches_target(Node& node, Relaxed& result) {
    auto [cost, placing] =
        prices_.cheapest(node.multipliers, node.intervals, static_cast<double>(target_));
    result.multipliers = node.multipliers;
    if (cost == infinite || rounded_down(cost) >= target_) {
      node.bound = target_;
      return true;
    }
    node.bound = std::max(node.bound, rounded_down(cost));
    program_.add(std::move(placing));
    return false;
  }

  // A round may take a second, and there are many.
  void stop_if_told() const {
    const auto* stop = pipeline_.problem.stop;
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw Stopped{};
  }

  // Improves the node in rounds until its bound reaches the target or comes no closer.
  Mixture improve(Node& node, Relaxed& result) {
    constexpr int most_rounds = 60;
    constexpr double converged = 1e-4;
    double held_back = 0.6;  // the more, the less a step helped
    Mixture mixture;
    bool smooth = true;
    if (reaches_target(node, result)) return mixture;
    for (int round = 0; round < most_rounds && result.rounds < limits_.rounds; ++round) {
      stop_if_told();
      ++result.rounds;
      mixture = program_.solve(node.intervals, scale());
      if (mixture.columns.empty()) mixture.on_paths = 1;  // any prices will do
      const bool paths = mixture.on_paths >= 1e-12;
      auto multipliers = program_.multipliers_of(mixture);
      smooth = smooth && paths;
      if (smooth) multipliers = between(node.multipliers, multipliers, held_back);
      auto [cost, placing] = prices_.cheapest(multipliers, node.intervals,
                                              paths ? static_cast<double>(target_) : infinite);
      if (!paths) {
        // Bytes have prices that no partition can pay: none fits.
        node.none_fits = cost == infinite || cost > rounding * scale();
        if (cost == infinite || prices_.most_layers() < infinite) struck_out_ = true;
        if (node.none_fits) return mixture;
        program_.add(std::move(placing));
        continue;
      }
      if (cost == infinite || rounded_down(cost) >= target_) {
        node.bound = target_;
        node.multipliers = result.multipliers = std::move(multipliers);
        return mixture;
      }
      const auto low = rounded_down(cost);
      held_back = low > node.bound ? std::max(0.3, held_back - 0.15)
                                   : std::min(0.97, 1 - 0.6 * (1 - held_back));
      if (low > node.bound) {
        node.bound = low;
        node.multipliers = std::move(multipliers);
        result.multipliers = node.multipliers;
      }
      const bool fresh = program_.add(std::move(placing));
      const bool learnt = program_.learn_from(mixture);
      const double reached = value_of(mixture);
      if (!learnt && reached < infinite &&
          static_cast<double>(node.bound) >= (1 - converged) * reached)
        break;
      // The same partition again: only the program's own prices can find another.
      if (!fresh && !learnt && !smooth) break;
      smooth = fresh || learnt;
    }
    mixture = program_.solve(node.intervals, scale());
    collect(mixture, result);
    return mixture;
  }
  // Collects the cuts of a mixture's partitions, those with the largest shares first.
  void collect(const Mixture& mixture, Relaxed& result) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < mixture.columns.size(); ++i)
      if (mixture.solution.values[i] > 0) order.push_back(i);
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t i) { return mixture.solution.values[i]; });
    for (const auto i : order) {
      if (result.cuts.size() >= limits_.cuts) break;
      const auto& cut = program_.cut_at(mixture, i);
      if (std::ranges::find(result.cuts, cut) == result.cuts.end()) result.cuts.push_back(cut);
    }
  }

  // Branches on the cut that the mixture is least decided about: at or before the place, or behind
  // it. False if there is none.
  bool branch(const Node& node, const Mixture& mixture, std::vector<Node>& open) const {
    const double sum = mixture.parts();
    if (sum <= 0) return false;
    double widest = 1e-6;
    int boundary = -1, place = 0;
    for (int v = 1; v < pipeline_.stages; ++v) {
      double mean = 0;
      for (std::size_t i = 0; i < mixture.columns.size(); ++i)
        mean += mixture.solution.values[i] / sum *
                program_.cut_at(mixture, i)[static_cast<std::size_t>(v)];
      double spread = 0;
      for (std::size_t i = 0; i < mixture.columns.size(); ++i)
        spread += mixture.solution.values[i] / sum *
                  std::abs(program_.cut_at(mixture, i)[static_cast<std::size_t>(v)] - mean);
      if (spread <= widest) continue;
      widest = spread;
      boundary = v;
      place = static_cast<int>(std::floor(mean));
    }
    if (boundary < 0) return false;
    for (const bool behind : {false, true}) {
      Node child = node;
      const int width = child.intervals.width();
      for (int first = 0; first < width; ++first)
        for (int last = first; last < width; ++last)
          if ((first + boundary > place) != behind) child.intervals.open(boundary, first, last) = 0;
      open.push_back(std::move(child));
    }
    return true;
  }

  const RelaxedPipeline pipeline_;
  IntervalPrices prices_;
  MixtureProgram program_;
  Picoseconds target_ = 0;
  RelaxationLimits limits_;
  bool struck_out_ = false;  // some partition was, other than by closed intervals
};

Relaxation::Relaxation(const PipelineProblem& problem) : impl_(std::make_unique<Impl>(problem)) {}
Relaxation::~Relaxation() = default;

std::optional<Picoseconds> Relaxation::bound(const Multipliers& multipliers) {
  return impl_->bound(multipliers);
}
Relaxed Relaxation::improve(Picoseconds target, const RelaxationLimits& limits) {
  return impl_->improve(target, limits);
}
const Timetable& Relaxation::timetable() const { return impl_->timetable(); }

}  // namespace search
