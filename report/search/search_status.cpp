// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "report/question_text.hpp"
#include "report/search/search.hpp"
#include "report/search/search_parts.hpp"
#include "report/terminal.hpp"
#include "search/least_gpus.hpp"
#include "search/limits.hpp"
#include "units/ceil_div.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Question;

std::string listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

// Returns the reason why there is no plan at all, if no plan has too many passes.
std::string no_degrees_text(const forecast::Scenario& scenario, bool limited) {
  return fmt::format("no degrees multiply to {} GPUs and divide the model and {} sequences{}",
                     units::with_commas(std::to_string(scenario.cluster.gpus)),
                     units::with_commas(std::to_string(scenario.training.global_batch)),
                     limited ? " as asked" : "");
}

// Returns the words for a search in which no choice of degrees is consistent with the model, the
// cluster, the batch and the limits.
std::string empty_text(const Question& question) {
  const auto& scenario = question.scenario;
  const auto limits = search::limits_of(question.scenario, question.space);
  const auto too_large = search::too_large_in(scenario, question.space);
  std::string text = "no plan is possible: ";
  text += too_large ? too_large->what() : no_degrees_text(scenario, !limits.empty());
  const auto batch = too_large ? std::string() : missing_factor_words(scenario, question.space);
  if (limits.empty())
    return too_large ? text : text + "; change the number of GPUs or training.global_batch" + batch;
  const auto reliefs = search::reliefs(scenario, question.space);
  if (reliefs.empty() && !batch.empty()) return text + "; change training.global_batch" + batch;
  if (reliefs.empty())
    return text + fmt::format("; not even with one of {} left open: loosen several of them",
                              listed(limits));
  text += fmt::format("; there are some if {} is left open", listed(reliefs));
  return batch.empty() ? text : text + ", or with another training.global_batch" + batch;
}

// Returns the advice to keep more outside of devices: what no alternative of the search does.
std::string offload_advice(const Question& question) {
  bool gradients = false, states = false, parameters = false, activations = false;
  for (std::size_t i = 0; i <= question.others.size(); ++i) {
    using enum strategies::Offload::Tier;
    const auto offload = question.scenario_of(i).plan.offload;
    gradients = gradients || offload.gradients;
    states = states || offload.optimizer != none;
    parameters = parameters || offload.parameters != none;
    activations = activations || offload.activations;
  }
  if (!gradients && !states && !parameters && !activations)
    return ", or move states to the host with plan.offload";
  std::vector<std::string_view> left;
  if (!states) left.emplace_back("optimizer states");
  if (!gradients) left.emplace_back("gradients");
  if (!parameters) left.emplace_back("parameters");
  if (!activations) left.emplace_back("activations");
  return left.empty() ? "" : ", or offload " + listed(left) + ", too";
}

// Returns the words for a search that ended before it had simulated a plan that fits.
std::string stopped_text(const Question& question) {
  const auto longer = question.time_limit ? fmt::format("write a search.time_limit above {}",
                                                        units::short_text(*question.time_limit))
                                          : std::string("let it run longer");
  return "stopped before any plan was found that fits: " + longer +
         ", or fix keys of plan, so that there are fewer to look through";
}

}  // namespace

std::string search_progress(const search::Progress& progress) {
  std::string text = fmt::format("{} of {} plans open", grouped_count(progress.open),
                                 grouped_count(progress.enumerated));
  if (progress.best) text += ", best " + units::short_text(*progress.best);
  if (progress.bound) text += ", at least " + units::short_text(*progress.bound);
  return text;
}

std::string no_plan_text(const search::Outcome& outcome) {
  const auto& [question, answer, tried, chosen] = outcome;
  if (auto text = not_enough_text(outcome); !text.empty()) return text;
  if (answer.interrupted && !answer.misfit) return stopped_text(question);
  if (answer.space.enumerated == 0) return empty_text(question);
  if (!answer.misfit) return "no plan";
  const auto& [plan, needed, capacity, node] = *answer.misfit;
  if (!node.empty() && needed <= capacity)
    return fmt::format("nothing fits: under the smallest plan, {}, {}", degrees_words(plan), node);
  std::string text = fmt::format(
      "nothing fits: the smallest plan, {}, needs {} of the {} that each GPU has for it",
      degrees_words(plan), units::short_text(needed), units::short_text(capacity));
  const double headroom = question.memory_headroom;
  const units::Bytes all = capacity * (1 / (1 - headroom));
  if (headroom > 0 && needed <= all)
    return text + fmt::format("; write search.memory_headroom: {:.3g} or less",
                              std::floor((1 - needed / all) * 1000) / 1000);
  text += fmt::format(", {} too much", units::short_text(needed - capacity));
  const auto least = search::least_gpus(question, capacity);
  const auto& cluster = question.scenario.cluster;
  if (least > cluster.gpus)
    text += fmt::format("; weights, gradients and optimizer states alone fill {} GPUs ({} nodes)",
                        units::with_commas(std::to_string(least)),
                        units::with_commas(std::to_string(
                            units::ceil_div(least, std::int64_t{cluster.node.gpus}))));
  if (const auto limits = search::limits_of(question.scenario, question.space); !limits.empty())
    text += fmt::format("; leave {} open", listed(limits));
  return text + "; take more GPUs or larger ones" + offload_advice(question) +
         (node.empty() ? "" : "; " + node);
}

std::string limits_text(const FrameworkLimits& limits, std::optional<units::Seconds> within) {
  auto text = "limits of " + limits.framework + ": ";
  if (!limits.without) return text + "no plan is found without them\n";
  if (within && limits.without->value >= within->value)
    return text + "leaving them would win nothing\n";
  text += within ? fmt::format("leaving them would win {:.2g} %, a step of {:.4g} s",
                               100 * (1 - *limits.without / *within), limits.without->value)
                 : fmt::format("without them a step takes {:.4g} s", limits.without->value);
  for (const auto& sentence : limits.beyond) text += "\n  " + sentence;
  return text + "\n";
}

}  // namespace report
