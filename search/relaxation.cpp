// SPDX-License-Identifier: Apache-2.0
#include "search/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "search/linear_program.hpp"
#include "search/stage_groups.hpp"

namespace search {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// Sums of doubles are this close; bounds are rounded down by it.
constexpr double rounding = 1e-9;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Picoseconds rounded_down(double value) {
  return static_cast<Picoseconds>(std::floor(value - rounding * std::abs(value)));
}

// Which layers sit where, and the option that each type of layer takes there.
struct Placing {
  std::vector<int> first_layer;         // by virtual stage, then the number of layers
  std::vector<std::vector<int>> taken;  // by virtual stage and type of layer
  friend auto operator<=>(const Placing&, const Placing&) = default;
};

// Things that a linear program is made of, each once. Those that had no part in the last rounds are
// left out, until they are found again.
template <class Thing>
class Known {
 public:
  // False if it is there and in use.
  bool add(const Thing& thing) {
    const auto [found, fresh] = places_.try_emplace(thing, used_.size());
    if (fresh) {
      used_.push_back(round_);
      things_.push_back(&found->first);
      return true;
    }
    const bool idle = !in_use(found->second);
    used_[found->second] = round_;
    return idle;
  }
  void next_round() { ++round_; }
  void use(std::size_t i) { used_[i] = round_; }
  std::vector<std::size_t> in_use() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (in_use(i)) all.push_back(i);
    return all;
  }
  std::size_t size() const { return used_.size(); }
  const Thing& operator[](std::size_t i) const { return *things_[i]; }

 private:
  static constexpr int rounds_idle = 15;
  bool in_use(std::size_t i) const { return used_[i] + rounds_idle >= round_; }
  std::map<Thing, std::size_t> places_;
  std::vector<const Thing*> things_;
  std::vector<int> used_;
  int round_ = 0;
};

// Rows that virtual stages may hold: stage v begins with one of the layers v … v + slack.
class Rows {
 public:
  Rows(int stages, int layers)
      : stages_(stages),
        width_(layers - stages + 1),
        open_(at(stages) * at(width_) * at(width_), 1) {}
  int width() const { return width_; }
  // Places: the first layer − v, and the first one behind − (v + 1); first ≤ last.
  char& open(int v, int first, int last) {
    return open_[(at(v) * at(width_) + at(first)) * at(width_) + at(last)];
  }
  bool holds(const std::vector<int>& first_layer) {
    for (int v = 0; v < stages_; ++v)
      if (!open(v, first_layer[at(v)] - v, first_layer[at(v) + 1] - v - 1)) return false;
    return first_layer.front() == 0;
  }

