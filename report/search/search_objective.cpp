// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "report/search/search_parts.hpp"
#include "report/terminal.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Outcome;
using search::Tried;
using ObjectiveKind = search::Objective::Kind;

struct Words {
  const char* name;     // in scenarios
  const char* heading;  // of what was chosen
  const char* size;     // what is varied
  const char* key;      // of a scenario, that holds it
  const char* fits;     // of the sizes tried, the chosen one is …
};

Words objective_words(ObjectiveKind kind) {
  switch (kind) {
    case ObjectiveKind::smallest_cluster:
      return {"smallest_cluster", "The smallest cluster", "nodes", "cluster.nodes", "the fewest"};
    case ObjectiveKind::cost:
      return {"cost", "The cheapest cluster", "nodes", "cluster.nodes", "the cheapest"};
    case ObjectiveKind::largest_batch:
      return {"largest_batch", "The largest batch that is held at once", "sequences",
              "training.global_batch", "the largest batch"};
    case ObjectiveKind::largest_sequence:
      return {"largest_sequence", "The largest sequence", "tokens", "training.sequence_length",
              "the longest sequence"};
    case ObjectiveKind::step_time:
      break;
  }
  return {"step_time", "", "", "", ""};
}

bool is_padded(const Outcome& outcome) { return outcome.question.scenario.training.padding > 0; }

// Returns "useful " where some tokens are padding, which counts for nothing in rates and costs.
const char* useful_word(const Outcome& outcome) { return is_padded(outcome) ? "useful " : ""; }

std::string sizes_words(const Outcome& outcome) {
  std::string text;
  const auto& tried = outcome.tried;
  for (std::size_t i = 0; i < tried.size(); ++i)
    text += (i == 0 ? "" : i + 1 == tried.size() ? " and " : ", ") + grouped_count(tried[i].size);
  return text;
}

std::string chosen_sentence(const Outcome& outcome) {
  const auto& objective = outcome.question.objective;
  const auto words = objective_words(objective.kind);
  const auto size = outcome.tried[*outcome.chosen].size;
  std::string text = fmt::format("{} {}", grouped_count(size), words.size);
  if (outcome.tried.size() > 1)
    text += fmt::format(": {} of {}", words.fits, sizes_words(outcome));
  else
    text += ", the only size that was tried";
  if (objective.rate)
    text +=
        fmt::format(" with at least {} {}tokens/s", grouped(*objective.rate), useful_word(outcome));
  else if (objective.kind != ObjectiveKind::cost)
    text += " on which something fits";
  return text;
}

bool priced(const Outcome& outcome) {
  return std::ranges::any_of(outcome.tried,
                             [](const Tried& one) { return one.cost.per_token.has_value(); });
}

std::string outcome_row(const Outcome& outcome, std::size_t i, bool prices) {
  const auto& one = outcome.tried[i];
  std::string text =
      fmt::format("  {}{}", outcome.chosen == i ? "* " : "  ", right(grouped_count(one.size), 11));
  if (!one.step) return text + (one.possible ? "  nothing fits\n" : "  no degrees divide it\n");
  text += fmt::format("{}{}{}", right(units::short_text(one.step->time), 11),
                      right(grouped(one.step->useful_tokens_per_second()), 12),
                      right(grouped(one.cost.gpu_hours_per_token * 1e9), 14));
  if (prices) text += right(grouped(one.cost.per_token ? one.cost.per_token->value * 1e9 : 0), 10);
  return text + '\n';
}

}  // namespace

std::string objective_text(const Outcome& outcome, const TextOptions& options) {
  if (!outcome.chosen) return {};
  const auto words = objective_words(outcome.question.objective.kind);
  const bool prices = priced(outcome);
  std::string text = heading(words.heading, options) +
                     wrapped(chosen_sentence(outcome), 2, width_of(options)) + '\n' +
                     fmt::format("    {}{}{}{}{}\n", right(words.size, 11), right("time", 11),
                                 right(is_padded(outcome) ? "useful/s" : "tokens/s", 12),
                                 right("GPU-hours", 14), prices ? right("USD", 10) : "");
  for (std::size_t i = 0; i < outcome.tried.size(); ++i) text += outcome_row(outcome, i, prices);
  return text + wrapped(fmt::format("(per billion {}tokens; {})", useful_word(outcome),
                                    prices ? "USD: the price of nodes and switches over four "
                                             "years, without power"
                                           : "prices of the nodes are not known"),
                        2, width_of(options));
}

Document objective_document(const Outcome& outcome) {
  const auto& objective = outcome.question.objective;
  Document tried = Document::array();
  for (const auto& one : outcome.tried) {
    using Number = std::optional<double>;
    Object object;
    object.put("size", one.size)
        .put("possible", one.possible)
        .optional("step_time_s", one.step ? std::optional(one.step->time) : std::nullopt)
        .optional("tokens_per_s", one.step ? Number(one.step->tokens_per_second) : Number())
        .optional("useful_tokens_per_s",
                  one.step ? Number(one.step->useful_tokens_per_second()) : Number())
        .optional("gpu_hours_per_token", one.step ? Number(one.cost.gpu_hours_per_token) : Number())
        .optional("usd_per_token",
                  one.cost.per_token ? Number(one.cost.per_token->value) : Number())
        .put("enough", one.enough);
    tried.push_back(object.take());
  }
  Document value = nullptr;
  if (outcome.chosen) value = outcome.tried[*outcome.chosen].size;
  return Object()
      .put("kind", objective_words(objective.kind).name)
      .optional("rate_tokens_per_s", objective.rate)
      .put("key", objective_words(objective.kind).key)
      .put("value", std::move(value))
      .put("tried", std::move(tried))
      .take();
}

std::string chosen_words(const Outcome& outcome) {
  if (!outcome.chosen) return {};
  return fmt::format("{}: {}", objective_words(outcome.question.objective.kind).key,
                     outcome.tried[*outcome.chosen].size);
}

std::string not_enough_text(const Outcome& outcome) {
  const auto& rate = outcome.question.objective.rate;
  if (outcome.chosen || outcome.tried.empty() || outcome.answer.plans.empty() || !rate) return {};
  const auto fastest = std::ranges::max_element(outcome.tried, {}, [](const Tried& one) {
    return one.step ? one.step->useful_tokens_per_second() : -1;
  });
  return fmt::format(
      "too slow: of {} nodes, the fastest are {}, with {} of the {} {}tokens/s that are asked for; "
      "ask for less, or try more nodes with search.nodes",
      sizes_words(outcome), grouped_count(fastest->size),
      grouped(fastest->step->useful_tokens_per_second()), grouped(*rate), useful_word(outcome));
}

}  // namespace report
