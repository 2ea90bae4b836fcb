// SPDX-License-Identifier: Apache-2.0
// A purchase: which cluster to buy or rent for a workload, by a date, for so much money. The model
// and its formulas: docs/purchase.md. Money is in one currency; nothing here knows its name.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "forecast/accuracy/correction.hpp"
#include "forecast/accuracy/intervals.hpp"
#include "plans/schedules/refusal.hpp"
#include "search/purchase/goodput.hpp"
#include "search/search.hpp"
#include "units/quantity.hpp"

namespace search {

using EnergyPrice = units::Quantity<0, 0, 0, -1, 1>;  // money per joule

// A model that is to be trained. Several share a cluster, one after the other.
struct Workload {
  std::string name;
  double weight = 1;    // how often it is trained
  double tokens = 0;    // of one training, in steps of few sequences
  double overhead = 0;  // experiments and failed runs over the final run
  // Sequences. Steps may grow from the training's global_batch up to this, by doubling; absent:
  // they stay. Tokens needed grow as 1 + batch / critical_batch (McCandlish et al. 2018,
  // arXiv 1812.06162).
  std::optional<std::int64_t> max_global_batch;
  std::optional<double> critical_batch;
};

// The tokens that are processed with steps of `global_batch` sequences, overhead included.
double tokens_needed(const Workload& workload, std::int64_t global_batch);

struct Constraints {
  // The cost that the budget bounds: that of the workloads, or the whole price of everything that
  // is bought for them, even if it serves other work later. For rented machines it is the total
  // cost in either case.
  enum class BudgetOf { total_cost, capital };
  std::optional<units::Seconds> deadline;  // from the order until the last token
  std::optional<units::Money> budget;
  BudgetOf budget_of = BudgetOf::total_cost;
  // Limits of the buyer's own site, which rented machines do not use.
  std::optional<units::Watts> power;  // PUE included
  std::optional<double> racks;
};

struct Economics {
  std::string currency = "USD";
  EnergyPrice electricity;
  double pue = 1;                              // of the site over the machines
  units::Seconds lifetime{4 * 365.0 * 86400};  // of what is bought
  double utilisation = 1;                      // share of its life that a bought cluster works
  double discount_rate = 0;                    // a year
  units::Money staff_per_year, storage;        // storage: its price; written off like nodes
};

// An amount, or a share of what is bought.
struct Amount {
  units::Money fixed;
  double share = 0;
  units::Money of(units::Money whole) const { return fixed + share * whole; }
};

struct QuotedPrice {
  units::Money node, network_per_node;
  std::string source;  // of prices that the option does not give; empty: it gives all
  bool estimated = false;
  bool network_of_catalog = false;  // network_per_node are the switches of the cluster's fabric
};

struct Rent {
  enum class Kind { reserved, on_demand, spot };
  units::Money per_gpu_hour;
  Kind kind = Kind::on_demand;
  std::optional<units::Seconds> preemption_mtbf;  // of one node
  units::Seconds minimum_term{0};
};

struct PowerDraw {
  units::Watts nameplate;            // of one node
  std::optional<units::Watts> idle;  // absent: it draws its nameplate all the time
};

// Numbers of nodes of which one is to be found.
struct NodeCounts {
  std::int64_t least = 1;
  std::optional<std::int64_t> most;  // absent: as many as the budget, the power and the racks allow
};

// A cluster that can be had. Its questions hold it: one for each workload.
struct PurchaseOption {
  std::string name;
  std::vector<Question> questions;
  std::optional<QuotedPrice> price;  // bought, or
  std::optional<Rent> rent;          // rented: power, space, spare parts included
  units::Seconds lead_time{0}, burn_in{0};
  std::optional<units::Seconds> lifetime;  // absent: as economics has it
  Amount residual_value, support_per_year;
  PowerDraw power;
  double nodes_per_rack = 1;
  std::optional<NodeCounts> find;  // how many of its nodes; absent: as many as there are
  // Why a workload has no plan on it, which then is not searched for; empty: it may have one.
  std::string no_plan;

