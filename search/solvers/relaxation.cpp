// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/solvers/known.hpp"
#include "search/solvers/linear_program.hpp"
#include "search/solvers/row_prices.hpp"

namespace search {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// Sums of doubles are this close; bounds are rounded down by it.
constexpr double rounding = 1e-9;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

Picoseconds rounded_down(double value) {
  return static_cast<Picoseconds>(std::floor(value - rounding * std::abs(value)));
}

}  // namespace

class Relaxation::Impl {
 public:
  explicit Impl(const PipelineProblem& problem)
      : problem_(problem),
        timetable_(problem.order, problem.layout, problem.microbatches, problem.latency,
                   problem.lane),
        groups_(stage_groups(problem)),
        stages_(problem.layout.virtual_stages()),
        layers_(static_cast<int>(problem.chain.layers.size())),
        prices_(problem, groups_),
        membership_(index(stages_)),
        intervals_(problem.chain, problem.stop) {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (std::size_t m = 0; m < groups_[g].members.size(); ++m)
        membership_[index(groups_[g].members[m])] = {g, m};
  }

  const Timetable& timetable() const { return timetable_; }

  // Prices of layers hold below a target only, and loads are those of the problem that priced them.
  std::optional<Picoseconds> bound(Multipliers multipliers) {
    multipliers.layers.clear();
    std::erase_if(multipliers.bytes, [&](const Multipliers::BytePrice& price) {
      return index(price.group) >= groups_.size() ||
             index(price.load) >= groups_[index(price.group)].loads.size();
    });
    auto open = prices_.rows();
    const auto value = prices_.cheapest(multipliers, open, infinite).cost;
    if (value == infinite) return std::nullopt;
    return rounded_down(value);
  }

  Relaxed improve(Picoseconds target, const RelaxationLimits& limits) {
    Relaxed result;
    target_ = target;
    prices_.count_layers(target);
    scale_ = std::max(1.0, static_cast<double>(target));
    limits_ = limits;
    std::vector<Node> open;
    open.push_back({prices_.rows(), 0, start()});
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
        // Of what may be faster than the target; nothing was struck out: of all.
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
    Rows rows;
    Picoseconds bound = 0;
    Multipliers multipliers = {};  // of the bound
    bool none_fits = false;
  };

  struct LoadId {
    std::size_t group, load;
    friend auto operator<=>(const LoadId&, const LoadId&) = default;
  };
  double capacity_of(const LoadId& id) const {
    return std::max(1.0, static_cast<double>(groups_[id.group].loads[id.load].capacity));
  }

  // A partition of the program: its stage times, and what it uses of every group.
  struct Column {
    Placing placing;
    std::vector<StageTimes> times;
    std::vector<Usage> usage;
    std::vector<double> layers;  // counted ones, by group
  };
  Column column_of(Placing placing) const {
    Column column{std::move(placing), {}, {}, std::vector<double>(groups_.size(), 0.0)};
    for (const auto& group : groups_) column.usage.emplace_back(group);
    for (int v = 0; v < stages_; ++v) {
      const int first = column.placing.first_layer[index(v)],
                last = column.placing.first_layer[index(v) + 1];
      auto& times = column.times.emplace_back(intervals_.exchanged(first, last));
      for (const auto part : StageTimes::all()) times.*part += prices_.besides(v).*part;
      ByteCount kept = 0, transient = 0;
      for (int i = first; i < last; ++i) {
        const auto type = prices_.type_of(i);
        const auto& price =
            prices_.types()[type]->price(column.placing.taken[index(v)][type], i + 1 == last);
        times.forward += price.forward;
        times.backward += price.backward;
        times.weight += price.weight;
        kept += price.kept;
        transient = std::max(transient, price.transient);
      }
      const auto [group, member] = membership_[index(v)];
      column.usage[group].add(groups_[group], member, intervals_.fixed(first, last), kept,
                              transient);
      for (int i = first; i < last; ++i) column.layers[group] += prices_.counts(i) ? 1 : 0;
    }
    return column;
  }

