// SPDX-License-Identifier: Apache-2.0
#include "search/objectives.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "topology/fabric_plan.hpp"

namespace search {
namespace {

using Kind = Objective::Kind;

// No memory holds a batch or a sequence above this.
constexpr std::int64_t most_size = std::int64_t{1} << 40;

Question with_nodes(Question question, std::int64_t nodes) {
  const auto change = [nodes](topology::Cluster& cluster) {
    if (nodes != cluster.nodes()) cluster.gpus = nodes * cluster.node.gpus;
  };
  change(question.scenario.cluster);
  for (auto& other : question.others) change(other.scenario.cluster);
  return question;
}

bool joined(const topology::Cluster& cluster) {
  if (cluster.nodes() < 2) return true;
  try {
    topology::plan_of(cluster);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

class Pursuit {
 public:
  Pursuit(const Question& question, const Options& options)
      : question_(question), options_(options), objective_(question.objective) {}

  Outcome run() {
    switch (objective_.kind) {
      case Kind::step_time:
        return {question_, search(question_, options_)};
      case Kind::smallest_cluster:
        return outcome(smallest_cluster());
      case Kind::cost:
        for (const auto nodes : numbers_of_nodes()) enough(nodes);
        return outcome(cheapest());
      case Kind::largest_batch:
        return outcome(largest(question_.scenario.training.global_batch));
      case Kind::largest_sequence:
        return outcome(largest(question_.scenario.training.sequence_length));
    }
    return {};
  }

 private:
  struct Searched {
    Question question;
    Answer answer;
    Tried tried;
  };

  Question sized(std::int64_t size) const {
    if (objective_.kind == Kind::smallest_cluster || objective_.kind == Kind::cost)
      return with_nodes(question_, size);
    auto question = question_;
    const auto change = [&](forecast::Scenario& scenario, Space& space) {
      if (objective_.kind == Kind::largest_batch) {
        scenario.training.global_batch = size;
        space.accumulate = false;
      } else {
        scenario.training.sequence_length = size;
      }
    };
    change(question.scenario, question.space);
    for (auto& other : question.others) change(other.scenario, other.space);
    return question;
  }

  // Searches at this size, once; returns whether it is enough.
  bool enough(std::int64_t size) {
    if (const auto known = searched_.find(size); known != searched_.end())
      return known->second.tried.enough;
    if (options_.stop != nullptr && options_.stop->load()) {
      interrupted_ = true;
      return false;
    }
    Searched one{sized(size), {}, {.size = size}};
    const auto& cluster = one.question.scenario.cluster;
    if (joined(cluster)) one.answer = search(one.question, options_);
    interrupted_ = interrupted_ || one.answer.interrupted;
    one.tried.possible = one.answer.space.enumerated > 0;
    if (!one.answer.plans.empty()) {
      const auto& step = one.answer.plans.front().forecast.step;
      one.tried.step = step;
      one.tried.cost = cost_of(cluster, step);
      one.tried.enough = step.useful_tokens_per_second() >= objective_.rate.value_or(0);
    }
    return searched_.insert_or_assign(size, std::move(one)).first->second.tried.enough;
  }

  std::int64_t most_nodes() const {
    const auto& nodes = objective_.nodes;
    return nodes.most < Values{}.most ? nodes.most : question_.scenario.cluster.nodes();
  }

  // The numbers that are listed; or 1, 2, 4 … within bounds, and both bounds.
  std::vector<std::int64_t> numbers_of_nodes() const {
    if (!objective_.nodes.listed.empty()) return objective_.nodes.listed;
    const auto least = std::max<std::int64_t>(1, objective_.nodes.least);
    const auto most = std::max(least, most_nodes());
    std::vector<std::int64_t> numbers{least};
    std::int64_t doubled = 1;
    while (doubled <= least) doubled *= 2;
    for (; doubled < most; doubled *= 2) numbers.push_back(doubled);
    if (most > least) numbers.push_back(most);
    return numbers;
  }

  std::optional<std::int64_t> smallest_cluster() {
    const auto numbers = numbers_of_nodes();
    const auto first =
        std::ranges::find_if(numbers, [&](std::int64_t nodes) { return enough(nodes); });
    if (first == numbers.end()) return {};
    if (!objective_.nodes.listed.empty() || first == numbers.begin()) return *first;
    auto below = *(first - 1), found = *first;
    while (found - below > 1 && !interrupted_) {
      const auto middle = below + (found - below) / 2;
      (enough(middle) ? found : below) = middle;
    }
    return found;
  }

  std::optional<std::int64_t> cheapest() const {
    std::optional<std::int64_t> best;
    const auto cost = [&](std::int64_t size) {
      const auto& of = searched_.at(size).tried.cost;
      return of.per_token ? of.per_token->value : of.gpu_hours_per_token;
    };
    for (const auto& [size, one] : searched_)
      if (one.tried.enough && (!best || cost(size) < cost(*best))) best = size;
    return best;
  }

  std::optional<std::int64_t> largest(std::int64_t size) {
    if (enough(size)) {
      while (size < most_size && enough(2 * size)) size *= 2;
      return size;
    }
    while (size % 2 == 0 && !interrupted_)
      if (enough(size /= 2)) return size;
    return {};
  }

  // Returns the fastest where none is enough; or else, of those that degrees divide, the one with
  // the best chance that something fits.
  const Searched& closest() const {
    const auto nearness = [](const auto& one) {
      const auto& tried = one.second.tried;
      return std::pair(tried.step ? tried.step->useful_tokens_per_second() : -1, tried.possible);
    };
    const bool smaller =
        objective_.kind == Kind::largest_batch || objective_.kind == Kind::largest_sequence;
    auto best = searched_.begin();
    for (auto one = searched_.begin(); one != searched_.end(); ++one)
      if (nearness(*one) > nearness(*best) || (nearness(*one) == nearness(*best) && !smaller))
        best = one;
    return best->second;
  }

  Outcome outcome(std::optional<std::int64_t> size) {
    if (searched_.empty()) {
      Outcome none{question_, {}};
      none.answer.interrupted = true;
      return none;
    }
    const auto& shown = size ? searched_.at(*size) : closest();
    Outcome outcome{shown.question, shown.answer};
    outcome.answer.interrupted = outcome.answer.interrupted || interrupted_;
    for (const auto& [tried, one] : searched_) {
      if (size && tried == *size) outcome.chosen = outcome.tried.size();
      outcome.tried.push_back(one.tried);
    }
    return outcome;
  }

  const Question& question_;
  const Options& options_;
  const Objective& objective_;
  std::map<std::int64_t, Searched> searched_;  // by size
  bool interrupted_ = false;
};

}  // namespace

Cost cost_of(const topology::Cluster& cluster, const forecast::Step& step) {
  const double hours = step.time.value / 3600;
  Cost cost{hours * static_cast<double>(cluster.gpus) / step.useful_tokens, {}};
  units::Money price;
  for (std::size_t i = 0; i < cluster.kinds(); ++i) {
    const auto& node = cluster.kind(i);
    if (!(node.price.value > 0)) return cost;
    std::int64_t nodes = i > 0 ? cluster.others[i - 1].nodes : cluster.nodes();
    if (i == 0)
      for (const auto& part : cluster.others) nodes -= part.nodes;
    price += static_cast<double>(nodes) * node.price;
  }
  if (cluster.nodes() > 1) price += topology::plan_of(cluster).price.value_or(units::Money{});
  cost.per_token = step.time / write_off / step.useful_tokens * price;
  return cost;
}

Outcome optimise(const Question& question, const Options& options) {
  return Pursuit(question, options).run();
}

}  // namespace search
