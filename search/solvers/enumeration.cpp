// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/enumeration.hpp"

#include <algorithm>
#include <tuple>

#include "search/solvers/stage_groups.hpp"

namespace search {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

const Price& price_of(const PipelineProblem& problem, std::size_t layer, const Choice& choice,
                      bool last = false) {
  return problem.chain.layers[layer].price(choice.option, last);
}

// The order in which the ways of alike layers of a stage come: ways that regroup stand together and
// share exchanges.
std::tuple<bool, ByteCount, int> rank_of(const Layer& layer, int option) {
  return {option >= layer.first_regrouped, layer.options[at(option)].kept, option};
}

// Bytes by which the fullest device exceeds its capacity, as excess(); `groups` are stage_groups()
// of the problem.
ByteCount excess_of(const PipelineProblem& problem, const std::vector<StageGroup>& groups,
                    const Partition& partition) {
  auto most = std::numeric_limits<ByteCount>::min();
  for (const auto& group : groups) {
    Usage usage(group);
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const auto v = at(group.members[m]);
      ByteCount fixed = 0, kept = 0, transient = 0;
      auto layer = at(partition.first_layer[v]);
      for (const auto& choice : partition.choices[v]) {
        const auto& price =
            price_of(problem, layer, choice, &choice == &partition.choices[v].back());
        fixed += problem.chain.layers[layer].fixed;
        kept += price.kept;
        transient = std::max(transient, price.transient);
        ++layer;
      }
      usage.add(group, m, fixed, kept, transient);
    }
    for (std::size_t l = 0; l < group.loads.size(); ++l)
      most = std::max(most, usage.held[l] + usage.transient - group.loads[l].capacity);
  }
  return most;
}

class Enumeration {
 public:
  Enumeration(const PipelineProblem& problem, const Timetable& timetable, std::size_t most)
      : problem_(problem),
        timetable_(timetable),
        groups_(stage_groups(problem)),
        frontiers_(problem.chain, problem.stop),
        most_(most),
        stages_(problem.layout.virtual_stages()),
        layers_(static_cast<int>(problem.chain.layers.size())) {
    ranges_ = problem.ranges;
    ranges_.resize(at(stages_));
  }

  std::optional<std::vector<Partition>> run() {
    partition_.first_layer = {0};
    cut(0);
    if (seen_ > most_) return std::nullopt;
    return std::move(found_);
  }

 private:
  void cut(int stage) {
    if (seen_ > most_) return;
    const int first = partition_.first_layer.back();
    if (stage == stages_) {
      if (first == layers_) choose(0, {});
      return;
    }
    const int behind = stages_ - 1 - stage;
    for (int last = behind == 0 ? layers_ : first + 1; last <= layers_ - behind; ++last) {
      if (!ranges_[at(stage)].takes(last - first)) continue;
      partition_.first_layer.push_back(last);
      cut(stage + 1);
      partition_.first_layer.pop_back();
    }
  }

  // Chooses ways for the layers of a stage, in order: alike layers each keep as much as the one
  // before, unless neighbours matter.
  void choose(int stage, std::vector<Choice> chosen) {
    if (seen_ > most_) return;
    if (stage == stages_) return note();
    const auto first = at(partition_.first_layer[at(stage)]),
               last = at(partition_.first_layer[at(stage) + 1]);
    if (first + chosen.size() == last) {
      partition_.choices.push_back(std::move(chosen));
      choose(stage + 1, {});
      partition_.choices.pop_back();
      return;
    }
    const auto layer = first + chosen.size();
    const auto& here = problem_.chain.layers[layer];
    const Choice* alike = nullptr;
    for (std::size_t i = layer; i-- > first && alike == nullptr && !problem_.neighbours_matter;)
      if (problem_.chain.layers[i] == here) alike = &chosen[i - first];
    for (int o = 0; o < static_cast<int>(here.options.size()); ++o) {
      if (alike != nullptr && rank_of(here, o) < rank_of(here, alike->option)) continue;
      auto more = chosen;
      more.push_back({1, o});
      choose(stage, std::move(more));
    }
  }

  void note() {
    if (++seen_ > most_ || excess_of(problem_, groups_, partition_) > 0) return;
    write_times(problem_, frontiers_, timetable_, partition_);
    found_.push_back(partition_);
  }

  const PipelineProblem& problem_;
  const Timetable& timetable_;
  std::vector<StageGroup> groups_;
  IntervalFrontiers frontiers_;
  std::size_t most_, seen_ = 0;
  int stages_, layers_;
  std::vector<PipelineProblem::LayerRange> ranges_;
  Partition partition_;
  std::vector<Partition> found_;
};

}  // namespace

std::optional<std::vector<Partition>> every_partition(const PipelineProblem& problem,
                                                      const Timetable& timetable,
                                                      std::size_t most) {
  return Enumeration(problem, timetable, most).run();
}

void write_times(const PipelineProblem& problem, IntervalFrontiers& frontiers,
                 const Timetable& timetable, Partition& partition) {
  partition.stages.clear();
  for (std::size_t v = 0; v < partition.choices.size(); ++v) {
    const int first = partition.first_layer[v];
    auto& times =
        partition.stages.emplace_back(frontiers.exchanged(first, partition.first_layer[v + 1]));
    for (std::size_t i = 0; i < partition.choices[v].size(); ++i) {
      const bool is_last = i + 1 == partition.choices[v].size();
      const auto& price = price_of(problem, at(first) + i, partition.choices[v][i], is_last);
      times.forward += price.forward;
      times.backward += price.backward;
      times.weight += price.weight;
    }
    if (!problem.besides.empty())
      for (const auto part : StageTimes::all()) times.*part += problem.besides[v].*part;
  }
  partition.makespan = timetable.makespan(partition.stages);
}

ByteCount excess(const PipelineProblem& problem, const Partition& partition) {
  return excess_of(problem, stage_groups(problem), partition);
}

void sort_choices(const PipelineProblem& problem, Partition& partition) {
  for (std::size_t v = 0; v < partition.choices.size(); ++v) {
    auto& choices = partition.choices[v];
    const auto first = at(partition.first_layer[v]);
    const auto& layers = problem.chain.layers;
    // Sorts by selection among alike layers: stages are short.
    for (std::size_t i = 0; i < choices.size(); ++i)
      for (std::size_t j = i + 1; j < choices.size(); ++j) {
        if (!(layers[first + i] == layers[first + j])) continue;
        const auto& alike = layers[first + i];
        if (rank_of(alike, choices[j].option) < rank_of(alike, choices[i].option))
          std::swap(choices[i], choices[j]);
      }
  }
}

}  // namespace search
