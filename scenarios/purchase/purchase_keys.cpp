// SPDX-License-Identifier: Apache-2.0
#include "scenarios/purchase/purchase_keys.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "units/text.hpp"

namespace scenarios {
namespace {

using search::Constraints;
using search::Economics;
using search::Reliability;
using search::Workload;
using units::Seconds;

constexpr double day = 86400, year = 365 * day;
constexpr Range any_time{0, 100 * year, "plans reach no further than a century"};
constexpr Range node_mtbf_range{60, 1e5 * year,
                                "a part works a minute at least between two failures"};
constexpr Range any_money{0, 1e15, "there is not more money"};

// A unit that people use for the values of a key, beside that of bare numbers in other files.
struct UsualUnit {
  std::string_view word, base;
  double in_base = 1;
};

// Advice for a number without a unit: what it is in the usual unit if it is meant in the base unit,
// as elsewhere, and the number itself in the usual unit. A value that the key does not allow, or
// less than one of the usual unit, is not meant.
std::string unit_advice(const std::string& text, double number, const UsualUnit& unit,
                        const Range& range) {
  const auto word = std::string(unit.word), base = std::string(unit.base);
  const auto allowed = [&](double value) { return range.least <= value && value <= range.most; };
  const auto converted = plain(number / unit.in_base) + " " + word, same = text + " " + word;
  if (number < unit.in_base || !allowed(number)) return same;
  if (!allowed(number * unit.in_base)) return converted;
  return converted + " if it is in " + base + ", " + same + " if it is in " + word;
}

// Makes the key refuse numbers without a unit, but 0. Elsewhere such numbers are seconds or watts,
// which few mean who plan a purchase.
template <class Target>
Key<Target> with_unit(Key<Target> key, UsualUnit unit) {
  const auto assign = std::move(key.assign);
  const auto range = key.field.form.range;
  key.assign = [assign, unit, range](Target& target, const Cursor& at) {
    const auto& text = at.value().text;
    if (const auto number = to_number(at.value()); number != 0)
      return at.complain("'" + text + "' has no unit; write " +
                         unit_advice(text, number, unit, range));
    assign(target, at);
  };
  return key;
}

template <class Target, class Get>
Key<Target> time(std::string_view name, std::string_view fallback, Range range,
                 std::string_view description, Get get, std::string_view unit = "days") {
  return with_unit(quantity<Target>(Type::duration, units::parse_duration, name, fallback, range,
                                    description, get),
                   {unit, "seconds", units::parse_duration("1 " + std::string(unit)).value});
}

template <class Target, class Get>
Key<Target> money_key(std::string_view name, std::string_view fallback,
                      std::string_view description, Get get) {
  return quantity<Target>(Type::money, units::parse_money, name, fallback, any_money, description,
                          get);
}

template <class Target, class Get>
Key<Target> power(std::string_view name, std::string_view fallback, Range range,
                  std::string_view description, Get get) {
  return with_unit(
      quantity<Target>(Type::power, units::parse_power, name, fallback, range, description, get),
      {"kW", "watts", 1e3});
}

// --- Workloads

const Table<Workload>& workload_table() {
  const Form scenario_part{.type = Type::either,
                           .forms = {{.type = Type::text}, {.type = Type::map}}};
  const Form map{.type = Type::map};
  static const Table<Workload> table{
      text<Workload>("name", "A name for reports", &Workload::name),
      unread<Workload>("model", scenario_part, "The model, as in a scenario"),
      unread<Workload>("training", map, "What one step trains on, as in a scenario"),
      unread<Workload>("software", scenario_part, "The framework, as in a scenario"),
      unread<Workload>("plan", map, "What every plan has, as in a search"),
      unread<Workload>("search", map, "Limits of the search for plans, as in a scenario"),
      tokens_key<Workload>("tokens", "training.tokens", "Tokens of one training",
                           &Workload::tokens),
      number<Workload>("weight", "1", {1e-6, 1e9, "a workload without weight is none"},
                       "How often it is trained", &Workload::weight),
      number<Workload>("overhead", "0", {0, 1000, "a share of the final run"},
                       "Experiments and failed runs over the final run", &Workload::overhead),
      whole<Workload>("max_global_batch", "as training.global_batch",
                      {1, 16'777'216, "sequences of one step"},
                      "Sequences that a step may have at most: larger ones than "
                      "training.global_batch are tried, by doubling",
                      &Workload::max_global_batch),
      number<Workload>("critical_batch", "tokens do not depend on the batch",
                       {1e-3, 1e12, "sequences of one step"},
                       "Sequences of a step at which twice the tokens are needed: 1 + batch / "
                       "critical_batch",
                       &Workload::critical_batch)};
  return table;
}

// --- Constraints and economics

const Table<Constraints>& constraint_table() {
  static const Table<Constraints> table{
      time<Constraints>("deadline", "none",
                        {3600, 100 * year, "a bare number is in seconds; write e.g. '60 days'"},
                        "From the order until the last token", &Constraints::deadline),
      money_key<Constraints>("budget", "none", "What may be spent: of budget_of",
                             &Constraints::budget),
      choice<Constraints, Constraints::BudgetOf Constraints::*, Constraints::BudgetOf>(
          "budget_of", "total_cost",
          {{"total_cost", Constraints::BudgetOf::total_cost},
           {"capital", Constraints::BudgetOf::capital}},
          "What the budget bounds: what the workloads come to, or the whole price of what is "
          "bought",
          &Constraints::budget_of),
      power<Constraints>(
          "power", "none", {1, 1e12, "of the whole site"},
          "Of the buyer's site, with PUE and switches; rented machines draw none of it",
          &Constraints::power),
      number<Constraints>("racks", "none", {1, 1e7, "racks of nodes"},
                          "Racks that nodes may fill; rented machines fill none",
                          &Constraints::racks)};
  return table;
}

// "0.08 USD/kWh".
void read_energy_price(Economics& economics, const Cursor& at) {
  constexpr std::array<std::pair<std::string_view, double>, 2> per{
      {{"kWh", 3.6e6}, {"MWh", 3.6e9}}};
  const std::string_view written = at.value().text;
  const auto slash = written.find('/');
  const auto unit = slash == written.npos ? "" : units::trimmed(written.substr(slash + 1));
  const auto known = std::ranges::find(per, unit, &std::pair<std::string_view, double>::first);
  const auto refuse = [&] {
    at.complain("unknown price of energy '" + at.value().text + "'; write e.g. '0.08 USD/kWh'");
  };
  if (known == per.end()) return refuse();
  auto amount = at.value();
  amount.text = units::trimmed(written.substr(0, slash));
  if (units::currency_of(amount.text).empty()) return refuse();
  const Form form{.type = Type::money, .range = {0, 1e6, "of one unit of energy"}};
  if (check(form, at.instead(amount, at.value())))
    economics.electricity = units::parse_money(amount.text) / units::Joules{known->second};
}

void read_currency(Economics& economics, const Cursor& at) {
  const auto& word = at.value().text;
  if (!is_currency(word))
    return at.complain("unknown currency '" + word + "'; write its three capitals, such as USD");
  economics.currency = word;
}

const Table<Economics>& economics_table() {
  static const Table<Economics> table{
      {{"electricity", "Price of energy", "nothing", {.type = Type::text}}, read_energy_price},
      number<Economics>("pue", "1", {1, 5, "a site draws what its machines draw, and more"},
                        "Power of the site over that of its machines", &Economics::pue),
      time<Economics>("lifetime", "4 years", {day, 100 * year, "a day to a century"},
                      "Of what is bought, until it is sold or scrapped", &Economics::lifetime,
                      "years"),
      number<Economics>("utilisation", "1", {0.01, 1, "a share of the lifetime"},
                        "Share of its life that a bought cluster is at work",
                        &Economics::utilisation),
      number<Economics>("discount_rate", "0", {0, 1, "a year; 0.08 is 8 %"},
                        "Interest on what is bought, a year", &Economics::discount_rate),
      money_key<Economics>("staff_per_year", "0", "Wages of those who run it, a year",
                           &Economics::staff_per_year),
      money_key<Economics>("storage", "0", "Price of the storage, which lives as long as nodes",
                           &Economics::storage),
      {{"currency", "Three capitals; all money is in it", "USD", {.type = Type::text}},
       read_currency}};
  return table;
}

// --- Reliability

using Stragglers = Reliability::Stragglers;
const Table<Stragglers>& straggler_odds_table() {
  static const Table<Stragglers> table{
      time<Stragglers>("mtbf", "never", node_mtbf_range,
                       "Of one GPU, between two times of slowness", &Stragglers::mtbf, "hours"),
      number<Stragglers>("slowdown", "1", {1, 1000, "a straggler is not faster"},
                         "Of the step while one GPU is slow", &Stragglers::slowdown),
      time<Stragglers>("found", "1 day", any_time, "Until it is replaced", &Stragglers::found)};
  return table;
}

const Table<Reliability>& reliability_table() {
  using enum Reliability::Checkpoint;
  static const Table<Reliability> table{
      time<Reliability>("gpu_mtbf", "never", node_mtbf_range,
                        "Mean time between failures of one GPU", &Reliability::gpu_mtbf, "hours"),
      time<Reliability>("node_mtbf", "never", node_mtbf_range,
                        "The same of one node, besides its GPUs", &Reliability::node_mtbf, "hours"),
      time<Reliability>("nic_mtbf", "never", node_mtbf_range, "The same of one NIC",
                        &Reliability::nic_mtbf, "hours"),
      time<Reliability>("switch_mtbf", "never", node_mtbf_range, "The same of one switch",
                        &Reliability::switch_mtbf, "hours"),
      time<Reliability>("detection", "0 s", any_time, "Until a failure is noticed",
                        &Reliability::detection, "minutes"),
      time<Reliability>("restart", "10 minutes", any_time,
                        "From then until training goes on: reschedule, load, warm up",
                        &Reliability::restart, "minutes"),
      choice<Reliability, Reliability::Checkpoint Reliability::*, Reliability::Checkpoint>(
          "checkpoint", "sync", {{"sync", sync}, {"async", async}},
          "Whether training waits until a checkpoint is written, or only until it is in the host's "
          "memory",
          &Reliability::checkpoint),
      bandwidth<Reliability>("checkpoint_bandwidth", "that of all nodes' NVMe",
                             "Of the storage, all writers together",
                             &Reliability::checkpoint_bandwidth),
      whole<Reliability>("spares", "always one, which nobody pays for",
                         {0, 1'000'000, "nodes of each option"},
                         "Nodes of each option, beyond those that train", &Reliability::spares),
      time<Reliability>("repair", "1 day", any_time, "Until a node that failed is whole again",
                        &Reliability::repair),
      inner<Reliability>("stragglers", "GPUs that are slow now and then", straggler_odds_table(),
                         &Reliability::stragglers)};
  return table;
}

// --- Options

using search::QuotedPrice;
using search::Rent;

const Table<OptionDraft>& price_table() {
  static const Table<OptionDraft> table{
      {{"node", "Price of one node", "the catalog's", {.type = Type::money, .range = any_money}},
       [](OptionDraft& draft, const Cursor& at) {
         draft.has_price = true;
         draft.option.price->node = units::parse_money(at.value().text);
       }},
      {{"network_per_node",
        "Switches and cables, for each node",
        "0 with the price of a node, else the catalog's switches",
        {.type = Type::money, .range = any_money}},
       [](OptionDraft& draft, const Cursor& at) {
         draft.prices_network = true;
         draft.option.price->network_per_node = units::parse_money(at.value().text);
       }}};
  return table;
}

const Table<Rent>& rent_table() {
  using enum Rent::Kind;
  static const Table<Rent> table{
      money_key<Rent>("per_gpu_hour", "", "Of one GPU, for an hour; power and space are in it",
                      &Rent::per_gpu_hour),
      choice<Rent, Rent::Kind Rent::*, Rent::Kind>(
          "kind", "on-demand", {{"reserved", reserved}, {"on-demand", on_demand}, {"spot", spot}},
          "Whether it is promised, and may be taken away", &Rent::kind),
      time<Rent>("preemption_mtbf", "never", node_mtbf_range,
                 "With kind spot: mean time until one node is taken away", &Rent::preemption_mtbf,
                 "hours"),
      time<Rent>("minimum_term", "none", any_time, "Paid for at least", &Rent::minimum_term)};
  return table;
}

void read_rent(OptionDraft& draft, const Cursor& at) {
  auto& rent = draft.option.rent.emplace();
  read_map(rent_table(), rent, at);
  if (!at.find("per_gpu_hour"))
    at.missing("per_gpu_hour", "rents are not in the catalog; write e.g. per_gpu_hour: 2.5 USD");
  if (rent.preemption_mtbf && rent.kind != Rent::Kind::spot)
    at.complain_at("preemption_mtbf",
                   "only what is rented as spot is taken away; write kind: spot");
  if (rent.kind == Rent::Kind::spot && !at.find("preemption_mtbf"))
    at.missing("preemption_mtbf", "spot nodes are taken away; write how often, e.g. 30 days");
}

const Table<search::PowerDraw>& power_table() {
  constexpr Range of_node{0, 1e6, "of one node, not of all"};
  static const Table<search::PowerDraw> table{
      power<search::PowerDraw>("nameplate", "the catalog's", of_node,
                               "What one node draws at most, without PUE",
                               &search::PowerDraw::nameplate),
      power<search::PowerDraw>("idle", "the nameplate: it draws that all the time", of_node,
                               "What one node draws while its GPUs wait",
                               &search::PowerDraw::idle)};
  return table;
}

// "2e6 USD", or "15 %" of what is bought.
template <class Get>
Key<OptionDraft> amount(std::string_view name, std::string_view description, Get get) {
  return {{name, description, "0", {.type = Type::text}},
          [get](OptionDraft& draft, const Cursor& at) {
            search::Amount& amount = std::invoke(get, draft.option);
            auto value = at.value();
            const bool share = value.text.ends_with('%');
            if (share) {
              value.text =
                  units::trimmed(std::string_view(value.text).substr(0, value.text.size() - 1));
              value.quoted = false;  // as text with a unit may be
            }
            // A share is meant, not cents of the file's currency.
            const auto number = to_number(value);
            const bool bare = value.text.find_first_not_of("0123456789.eE-+") == value.text.npos;
            if (!share && bare && number > 0 && number <= 1)
              return at.complain("'" + value.text + "' is a share without '%'; write " +
                                 plain(100 * number) + " %, or an amount with its currency");
            const Form form{.type = share ? Type::number : Type::money,
                            .range = share ? Range{0, 100, "of what is bought"} : any_money};
            if (!check(form, at.instead(value, at.value()))) return;
            if (share)
              amount = {{}, to_number(value) / 100};
            else
              amount = {units::parse_money(value.text), 0};
          }};
}

template <class Member>
auto of_option(Member search::PurchaseOption::*member) {
  return [member](OptionDraft& draft) -> Member& { return draft.option.*member; };
}

const Table<OptionDraft>& option_table() {
  using search::PurchaseOption;
  static const Table<OptionDraft> table{
      text<OptionDraft>("name", "A name for reports", of_option(&PurchaseOption::name)),
      unread<OptionDraft>(
          "cluster", {.type = Type::map},
          "The machine, as in a scenario; nodes may be a list or {from, to, step or "
          "factor}, fabric a list: an option for each. With nodes: {from, to}, or without nodes "
          "under a limit, how many is found"),
      {{"price", "What is bought", "the catalog's", map_of(fields_of(price_table()))},
       [](OptionDraft& draft, const Cursor& at) {
         draft.option.price.emplace();
         read_map(price_table(), draft, at);
       }},
      {{"rent", "What is rented instead", "", map_of(fields_of(rent_table()))}, read_rent},
      time<OptionDraft>("lead_time", "0 s", any_time, "From the order until the nodes are there",
                        of_option(&PurchaseOption::lead_time)),
      time<OptionDraft>("burn_in", "0 s", any_time, "Tests before training, at full power",
                        of_option(&PurchaseOption::burn_in)),
      time<OptionDraft>("lifetime", "as economics has it", {day, 100 * year, "a day to a century"},
                        "Of what is bought, or kept", of_option(&PurchaseOption::lifetime),
                        "years"),
      amount("residual_value", "What it is sold for after its lifetime; '15 %' of its price",
             &PurchaseOption::residual_value),
      amount("support_per_year", "A contract for repairs, a year; '5 %' of its price",
             &PurchaseOption::support_per_year),
      inner<OptionDraft>("power", "What one node draws", power_table(),
                         of_option(&PurchaseOption::power)),
      number<OptionDraft>("nodes_per_rack", "as many as 41 kW feed, at least one",
                          {0.01, 1000, "nodes of one rack"}, "Nodes of one rack",
                          &OptionDraft::nodes_per_rack)};
  return table;
}

}  // namespace

void read_workload(Workload& workload, const Cursor& at) {
  read_map(workload_table(), workload, at);
}
bool read_tokens(Workload& workload, const Cursor& training) {
  const auto tokens = training.find("tokens");
  if (!tokens) return false;
  const auto& table = workload_table();
  const auto key = std::ranges::find(table, "tokens", [](const auto& k) { return k.field.name; });
  if (check(key->field.form, *tokens)) key->assign(workload, *tokens);
  return true;
}
void read_constraints(Constraints& constraints, const Cursor& at) {
  read_map(constraint_table(), constraints, at);
  if (at.find("budget_of") && !at.find("budget"))
    at.complain_at("budget_of",
                   "says what a budget bounds, and there is none; write e.g. budget: 60e6 USD, or "
                   "leave it out");
}
void read_economics(Economics& economics, const Cursor& at) {
  read_map(economics_table(), economics, at);
}
void read_reliability(Reliability& reliability, const Cursor& at) {
  read_map(reliability_table(), reliability, at);
}
void read_option(OptionDraft& draft, const Cursor& at) { read_map(option_table(), draft, at); }

std::vector<Field> workload_fields() { return fields_of(workload_table()); }
std::vector<Field> constraint_fields() { return fields_of(constraint_table()); }
std::vector<Field> economics_fields() { return fields_of(economics_table()); }
std::vector<Field> reliability_fields() { return fields_of(reliability_table()); }
std::vector<Field> option_fields() { return fields_of(option_table()); }

bool is_currency(std::string_view word) {
  return word.size() == 3 && std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace scenarios
