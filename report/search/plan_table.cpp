// SPDX-License-Identifier: Apache-2.0
#include "report/search/plan_table.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>

#include "report/search/recompute_words.hpp"
#include "report/terminal.hpp"
#include "report/words.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Ranked;
using strategies::Plan;

struct PlanColumn {
  const char* title;
  std::function<std::string(const Plan&)> cell;
  std::string_view unless;  // left out where all cells are this
  bool words = false;       // to the left
};

std::string offload_words(const strategies::Offload& offload) {
  std::string words;
  const auto add = [&](bool there, const std::string& word) {
    if (there) words += (words.empty() ? "" : "+") + word;
  };
  using enum strategies::Offload::Tier;
  add(offload.optimizer != none, offload.optimizer == nvme ? "optimizer nvme" : "optimizer");
  add(offload.gradients, "gradients");
  add(offload.parameters != none, offload.parameters == nvme ? "parameters nvme" : "parameters");
  add(offload.activations, "activations");
  return words;
}

std::vector<PlanColumn> degree_columns() {
  const auto number = [](std::int64_t Plan::*degree) {
    return [degree](const Plan& plan) { return std::to_string(plan.*degree); };
  };
  return {
      {"tp",
       [](const Plan& plan) {
         const auto usual = std::to_string(plan.tensor);
         return plan.layer_tensor ? usual + '/' + std::to_string(*plan.layer_tensor) : usual;
       },
       ""},
      {"sp", [](const Plan& plan) { return plan.sequence_parallel ? "yes" : ""; }, ""},
      {"cp", number(&Plan::context), "1"},
      {"ep", number(&Plan::expert), "1"},
      {"etp",
       [](const Plan& plan) {
         return plan.expert > 1 || plan.expert_tensor
                    ? std::to_string(strategies::expert_tensor(plan))
                    : "";
       },
       ""},
      {"pp", number(&Plan::pipeline), ""},
      {"v", number(&Plan::virtual_stages), "1"},
      {"dp", number(&Plan::data), ""},
      {"zero", [](const Plan& plan) { return std::to_string(plan.zero); }, ""},
      {"mb", number(&Plan::micro_batch), ""},
      {"schedule",
       [](const Plan& plan) { return plan.pipeline > 1 ? std::string(word(plan.schedule)) : ""; },
       "", true},
      {"shards", [](const Plan& plan) { return strategies::to_text(plan.shard_group); }, "all",
       true},
      {"gradients", [](const Plan& plan) { return std::string(word(plan.gradient_compression)); },
       "none", true},
      {"offload", [](const Plan& plan) { return offload_words(plan.offload); }, "", true}};
}

// Rows of cells under a title, as wide as the widest.
void add_column(std::vector<std::string>& lines, const char* title,
                const std::vector<std::string>& cells, bool words) {
  int width = columns(title);
  for (const auto& cell : cells) width = std::max(width, columns(cell));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string text = i == 0 ? title : cells[i - 1];
    lines[i] += "  " + (words ? left(text, width) : right(text, width));
  }
}

}  // namespace

bool equals_best(const Ranked& plan, const Ranked& best) {
  const auto& step = best.forecast.step;
  return plan.forecast.step.time <= std::max(step.time, step.time_high);
}

std::string plan_table(const search::Question& question, const std::vector<Ranked>& plans,
                       const Ranked& best, bool ranked, const TextOptions& options,
                       const std::vector<std::string>& wins) {
  const auto& model = question.scenario.model;
  std::vector<std::string> lines(plans.size() + 1);
  const auto cells_of = [&](const auto& cell) {
    std::vector<std::string> cells;
    for (const auto& plan : plans) cells.push_back(cell(plan));
    return cells;
  };
  if (ranked) {
    std::size_t rank = 0;
    add_column(lines, "", cells_of([&](const Ranked& r) {
                 ++rank;
                 return rank > 1 && equals_best(r, best) ? "=" : std::to_string(rank);
               }),
               false);
  }
  const auto fastest = best.forecast.step.time;
  add_column(lines, "time",
             cells_of([](const Ranked& r) { return units::short_text(r.forecast.step.time); }),
             false);
  if (plans.size() > 1)
    add_column(lines, "slower", cells_of([&](const Ranked& r) {
                 const double share = (r.forecast.step.time - fastest) / fastest;
                 return share > 0 ? percent(share) : "";
               }),
               false);
  if (std::ranges::any_of(wins, [](const auto& cell) { return !cell.empty(); }))
    add_column(lines, "finer", wins, false);
  add_column(lines, "memory",
             cells_of([](const Ranked& r) { return units::short_text(r.forecast.memory.peak); }),
             false);
  for (const auto& column : degree_columns()) {
    const auto cells = cells_of([&](const Ranked& r) { return column.cell(r.plan); });
    if (std::ranges::all_of(cells, [&](const auto& cell) { return cell == column.unless; }))
      continue;
    add_column(lines, column.title, cells, column.words);
  }
  const auto precision = [&](const Ranked& r) {
    return question.scenario_of(r.alternative).training.precision;
  };
  if (std::ranges::any_of(question.others, [&](const search::Alternative& other) {
        return other.scenario.training.precision != question.scenario.training.precision;
      }))
    add_column(lines, "precision",
               cells_of([&](const Ranked& r) { return std::string(units::to_text(precision(r))); }),
               true);
  const auto recomputed = cells_of([&](const Ranked& r) { return short_words(model, r.plan); });
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = lines[i] + "  " + (i == 0 ? "recompute" : recomputed[i - 1]);
    text += toned(fitted(line, width_of(options)), i == 0 ? Tone::faint : Tone::plain, options);
    text += '\n';
  }
  return text;
}

}  // namespace report