 private:
  int stages_, width_;
  std::vector<char> open_;
};

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
        besides_(problem.besides),
        membership_(at(stages_)),
        intervals_(problem.chain) {
    besides_.resize(at(stages_));
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (std::size_t m = 0; m < groups_[g].members.size(); ++m)
        membership_[at(groups_[g].members[m])] = {g, m};
    find_types();
    counted_.assign(types_.size(), false);
  }

  const Timetable& timetable() const { return timetable_; }

  // Prices of layers hold below a target only, and loads are those of the problem that priced them.
  std::optional<Picoseconds> bound(Multipliers multipliers) {
    multipliers.layers.clear();
    std::erase_if(multipliers.bytes, [&](const Multipliers::BytePrice& price) {
      return at(price.group) >= groups_.size() ||
             at(price.load) >= groups_[at(price.group)].loads.size();
    });
    auto open = rows();
    const auto value = cheapest(multipliers, open, infinite).cost;
    if (value == infinite) return std::nullopt;
    return rounded_down(value);
  }

  Relaxed improve(Picoseconds target, const RelaxationLimits& limits) {
    Relaxed result;
    target_ = target;
    count_layers();
    scale_ = std::max(1.0, static_cast<double>(target));
    limits_ = limits;
    std::vector<Node> open;
    open.push_back({rows(), 0, start()});
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
        if (struck_out_ || nodes > 0) low = std::min(low.value_or(target), target);
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

  Rows rows() const {
    Rows rows(stages_, layers_);
    for (int v = 0; v < static_cast<int>(problem_.rooms.size()); ++v)
      for (int first = 0; first < rows.width(); ++first)
        for (int last = first; last < rows.width(); ++last)
          if (!problem_.rooms[at(v)].takes(last - first + 1)) rows.open(v, first, last) = 0;
    return rows;
  }

  // Layers that are alike.
  void find_types() {
    for (const auto& layer : problem_.chain.layers) {
      const auto known =
          std::ranges::find_if(types_, [&](const Layer* type) { return *type == layer; });
      type_of_.push_back(static_cast<std::size_t>(known - types_.begin()));
      if (known == types_.end()) types_.push_back(&layer);
    }
  }

  // The layers of the usual type, and those that take no less, on a device: so many at most take
  // less than the target.
  void count_layers() {
    std::vector<std::size_t> many(types_.size(), 0);
    for (const auto type : type_of_) ++many[type];
    const auto usual = static_cast<std::size_t>(std::ranges::max_element(many) - many.begin());
    std::vector<double> work;
    for (const auto* type : types_) {
      double least = infinite;
      for (const auto& way : type->options)
        least = std::min(least, static_cast<double>(way.forward + way.backward + way.weight));
      work.push_back(problem_.microbatches * least + static_cast<double>(type->update));
    }
    double between = infinite;
    for (const auto& group : groups_) {
      double sum = 0;
      for (const auto v : group.members)
        sum += static_cast<double>(std::max<Picoseconds>(0, besides_[at(v)].update));
      between = std::min(between, sum);
    }
    counted_.assign(types_.size(), false);
    for (std::size_t t = 0; t < types_.size(); ++t) counted_[t] = work[t] >= work[usual];
    // Mirrored, two devices share a group.
    const double devices =
        static_cast<double>(problem_.order.size()) / static_cast<double>(groups_.size());
    most_layers_ =
        devices * std::floor((static_cast<double>(target_) - between) / std::max(1.0, work[usual]));
    if (devices != 1 || most_layers_ >= layers_) most_layers_ = infinite;
  }

  struct LoadId {
    std::size_t group, load;
    friend auto operator<=>(const LoadId&, const LoadId&) = default;
  };
  double capacity_of(const LoadId& id) const {
    return std::max(1.0, static_cast<double>(groups_[id.group].loads[id.load].capacity));
  }

  // Of each virtual stage: what bytes cost there, kept ones of a microbatch and fixed ones.
  struct BytePrices {
    double kept = 0, fixed = 0, layer = 0;
  };
  std::vector<BytePrices> byte_prices(const Multipliers& multipliers) const {
    std::vector<BytePrices> prices(at(stages_));
    for (const auto& [group, load, price] : multipliers.bytes) {
      const auto& g = groups_[at(group)];
      for (std::size_t m = 0; m < g.members.size(); ++m) {
        auto& of = prices[at(g.members[m])];
        of.kept += price * g.loads[at(load)].in_flight[m];
        of.fixed += price;
      }
    }
    for (std::size_t g = 0; g < multipliers.layers.size(); ++g)
      for (const auto v : groups_[g].members) prices[at(v)].layer = multipliers.layers[g];
    return prices;
  }

  struct Cheapest {
    double cost = infinite;
    Placing placing;
  };

  // What rows cost on a virtual stage: a sum over layers, and what the first and the last one add.
  struct StageCosts {
    double constant = 0;
    std::vector<double> sum;          // of the first so many layers
    std::vector<double> first, last;  // by type
    std::vector<int> taken;           // by type
  };
  StageCosts costs_of(int v, const Multipliers& multipliers, const BytePrices& bytes) const {
    const auto& weights = multipliers.stages[at(v)];
    const auto& more = besides_[at(v)];
    StageCosts costs{.taken = std::vector<int>(types_.size(), 0)};
    const auto parts = StageTimes::all();
    const auto weigh = Parts<double>::all();
    for (std::size_t i = 0; i < parts.size(); ++i)
      costs.constant += weights.*weigh[i] * static_cast<double>(more.*parts[i]);
    costs.constant += weights.messages * static_cast<double>(problem_.latency);
    std::vector<double> each;
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const auto& layer = *types_[t];
      each.push_back(cheapest_option(layer, weights, bytes, costs.taken[t]) +
                     (counted_[t] ? bytes.layer : 0));
      costs.first.push_back(weights.last_unit * static_cast<double>(layer.last_unit));
      costs.last.push_back(weights.first_unit * static_cast<double>(layer.first_unit) -
                           weights.slowed_forward * static_cast<double>(layer.less_slowed_forward) -
                           weights.slowed_backward *
                               static_cast<double>(layer.less_slowed_backward));
    }
    costs.sum.push_back(0);
    for (const auto type : type_of_) costs.sum.push_back(costs.sum.back() + each[type]);
    return costs;
  }
  static double cheapest_option(const Layer& layer, const Parts<double>& weights,
                                const BytePrices& bytes, int& taken) {
    double least = infinite;
    for (std::size_t o = 0; o < layer.options.size(); ++o) {
      const auto& price = layer.options[o];
      const double cost = weights.forward * static_cast<double>(price.forward) +
                          weights.backward * static_cast<double>(price.backward) +
                          weights.weight * static_cast<double>(price.weight) +
                          bytes.kept * static_cast<double>(price.kept);
      if (cost >= least) continue;
      least = cost;
      taken = static_cast<int>(o);
    }
    return least + weights.reduction * static_cast<double>(layer.reduction) +
           weights.gathering * static_cast<double>(layer.gathering) +
           weights.slowed_forward * static_cast<double>(layer.slowed_forward) +
           weights.slowed_backward * static_cast<double>(layer.slowed_backward) +
           weights.update * static_cast<double>(layer.update) +
           bytes.fixed * static_cast<double>(layer.fixed);
  }

  // Of every virtual stage, and what does not depend on where layers are.
  struct Costs {
    std::vector<StageCosts> stages;
    double constant = 0;
  };
  Costs costs_of(const Multipliers& multipliers) const {
    const auto bytes = byte_prices(multipliers);
    Costs costs;
    for (const auto& [group, load, price] : multipliers.bytes)
      costs.constant -= price * static_cast<double>(groups_[at(group)].loads[at(load)].capacity);
    for (const double price : multipliers.layers)
      if (price > 0) costs.constant -= price * most_layers_;
    for (int v = 0; v < stages_; ++v) {
      costs.stages.push_back(costs_of(v, multipliers, bytes[at(v)]));
      costs.constant += costs.stages.back().constant;
    }
    return costs;
  }
  double cost_of(const Costs& costs, int v, int first, int last) const {
    const auto& c = costs.stages[at(v)];
    return c.sum[at(last + v + 1)] - c.sum[at(first + v)] + c.first[type_of_[at(first + v)]] +
           c.last[type_of_[at(last + v)]];
  }

  // By virtual stage and place of its first layer: the cheapest way there, and where the stage
  // before begins on it.
  struct Ways {
    std::vector<std::vector<double>> cost;
    std::vector<std::vector<int>> from;
  };
  Ways ways_to(const Costs& costs, Rows& rows) const {
    const int width = rows.width();
    Ways ways{{at(stages_) + 1, std::vector<double>(at(width), infinite)},
              {at(stages_), std::vector<int>(at(width), -1)}};
    ways.cost[0][0] = costs.constant;
    for (int v = 0; v < stages_; ++v)
      for (int first = 0; first < width; ++first) {
        const double here = ways.cost[at(v)][at(first)];
        if (here == infinite) continue;
        for (int last = first; last < width; ++last) {
          if (!rows.open(v, first, last)) continue;
          const double cost = here + cost_of(costs, v, first, last);
          if (cost >= ways.cost[at(v) + 1][at(last)]) continue;
          ways.cost[at(v) + 1][at(last)] = cost;
          ways.from[at(v)][at(last)] = first;
        }
      }
    return ways;
  }
  // Closes rows on no way that costs less than `most`; false if none is left.
  bool close(const Costs& costs, const Ways& ways, Rows& rows, double most) {
    const int width = rows.width();
    std::vector<double> behind(at(width), infinite), next(at(width));
    behind[at(width) - 1] = 0;
    for (int v = stages_; v-- > 0;) {
      std::ranges::fill(next, infinite);
      for (int first = 0; first < width; ++first)
        for (int last = first; last < width; ++last) {
          auto& open = rows.open(v, first, last);
          if (!open) continue;
          const double cost = cost_of(costs, v, first, last) + behind[at(last)];
          const double whole_way = ways.cost[at(v)][at(first)] + cost;
          if (whole_way < most) {
            next[at(first)] = std::min(next[at(first)], cost);
          } else {
            open = 0;
            struck_out_ |= whole_way < infinite;
          }
        }
      std::swap(behind, next);
    }
    return behind[0] < infinite;
  }

  // The cheapest partition of open rows. Rows that are in none that costs less than `most` close.
  Cheapest cheapest(const Multipliers& multipliers, Rows& rows, double most) {
    const auto costs = costs_of(multipliers);
    const auto ways = ways_to(costs, rows);
    Cheapest result{.cost = ways.cost[at(stages_)].back()};
    if (result.cost == infinite) return result;
    result.placing.first_layer.assign(at(stages_) + 1, layers_);
    for (int v = stages_, last = rows.width() - 1; v-- > 0;) {
      last = ways.from[at(v)][at(last)];
      result.placing.first_layer[at(v)] = last + v;
    }
    for (const auto& stage : costs.stages) result.placing.taken.push_back(stage.taken);
    if (most < infinite && !close(costs, ways, rows, most)) result.cost = infinite;
    return result;
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
      const int first = column.placing.first_layer[at(v)],
                last = column.placing.first_layer[at(v) + 1];
      auto& times = column.times.emplace_back(intervals_.exchanged(first, last));
      for (const auto part : StageTimes::all()) times.*part += besides_[at(v)].*part;
      ByteCount kept = 0, transient = 0;
      for (int i = first; i < last; ++i) {
        const auto type = type_of_[at(i)];
        const auto& price = types_[type]->options[at(column.placing.taken[at(v)][type])];
        times.forward += price.forward;
        times.backward += price.backward;
        times.weight += price.weight;
        kept += price.kept;
        transient = std::max(transient, price.transient);
      }
      const auto [group, member] = membership_[at(v)];
      column.usage[group].add(groups_[group], member, intervals_.fixed(first, last), kept,
                              transient);
      for (int i = first; i < last; ++i) column.layers[group] += counted_[type_of_[at(i)]] ? 1 : 0;
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
    std::vector<int> fastest(types_.size(), 0);
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const auto& options = types_[t]->options;
      fastest[t] = static_cast<int>(std::ranges::min_element(options, {},
                                                             [](const Price& price) {
                                                               return price.forward +
                                                                      price.backward + price.weight;
                                                             }) -
                                    options.begin());
    }
    even.taken.assign(at(stages_), fastest);
    add(std::move(even));
    auto paths = timetable_.device_paths(columns_.back().times);
    Multipliers mean;
    mean.stages.resize(at(stages_));
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
    if (most_layers_ < infinite)
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        auto& row = table.emplace_back();
        for (const auto x : mixture.columns)
          row.push_back(columns_[x].layers[g] / std::max(1.0, most_layers_) - 1);
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
    result.stages.resize(at(stages_));
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
    if (most_layers_ < infinite)
      for (std::size_t g = 0; g < groups_.size(); ++g)
        result.layers.push_back(*price++ / sum * scale_ / std::max(1.0, most_layers_));
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

  // Rounds until the node's bound reaches the target or comes no closer.
  Mixture improve(Node& node, Relaxed& result) {
    constexpr int most_rounds = 60;
    constexpr double converged = 1e-4;
    double held_back = 0.6;  // the more, the less a step helped
    Mixture mixture;
    bool smooth = true;
    if (const auto first = cheapest(node.multipliers, node.rows, static_cast<double>(target_));
        first.cost == infinite || rounded_down(first.cost) >= target_) {
      node.bound = target_;
      result.multipliers = node.multipliers;
      return mixture;
    } else {
      node.bound = std::max(node.bound, rounded_down(first.cost));
      result.multipliers = node.multipliers;
      add(first.placing);
    }
    for (int round = 0; round < most_rounds && result.rounds < limits_.rounds; ++round) {
      ++result.rounds;
      mixture = solve(node.rows);
      if (mixture.columns.empty()) mixture.on_paths = 1;  // any prices will do
      const bool paths = mixture.on_paths >= 1e-12;
      auto multipliers = multipliers_of(mixture);
      smooth = smooth && paths;
      if (smooth) multipliers = between(node.multipliers, multipliers, held_back);
      auto [cost, placing] =
          cheapest(multipliers, node.rows, paths ? static_cast<double>(target_) : infinite);
      if (!paths) {
        // Prices of bytes that no partition can pay: none fits.
        node.none_fits = cost == infinite || cost > rounding * scale_;
        if (cost == infinite || most_layers_ < infinite) struck_out_ = true;
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
    std::vector<Parts<double>> mean(at(stages_));
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
                columns_[mixture.columns[i]].placing.first_layer[at(v)];
      double spread = 0;
      for (std::size_t i = 0; i < mixture.columns.size(); ++i)
        spread += mixture.solution.values[i] / sum *
                  std::abs(columns_[mixture.columns[i]].placing.first_layer[at(v)] - mean);
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
  std::vector<StageTimes> besides_;
  struct Membership {
    std::size_t group = 0, member = 0;
  };
  std::vector<Membership> membership_;  // by virtual stage
  Intervals intervals_;
  std::vector<const Layer*> types_;
  std::vector<std::size_t> type_of_;  // by layer
  Picoseconds target_ = 0;
  double scale_ = 1;  // picoseconds; the program's unit of time
  RelaxationLimits limits_;
  bool struck_out_ = false;        // some row
  std::vector<bool> counted_;      // by type
  double most_layers_ = infinite;  // of these, on the devices of a group
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
