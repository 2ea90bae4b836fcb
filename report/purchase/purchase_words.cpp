// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/purchase/purchase.hpp"
#include "report/purchase/purchase_parts.hpp"
#include "report/question_text.hpp"
#include "report/terminal.hpp"
#include "units/ceil_div.hpp"
#include "units/text.hpp"

namespace report {
namespace {

using search::Decision;
using search::Purchase;

std::string listed_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string nothing_feasible(const Purchase& purchase, const Decision& decision) {
  std::string text = "no option is feasible: ";
  for (std::size_t i = 0; i < decision.options.size(); ++i)
    text += (i == 0 ? "" : "; ") + purchase.options[i].name + " " +
            shortfall_words(purchase, decision, i);
  return text;
}

// "h100 (33.5 million USD to pay, 120 days)".
std::string in_brief(const Purchase& purchase, const Decision& decision, std::size_t option) {
  const auto& a = decision.options[option].assessment;
  return fmt::format("{} ({} to pay, {})", purchase.options[option].name,
                     money_words(a.paid(), purchase.economics.currency), days_words(a.until_done));
}

std::string tie_words(const Purchase& purchase, const Decision& decision) {
  const auto& chosen = *decision.recommended;
  std::vector<std::string> names{in_brief(purchase, decision, chosen.option)};
  for (const auto i : chosen.ties) names.push_back(in_brief(purchase, decision, i));
  return fmt::format(
      "a tie of {}: {} of the cost lies between the first two, and forecasts of both may be off by "
      "{} (80 %). Decide by what is not in it.",
      listed_names(names), percent(chosen.margin), percent(chosen.uncertainty));
}

// Returns the money to pay for the option, and the part of it that the job uses up.
std::string paid_words(const search::Assessment& a, const std::string& currency) {
  auto text = fmt::format("{} to pay", money_words(a.paid(), currency));
  if (a.machines.value > 0)
    text +=
        fmt::format(" ({} of it for the machines{}), of which the job uses up {}",
                    money_words(a.machines, currency),
                    a.lives > 1 ? fmt::format(", bought {} times as the job outlasts their life",
                                              grouped_count(a.lives))
                                : "",
                    money_words(a.costs.total(), currency));
  return text;
}

std::string in_time(const search::Assessment& best) {
  if (!best.deadline_probability) return {};
  return fmt::format(" It meets the deadline with a probability of {}.",
                     chance(*best.deadline_probability));
}

// Returns the same for every option of a tie, each by its name.
std::string all_in_time(const Purchase& purchase, const Decision& decision) {
  std::vector<std::string> chances;
  const auto add = [&](std::size_t option) {
    if (const auto p = decision.options[option].assessment.deadline_probability)
      chances.push_back(purchase.options[option].name + " " + chance(*p));
  };
  add(decision.recommended->option);
  for (const auto i : decision.recommended->ties) add(i);
  if (chances.empty()) return {};
  return fmt::format(" The probability of meeting the deadline: {}.", listed_names(chances));
}

}  // namespace

std::string shortfall_words(const search::Assessed& option) {
  if (option.assessment.feasible()) return {};
  const auto& shortfall = option.assessment.shortfalls.front();
  const auto& what = shortfall.what;
  const double excess = shortfall.excess;
  if (what == "plan")
    return option.found.interrupted ? "has no plan yet: the search was stopped"
                                    : "has no plan: no degrees divide GPUs, model and batch";
  if (what == "failures") return "never ends: failures undo what is done between them";
  constexpr double many = 9;  // beyond it a percentage says less than a multiple
  const auto times = [&] {
    return excess < 1e6 ? grouped_count(std::llround(1 + excess))
                        : fmt::format("{:.2g}", 1 + excess);
  };
  if (what == "memory" && option.found.misfit && !option.found.misfit->node.empty())
    return "has no plan that fits: " + option.found.misfit->node;
  if (what == "memory" && excess > many)
    return fmt::format("has no plan that fits: the closest needs {} times the memory", times());
  if (what == "memory")
    return fmt::format("has no plan that fits: the closest needs {} more memory", percent(excess));
  if (what == "deadline")
    return excess > many ? fmt::format("takes {} times as long as the deadline allows", times())
                         : fmt::format("misses the deadline by {}", percent(excess));
  return excess > many ? fmt::format("needs {} times the {}", times(), what)
                       : fmt::format("exceeds the {} by {}", what, percent(excess));
}

std::string shortfall_words(const Purchase& purchase, const Decision& decision,
                            std::size_t option) {
  const auto& of = decision.options[option];
  auto text = shortfall_words(of);
  const auto& shortfalls = of.assessment.shortfalls;
  if (shortfalls.empty() || shortfalls.front().what != "plan" || of.found.interrupted) return text;
  if (const auto& why = purchase.options[option].no_plan; !why.empty())
    return "has no plan: " + why;
  for (const auto& question : purchase.options[option].questions)
    if (const auto words = missing_factor_words(question.scenario, question.space); !words.empty())
      return text + words;
  return text;
}

MoneyScale::MoneyScale(const Decision& decision, const std::string& currency) : unit(currency) {
  double largest = 0;
  for (const auto& [found, assessment, fabric, tried] : decision.options)
    largest = std::max({largest, assessment.costs.total().value, assessment.machines.value});
  if (largest < 10e3) return;
  size = largest >= 10e6 ? 1e6 : 1e3;
  unit = (size > 1e3 ? "million " : "thousand ") + currency;
}

std::string MoneyScale::operator()(units::Money money) const {
  return money.value == 0 ? "-" : grouped(money.value / size);
}

std::string aligned(std::vector<std::vector<std::string>> rows, const TextOptions& options) {
  constexpr int longest = 28;
  std::vector<int> widths;
  for (auto& row : rows) {
    row[0] = fitted(printable(row[0], options.unicode), longest);
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = "  " + left(row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) line += "  " + right(row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string recommendation_words(const Purchase& purchase, const Decision& decision) {
  if (!decision.recommended) return nothing_feasible(purchase, decision);
  const auto& chosen = *decision.recommended;
  const auto& best = decision.options[chosen.option].assessment;
  const auto& currency = purchase.economics.currency;
  if (!chosen.ties.empty()) return tie_words(purchase, decision) + all_in_time(purchase, decision);
  std::string text =
      fmt::format("{}: {}, and {} until the last token", purchase.options[chosen.option].name,
                  paid_words(best, currency), days_words(best.until_done));
  if (!chosen.second) {
    text += decision.options.size() > 1 ? ", the only option within all limits." : ".";
  } else {
    const auto& second = purchase.options[*chosen.second].name;
    text += chosen.margin > 0
                ? fmt::format(", the least cost; {} costs {} more.", second, percent(chosen.margin))
                : fmt::format(", the least cost; {} costs {}.", second,  // the best costs nothing
                              money_words(decision.options[*chosen.second].assessment.costs.total(),
                                          currency));
  }
  return text + in_time(best);
}

const model::Transformer* model_of(const Purchase& purchase, std::size_t workload) {
  if (purchase.options.empty()) return nullptr;
  const auto& questions = purchase.options.front().questions;
  return workload < questions.size() ? &questions[workload].scenario.model : nullptr;
}

namespace {

std::string left_out_failures(const Purchase& purchase, const Decision& decision) {
  if (search::has_failures(purchase.reliability) || decision.options.empty()) return {};
  const auto number = decision.recommended ? decision.recommended->option : 0;
  const auto& option = decision.options[number];
  if (!option.assessment.planned) return {};
  const auto usual = search::published_failures();
  const auto goodput = search::goodput_of(option.found.workloads.front().scenario, usual);
  return fmt::format(
      "failures are left out, so no time is lost to them: with as many as Llama 3's training met, "
      "the goodput of {} is {}; write reliability: {{gpu_mtbf: {:.0f} hours}} or your own",
      purchase.options[number].name, percent(goodput.share), usual.gpu_mtbf->value / 3600);
}

// Whether the recommended machines cost least only because others pay for most of their life.
std::string bought_for_others(const Purchase& purchase, const Decision& decision) {
  if (!decision.recommended) return {};
  const auto assessment = [&](std::size_t i) -> const auto& {
    return decision.options[i].assessment;
  };
  auto least = decision.recommended->option;
  for (std::size_t i = 0; i < decision.options.size(); ++i)
    if (assessment(i).feasible() && assessment(i).paid() < assessment(least).paid()) least = i;
  const auto& best = assessment(decision.recommended->option);
  if (least == decision.recommended->option || !(best.machines.value > 0)) return {};
  return fmt::format(
      "the job uses up {} of the price of {}: its cost supposes that other work uses the machines "
      "for the rest of their life; if none does, {} costs less, {} in all",
      percent(best.costs.capital / best.machines),
      purchase.options[decision.recommended->option].name, purchase.options[least].name,
      money_words(assessment(least).paid(), purchase.economics.currency));
}

// Returns the GPUs that are paid for and train nothing, where the last node is used in part; empty:
// all train.
std::string bought_unused(const search::PurchaseOption& option) {
  const auto& cluster = option.cluster();
  const std::int64_t unit = cluster.node.tray > 0 ? cluster.node.tray : cluster.node.gpus;
  const auto whole = units::ceil_div(cluster.gpus, unit) * unit;
  if (!option.price || !cluster.others.empty() || whole == cluster.gpus) return {};
  return fmt::format("{}: {} GPUs train and {} are bought, as the last {} is paid for whole",
                     option.name, grouped_count(cluster.gpus), grouped_count(whole),
                     cluster.node.tray > 0 ? "tray" : "node");
}

// Prices in USD outside of which an amount is more likely a slip: accelerators of data centres,
// with their share of the node, cost some 5,000 to 100,000 when new, less when used, and are rented
// for 0.3 to 13 an hour (lists of clouds; both from memory). The bands are wider.
struct PriceBand {
  double least, most;
};
constexpr PriceBand bought_gpu{500, 250e3}, gpu_hour{0.05, 50};

// Returns a doubt about the price of an option; empty: there is none.
std::string odd_price(const search::PurchaseOption& option, const std::string& currency) {
  if (currency != "USD") return {};
  const auto odd = [](double price, const PriceBand& band) {
    return price > 0 && (price < band.least || price > band.most);
  };
  const auto words = [&](units::Money money) { return money_words(money, currency); };
  if (option.price) {
    const units::Money each = option.price->node / static_cast<double>(option.cluster().node.gpus);
    if (!odd(each.value, bought_gpu)) return {};
    return fmt::format(
        "{}: price.node of {} is {} for a GPU and its share of the node; {} to {} are usual, so "
        "look for a missing factor, as in 300e3 USD",
        option.name, words(option.price->node), words(each), words({bought_gpu.least}),
        words({bought_gpu.most}));
  }
  if (!option.rent || !odd(option.rent->per_gpu_hour.value, gpu_hour)) return {};
  return fmt::format(
      "{}: rent.per_gpu_hour of {} is for one GPU and one hour; {} to {} are usual, so look for "
      "the "
      "price of a node, of a day or of another currency",
      option.name, words(option.rent->per_gpu_hour), words({gpu_hour.least}),
      words({gpu_hour.most}));
}

}  // namespace

std::vector<std::string> purchase_warnings(const Purchase& purchase, const Decision& decision) {
  std::vector<std::string> warnings{left_out_failures(purchase, decision),
                                    bought_for_others(purchase, decision)};
  for (const auto& option : purchase.options) {
    warnings.push_back(odd_price(option, purchase.economics.currency));
    warnings.push_back(bought_unused(option));
  }
  std::erase(warnings, "");
  return warnings;
}

}  // namespace report