  // False if it is known. Its critical path joins the known ones, and the loads that it breaks.
  bool add(Placing placing) {
    const bool fresh = placings_.add(placing);
    if (placings_.size() == columns_.size()) return fresh;
    columns_.push_back(column_of(std::move(placing)));
    const auto& column = columns_.back();
    learn(timetable_.critical_path(column.times));
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (std::size_t l = 0; l < groups_[g].loads.size(); ++l)
        if (column.usage[g].held[l] > groups_[g].loads[l].capacity) note({g, l});
    return true;
  }
  bool learn(const Path& path) { return paths_.add(path); }
  bool note(const LoadId& load) { return loads_.add(load); }

  // An even partition in the fastest ways; the mean of the paths through its devices.
  Multipliers start() {
    Placing even{{}, {}};
    for (int v = 0; v <= stages_; ++v) even.first_layer.push_back(v * layers_ / stages_);
    const auto& types = prices_.types();
    std::vector<int> fastest(types.size(), 0);
    for (std::size_t t = 0; t < types.size(); ++t) {
      const auto& options = types[t]->options;
      fastest[t] = static_cast<int>(std::ranges::min_element(options, {},
                                                             [](const Price& price) {
                                                               return price.forward +
                                                                      price.backward + price.weight;
                                                             }) -
                                    options.begin());
    }
    even.taken.assign(index(stages_), fastest);
    add(std::move(even));
    auto paths = timetable_.device_paths(columns_.back().times);
    Multipliers mean;
    mean.stages.resize(index(stages_));
    const double share = 3.0 / static_cast<double>(paths.size());
    const auto visits = Visits::all();
    const auto weights = Parts<double>::all();
    for (std::size_t k = 0; k < paths.size(); k += 3)  // those along all passes of a device
      for (std::size_t v = 0; v < mean.stages.size(); ++v)
        for (std::size_t i = 0; i < visits.size(); ++i)
          mean.stages[v].*weights[i] += share * (paths[k][v].*visits[i]);
    for (const auto& path : paths) learn(path);
    return mean;
  }