  const topology::Cluster& cluster() const { return questions.front().scenario.cluster; }
};

// The reason why no plan for a workload on an option can be simulated.
struct PurchaseRefusal {
  strategies::Refusal why;
  std::size_t option, workload;  // by number
};

// All refusals of a purchase, by option and workload; never empty.
struct PurchaseRefused : std::invalid_argument {
  explicit PurchaseRefused(std::vector<PurchaseRefusal> refused)
      : std::invalid_argument(refused.front().why.what()), all(std::move(refused)) {}
  std::vector<PurchaseRefusal> all;
};

struct Purchase {
  std::string name;
  std::vector<Workload> workloads;
  Constraints constraints;
  Economics economics;
  Reliability reliability;
  std::vector<PurchaseOption> options;
};

// --- The plans, which prices do not change

// The best plan for one workload on one cluster.
struct Planned {
  forecast::Scenario scenario;  // with its plan and batch
  forecast::Forecast forecast;  // with its interval, and corrected
  double gap = 0;               // proved: no plan is faster by a greater share
  bool interrupted = false;
  std::optional<forecast::Correction> correction =
      {};  // of the forecast, where steps were measured
};

struct Found {
  std::vector<Planned> workloads = {};  // of each; empty if one of them has no plan
  std::optional<Misfit> misfit = {};    // then: the plan that came closest to fitting
  bool interrupted = false;             // some search was told to stop
};

// --- The costs

struct TrainingCosts {
  // The part of the price that the job uses up; support, staff and storage for its time.
  units::Money capital, energy, rent, support, staff, storage;
  units::Money total() const { return capital + energy + rent + support + staff + storage; }
};

// The limit that an option exceeds, and the excess as a share of the limit.
struct Shortfall {
  // deadline, budget, power, racks; without figures: plan (there is none), memory (none fits),
  // failures (there are so many that training gets nowhere)
  std::string what;
  double excess = 0;
};

// An option under given assumptions. Where it is not planned only gpus, capital_full, machines,
// power and racks mean anything.
struct Assessment {
  bool planned = false;                      // there is a plan, and training ends with it
  std::int64_t gpus = 0;                     // that train; spares come on top
  std::vector<Goodput> goodputs;             // of each workload
  std::vector<units::Seconds> times;         // for one training of each, goodput included
  double goodput = 1;                        // of all
  units::Seconds time, time_low, time_high;  // of training everything; 80 % interval
  units::Seconds until_done;                 // lead time and burn-in before
  double spread_low = 0, spread_high = 0;    // standard deviations of the logarithm of `time`
  TrainingCosts costs;
  units::Money total_low, total_high;  // at the ends of the interval
  units::Money capital_full;
  // Sets of machines that are bought one after the other, each when the life of the one before is
  // used up, and the price of all of them less what those before the last are sold for.
  std::int64_t lives = 1;
  units::Money machines;
  double tokens = 0;     // of all workloads, weighted, without overhead
  units::Watts power;    // of the buyer's site, PUE included; rented machines draw none of it
  units::Joules energy;  // of all machines, PUE included, wherever they stand
  double racks = 0;      // of the buyer's site
  std::optional<double> deadline_probability;  // without a deadline: absent
  std::vector<Shortfall> shortfalls;           // the largest excess first; none: feasible
  bool feasible() const { return planned && shortfalls.empty(); }
  // The money that is spent until the last token: the whole price of bought machines, the last of
  // which serve other work after that, and everything else as it is used.
  units::Money paid() const { return machines + costs.total() - costs.capital; }
};

// Factors on the assumptions.
struct Assumptions {
  double price = 1, rent = 1, efficiency = 1, energy_price = 1, failure_rate = 1;
};

// Money and time of an option with these plans.
Assessment assess(const Purchase& purchase, const PurchaseOption& option,
                  const std::vector<Planned>& plans, const Assumptions& assumptions = {});

// --- The recommendation

// The feasible option that costs least. Another option ties with it if their costs differ by no
// more than both forecasts may be off, independently: sqrt of the sum of their squares.
struct Recommended {
  std::size_t option = 0;
  std::optional<std::size_t> second;  // the next best feasible one
  double margin = 0;                  // share of the recommended cost by which `second` costs more
  double uncertainty = 0;             // of the margin, 80 %
  std::vector<std::size_t> ties;      // all others within it, the cheapest first
};
std::optional<Recommended> recommend(const std::vector<Assessment>& options);

// Feasible options of which no other is at least as good in time, money and energy, and better in
// one.
std::vector<std::size_t> pareto_of(const std::vector<Assessment>& options);

struct CostSensitivity {
  std::string parameter;  // price, rent, efficiency, energy_price, failure_rate; "price of NAME"
  double change = 0;      // +0.2: a fifth more
  std::optional<std::size_t> recommended;
  // The total cost under the change of the option that is recommended without the change; nothing
  // if there is none, or if it cannot do the work then.
  std::optional<units::Money> total_cost = {};
};

struct FabricEffect {
  std::string what;       // "oversubscription 2:1"
  Assessment assessment;  // at the same prices
};

// A number of nodes that was tried, and its assessment.
struct TriedNodes {
  std::int64_t nodes = 0;
  Assessment assessment;
};

struct Assessed {
  Found found;
  Assessment assessment;
  std::vector<FabricEffect> fabric;
  std::vector<TriedNodes> tried = {};  // where the number of nodes was to be found; ascending
};

struct Decision {
  std::vector<Assessed> options;  // as in the purchase
  std::optional<Recommended> recommended;
  std::vector<std::size_t> pareto;
  std::vector<CostSensitivity> sensitivity;
  Purchase purchase = {};  // with the numbers of nodes that were found
};

struct Purchasing {
  // The best plans of a question; none: search() with a single thread.
  std::function<Answer(const Question&)> solve = {};
  forecast::Intervals intervals = {};  // of forecasts
  // Measured steps, by which the forecast of every chosen plan is corrected; without steps none is.
  forecast::Corrections corrections = {};
  // Called before the i-th of n options is looked at.
  std::function<void(std::size_t i, std::size_t n, const std::string& name)> progress = {};
};

// Searches plans for every option, with larger batches where they are allowed, and decides. The
// same cluster and workload are searched once, however many options pay for them differently.
// Throws PurchaseRefused where plans of some cannot be simulated, when all have been looked at.
Decision decide(const Purchase& purchase, const Purchasing& how = {});

}  // namespace search
