// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/mixture_program.hpp"

#include <algorithm>
#include <limits>

namespace search {

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

RelaxedPipeline::RelaxedPipeline(const PipelineProblem& problem_)
    : problem(problem_),
      timetable(problem_.order, problem_.layout, problem_.microbatches, problem_.latency,
                problem_.lane),
      groups(stage_groups(problem_)),
      stages(problem_.layout.virtual_stages()),
      layers(static_cast<int>(problem_.chain.layers.size())),
      membership(index(stages)) {
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t m = 0; m < groups[g].members.size(); ++m)
      membership[index(groups[g].members[m])] = {g, m};
}

double MixtureProgram::capacity_of(const LoadId& id) const {
  return std::max(1.0, static_cast<double>(pipeline_.groups[id.group].loads[id.load].capacity));
}

bool MixtureProgram::counts_layers() const {
  return prices_.most_layers() < std::numeric_limits<double>::infinity();
}

MixtureProgram::Column MixtureProgram::column_of(Placing placing) {
  Column column{std::move(placing), {}, {}, std::vector<double>(pipeline_.groups.size(), 0.0)};
  for (const auto& group : pipeline_.groups) column.usage.emplace_back(group);
  for (int v = 0; v < pipeline_.stages; ++v) {
    const int first = column.placing.first_layer[index(v)],
              last = column.placing.first_layer[index(v) + 1];
    auto& times = column.times.emplace_back(frontiers_.exchanged(first, last));
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
    const auto [group, member] = pipeline_.membership[index(v)];
    column.usage[group].add(pipeline_.groups[group], member, frontiers_.fixed(first, last), kept,
                            transient);
    for (int i = first; i < last; ++i) column.layers[group] += prices_.counts(i) ? 1 : 0;
  }
  return column;
}

bool MixtureProgram::add(Placing placing) {
  const bool fresh = placings_.add(placing);
  if (placings_.size() == columns_.size()) return fresh;
  columns_.push_back(column_of(std::move(placing)));
  const auto& column = columns_.back();
  paths_.add(pipeline_.timetable.critical_path(column.times));
  for (std::size_t g = 0; g < pipeline_.groups.size(); ++g)
    for (std::size_t l = 0; l < pipeline_.groups[g].loads.size(); ++l)
      if (column.usage[g].held[l] > pipeline_.groups[g].loads[l].capacity) loads_.add({g, l});
  return true;
}

Multipliers MixtureProgram::begin() {
  Placing even{{}, {}};
  for (int v = 0; v <= pipeline_.stages; ++v)
    even.first_layer.push_back(v * pipeline_.layers / pipeline_.stages);
  const auto& types = prices_.types();
  std::vector<int> fastest(types.size(), 0);
  for (std::size_t t = 0; t < types.size(); ++t) {
    const auto& options = types[t]->options;
    fastest[t] = static_cast<int>(std::ranges::min_element(options, {},
                                                           [](const Price& price) {
                                                             return price.forward + price.backward +
                                                                    price.weight;
                                                           }) -
                                  options.begin());
  }
  even.taken.assign(index(pipeline_.stages), fastest);
  add(std::move(even));
  auto paths = pipeline_.timetable.device_paths(columns_.back().times);
  Multipliers mean;
  mean.stages.resize(index(pipeline_.stages));
  const double share = 3.0 / static_cast<double>(paths.size());
  const auto visits = Visits::all();
  const auto weights = Parts<double>::all();
  for (std::size_t k = 0; k < paths.size(); k += 3)  // paths along all passes of a device
    for (std::size_t v = 0; v < mean.stages.size(); ++v)
      for (std::size_t i = 0; i < visits.size(); ++i)
        mean.stages[v].*weights[i] += share * (paths[k][v].*visits[i]);
  for (const auto& path : paths) paths_.add(path);
  return mean;
}

Mixture MixtureProgram::solve(OpenIntervals& intervals, double scale) {
  paths_.next_round(), loads_.next_round(), placings_.next_round();
  Mixture mixture{.paths = paths_.in_use(), .loads = loads_.in_use(), .scale = scale};
  for (const auto x : placings_.in_use())
    if (intervals.holds(columns_[x].placing.first_layer)) mixture.columns.push_back(x);
  std::vector<std::vector<double>> table;
  std::vector<double> limits;
  for (const auto k : mixture.paths) {
    auto& row = table.emplace_back();
    for (const auto x : mixture.columns)
      row.push_back(
          static_cast<double>(length(paths_[k], columns_[x].times, pipeline_.problem.latency)) /
          scale);
    limits.push_back(1);
  }
  for (const auto l : mixture.loads) {
    auto& row = table.emplace_back();
    const auto& load = loads_[l];
    const double capacity = capacity_of(load);
    for (const auto x : mixture.columns)
      row.push_back(static_cast<double>(columns_[x].usage[load.group].held[load.load]) / capacity -
                    1);
    limits.push_back(0);
  }
  if (counts_layers())
    for (std::size_t g = 0; g < pipeline_.groups.size(); ++g) {
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

Multipliers MixtureProgram::multipliers_of(const Mixture& mixture) const {
  Multipliers result;
  result.stages.resize(index(pipeline_.stages));
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
  auto price = mixture.solution.prices.begin() + static_cast<std::ptrdiff_t>(mixture.paths.size());
  for (const auto l : mixture.loads)
    if (const double each = *price++ / sum; each > 0)
      result.bytes.push_back({static_cast<int>(loads_[l].group), static_cast<int>(loads_[l].load),
                              each * mixture.scale / capacity_of(loads_[l])});
  if (counts_layers())
    for (std::size_t g = 0; g < pipeline_.groups.size(); ++g)
      result.layers.push_back(*price++ / sum * mixture.scale /
                              std::max(1.0, prices_.most_layers()));
  return result;
}

bool MixtureProgram::learn_from(const Mixture& mixture) {
  const double sum = mixture.parts();
  if (sum <= 0) return false;
  const auto parts = StageTimes::all();
  const auto means = Parts<double>::all();
  std::vector<Parts<double>> mean(index(pipeline_.stages));
  std::vector<std::vector<double>> held;
  for (const auto& group : pipeline_.groups) held.emplace_back(group.loads.size(), 0.0);
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
  bool learnt = paths_.add(pipeline_.timetable.critical_path(times));
  for (std::size_t g = 0; g < held.size(); ++g)
    for (std::size_t l = 0; l < held[g].size(); ++l)
      if (held[g][l] > (1 + 1e-7) * static_cast<double>(pipeline_.groups[g].loads[l].capacity))
        learnt |= loads_.add({g, l});
  return learnt;
}

}  // namespace search