  // Of the partitions whose rows are open.
  struct Mixture {
    std::vector<std::size_t> columns, paths, loads;  // of the program
    LinearSolution solution;
    double on_paths = 0;  // sum of the prices of paths
  };
  Mixture solve(Rows& rows) {
    paths_.next_round(), loads_.next_round(), placings_.next_round();
    Mixture mixture{.paths = paths_.in_use(), .loads = loads_.in_use()};
    for (const auto x : placings_.in_use())
      if (rows.holds(columns_[x].placing.first_layer)) mixture.columns.push_back(x);
    std::vector<std::vector<double>> table;
    std::vector<double> limits;
    for (const auto k : mixture.paths) {
      auto& row = table.emplace_back();
      for (const auto x : mixture.columns)
        row.push_back(static_cast<double>(length(paths_[k], columns_[x].times, problem_.latency)) /
                      scale_);
      limits.push_back(1);
    }
    for (const auto l : mixture.loads) {
      auto& row = table.emplace_back();
      const auto& load = loads_[l];
      const double capacity = capacity_of(load);
      for (const auto x : mixture.columns)
        row.push_back(
            static_cast<double>(columns_[x].usage[load.group].held[load.load]) / capacity - 1);
      limits.push_back(0);
    }
    if (prices_.most_layers() < infinite)
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        auto& row = table.emplace_back();
        for (const auto x : mixture.columns)
          row.push_back(columns_[x].layers[g] / std::max(1.0, prices_.most_layers()) - 1);
        limits.push_back(0);
      }
    mixture.solution = largest_sum(table, limits);
    const auto& prices = mixture.solution.prices;
    for (std::size_t k = 0; k < mixture.paths.size(); ++k) {
      mixture.on_paths += prices[k];
      if (prices[k] > 0) paths_.use(mixture.paths[k]);
    }
    for (std::size_t l = 0; l < mixture.loads.size(); ++l)
      if (prices[mixture.paths.size() + l] > 0) loads_.use(mixture.loads[l]);
    for (std::size_t i = 0; i < mixture.columns.size(); ++i)
      if (mixture.solution.values[i] > 0) placings_.use(mixture.columns[i]);
    return mixture;
  }

  Multipliers multipliers_of(const Mixture& mixture) const {
    Multipliers result;
    result.stages.resize(index(stages_));
    const auto visits = Visits::all();
    const auto weights = Parts<double>::all();
    const double sum = mixture.on_paths < 1e-12 ? 1 : mixture.on_paths;
    for (std::size_t k = 0; k < mixture.paths.size(); ++k) {
      const double share = mixture.solution.prices[k] / sum;
      if (share <= 0) continue;
      const auto& path = paths_[mixture.paths[k]];
      for (std::size_t v = 0; v < path.size(); ++v)
        for (std::size_t i = 0; i < visits.size(); ++i)
          result.stages[v].*weights[i] += share * (path[v].*visits[i]);
    }
    auto price =
        mixture.solution.prices.begin() + static_cast<std::ptrdiff_t>(mixture.paths.size());
    for (const auto l : mixture.loads)
      if (const double each = *price++ / sum; each > 0)
        result.bytes.push_back({static_cast<int>(loads_[l].group), static_cast<int>(loads_[l].load),
                                each * scale_ / capacity_of(loads_[l])});
    if (prices_.most_layers() < infinite)
      for (std::size_t g = 0; g < groups_.size(); ++g)
        result.layers.push_back(*price++ / sum * scale_ / std::max(1.0, prices_.most_layers()));
    return result;
  }

  // A mixture of two: what the program asks for leaps about, what lies between does not (Wentges
  // 1997).
  static Multipliers between(const Multipliers& a, const Multipliers& b, double share_of_a) {
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

  // By the prices that the node comes with.
  bool reaches_target(Node& node, Relaxed& result) {
    auto [cost, placing] =
        prices_.cheapest(node.multipliers, node.rows, static_cast<double>(target_));
    result.multipliers = node.multipliers;
    if (cost == infinite || rounded_down(cost) >= target_) {
      node.bound = target_;
      return true;
    }
    node.bound = std::max(node.bound, rounded_down(cost));
    add(std::move(placing));
    return false;
  }

  // Rounds until the node's bound reaches the target or comes no closer.
  Mixture improve(Node& node, Relaxed& result) {
    constexpr int most_rounds = 60;
    constexpr double converged = 1e-4;
    double held_back = 0.6;  // the more, the less a step helped
    Mixture mixture;
    bool smooth = true;
    if (reaches_target(node, result)) return mixture;
    for (int round = 0; round < most_rounds && result.rounds < limits_.rounds; ++round) {
      ++result.rounds;
      mixture = solve(node.rows);
      if (mixture.columns.empty()) mixture.on_paths = 1;  // any prices will do
      const bool paths = mixture.on_paths >= 1e-12;
      auto multipliers = multipliers_of(mixture);
      smooth = smooth && paths;
      if (smooth) multipliers = between(node.multipliers, multipliers, held_back);
      auto [cost, placing] =
          prices_.cheapest(multipliers, node.rows, paths ? static_cast<double>(target_) : infinite);
      if (!paths) {
        // Prices of bytes that no partition can pay: none fits.
        node.none_fits = cost == infinite || cost > rounding * scale_;
        if (cost == infinite || prices_.most_layers() < infinite) struck_out_ = true;
        if (node.none_fits) return mixture;
        add(std::move(placing));
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
      const bool fresh = add(std::move(placing));
      const bool learnt = learn_from(mixture);
      const double reached = value(mixture);
      if (!learnt && reached < infinite &&
          static_cast<double>(node.bound) >= (1 - converged) * reached)
        break;
      // The same partition again: only the program's own prices can find another.
      if (!fresh && !learnt && !smooth) break;
      smooth = fresh || learnt;
    }
    mixture = solve(node.rows);
    collect(mixture, result);
    return mixture;
  }
  // How long a mixture of partitions takes by the known paths.
  double value(const Mixture& mixture) const {
    double sum = 0;
    for (const auto share : mixture.solution.values) sum += share;
    return sum > 0 ? scale_ / sum : infinite;
  }

  // The critical path of the mixture of partitions, and the loads that it breaks.
  bool learn_from(const Mixture& mixture) {
    double sum = 0;
    for (const auto share : mixture.solution.values) sum += share;
    if (sum <= 0) return false;
    const auto parts = StageTimes::all();
    const auto means = Parts<double>::all();
    std::vector<Parts<double>> mean(index(stages_));
    std::vector<std::vector<double>> held;
    for (const auto& group : groups_) held.emplace_back(group.loads.size(), 0.0);
    for (std::size_t i = 0; i < mixture.columns.size(); ++i) {
      const double share = mixture.solution.values[i] / sum;
      if (share <= 0) continue;
      const auto& column = columns_[mixture.columns[i]];
      for (std::size_t v = 0; v < mean.size(); ++v)
        for (std::size_t k = 0; k < parts.size(); ++k)
          mean[v].*means[k] += share * static_cast<double>(column.times[v].*parts[k]);
      for (std::size_t g = 0; g < held.size(); ++g)
        for (std::size_t l = 0; l < held[g].size(); ++l)
          held[g][l] += share * static_cast<double>(column.usage[g].held[l]);
    }
    std::vector<StageTimes> times(mean.size());
    for (std::size_t v = 0; v < mean.size(); ++v)
      for (std::size_t k = 0; k < parts.size(); ++k)
        times[v].*parts[k] = static_cast<Picoseconds>(mean[v].*means[k]);
    bool learnt = learn(timetable_.critical_path(times));
    for (std::size_t g = 0; g < held.size(); ++g)
      for (std::size_t l = 0; l < held[g].size(); ++l)
        if (held[g][l] > (1 + 1e-7) * static_cast<double>(groups_[g].loads[l].capacity))
          learnt |= note({g, l});
    return learnt;
  }

  // Where the partitions of a mixture cut, those with the largest shares first.
  void collect(const Mixture& mixture, Relaxed& result) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < mixture.columns.size(); ++i)
      if (mixture.solution.values[i] > 0) order.push_back(i);
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t i) { return mixture.solution.values[i]; });
    for (const auto i : order) {
      if (result.cuts.size() >= limits_.cuts) break;
      const auto& cut = columns_[mixture.columns[i]].placing.first_layer;
      if (std::ranges::find(result.cuts, cut) == result.cuts.end()) result.cuts.push_back(cut);
    }
  }

  // The cut that the mixture is least decided about: at or before the place, or behind it. False if
  // there is none.
  bool branch(const Node& node, const Mixture& mixture, std::vector<Node>& open) const {
    double sum = 0;
    for (const auto share : mixture.solution.values) sum += share;
    if (sum <= 0) return false;
    double widest = 1e-6;
    int boundary = -1, place = 0;
    for (int v = 1; v < stages_; ++v) {
      double mean = 0;
      for (std::size_t i = 0; i < mixture.columns.size(); ++i)
        mean += mixture.solution.values[i] / sum *
                columns_[mixture.columns[i]].placing.first_layer[index(v)];
      double spread = 0;
      for (std::size_t i = 0; i < mixture.columns.size(); ++i)
        spread += mixture.solution.values[i] / sum *
                  std::abs(columns_[mixture.columns[i]].placing.first_layer[index(v)] - mean);
      if (spread <= widest) continue;
      widest = spread;
      boundary = v;
      place = static_cast<int>(std::floor(mean));
    }
    if (boundary < 0) return false;
    for (const bool behind : {false, true}) {
      Node child = node;
      const int width = child.rows.width();
      for (int first = 0; first < width; ++first)
        for (int last = first; last < width; ++last)
          if ((first + boundary > place) != behind) child.rows.open(boundary, first, last) = 0;
      open.push_back(std::move(child));
    }
    return true;
  }

  const PipelineProblem& problem_;
  Timetable timetable_;
  std::vector<StageGroup> groups_;
  int stages_, layers_;
  RowPrices prices_;
  struct Membership {
    std::size_t group = 0, member = 0;
  };
  std::vector<Membership> membership_;  // by virtual stage
  Intervals intervals_;
  Picoseconds target_ = 0;
  double scale_ = 1;  // picoseconds; the program's unit of time
  RelaxationLimits limits_;
  bool struck_out_ = false;  // some partition, other than by closed rows
  Known<Path> paths_;
  Known<LoadId> loads_;
  Known<Placing> placings_;
  std::vector<Column> columns_;  // of the placings
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
