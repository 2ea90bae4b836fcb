// SPDX-License-Identifier: Apache-2.0
// Money and time of one option, whose plans are known.
#include <algorithm>
#include <cmath>

#include "forecast/accuracy/quantile.hpp"
#include "search/purchase/purchase.hpp"
#include "topology/fabric_plan.hpp"
#include "units/ceil_div.hpp"

namespace search {
namespace {

using units::Money;
using units::Seconds;
using units::Watts;

constexpr Seconds year{365 * 86400.0}, hour{3600};
constexpr double least_goodput = 1e-6;  // below, training never gets anywhere

double count(std::int64_t number) { return static_cast<double>(number); }

// Nodes that are installed. A rack of trays need not be full: its share of trays counts. A node
// that is one machine is whole, however many of its GPUs train.
double installed_nodes(const topology::Cluster& cluster) {
  const auto& node = cluster.node;
  if (node.tray == 0 || !cluster.others.empty()) return count(cluster.nodes());
  return count(units::ceil_div(cluster.gpus, std::int64_t{node.tray}) * node.tray) / node.gpus;
}

// The machines that the option pays for, trained on or not.
struct Machines {
  std::int64_t gpus = 0, nodes = 0, spares = 0;
  double installed = 0;  // nodes without spares
  Watts switches;

  Machines(const PurchaseOption& option, const Reliability& reliability)
      : gpus(option.cluster().gpus),
        nodes(option.cluster().nodes()),
        spares(reliability.spares.value_or(0)),
        installed(installed_nodes(option.cluster())) {
    if (nodes > 1) switches = topology::plan_of(option.cluster()).power.value_or(Watts{});
  }
  std::int64_t all_nodes() const { return nodes + spares; }
  std::int64_t all_gpus(const PurchaseOption& option) const {
    return gpus + spares * option.cluster().node.gpus;
  }
  // Spares are on, and idle.
  Watts draw(const PowerDraw& power, double busy) const {
    const auto idle = power.idle.value_or(power.nameplate);
    return installed * (idle + busy * (power.nameplate - idle)) + count(spares) * idle + switches;
  }
};

// The yearly cost of something that is bought for `price` and sold for `residual` after its life.
Money annuity(Money price, Money residual, Seconds lifetime, double rate) {
  const double years = lifetime / year;
  if (!(rate > 0)) return (price - residual) / years;
  const double left = std::pow(1 + rate, -years);
  return (price - left * residual) * (rate / (1 - left));
}

struct Bill {
  const Purchase& purchase;
  const PurchaseOption& option;
  const Machines& machines;
  const Assumptions& assumed;

  Money capital_full() const {
    if (!option.price) return {};
    return assumed.price * ((machines.installed + count(machines.spares)) * option.price->node +
                            count(machines.all_nodes()) * option.price->network_per_node);
  }

  units::Seconds lifetime() const { return option.lifetime.value_or(purchase.economics.lifetime); }

  // The lifetimes of bought machines that training for `time` takes, burn-in included.
  double lives_of(Seconds time) const { return (option.burn_in + time) / lifetime(); }

  // The costs of training for `time`; `watts`: mean power of the site.
  TrainingCosts of(Seconds time, Watts watts) const {
    const auto& economics = purchase.economics;
    const auto occupied = option.burn_in + time;
    const double years = occupied / year;
    const auto whole = capital_full();
    TrainingCosts costs;
    costs.staff = years * economics.staff_per_year;
    costs.storage =
        years * annuity(economics.storage, {}, economics.lifetime, economics.discount_rate);
    if (option.rent) {
      const auto paid = std::max(occupied, option.rent->minimum_term);
      costs.rent = assumed.rent * count(machines.all_gpus(option)) * (paid / hour) *
                   option.rent->per_gpu_hour;
      costs.support = years * option.support_per_year.fixed;
      return costs;
    }
    const double owned = years / economics.utilisation;
    costs.capital = owned * annuity(whole, option.residual_value.of(whole), lifetime(),
                                    economics.discount_rate);
    costs.support = owned * option.support_per_year.of(whole);
    costs.energy = assumed.energy_price * (economics.electricity * (watts * occupied));
    return costs;
  }
};

// Buys machines for every life that the training begins, and sells those before the last.
void buy(Assessment& result, const Bill& bill) {
  constexpr double rounding = 1e-9;
  const auto whole = bill.capital_full();
  if (result.planned && bill.option.price)
    result.lives =
        std::max<std::int64_t>(1, std::llround(std::ceil(bill.lives_of(result.time) - rounding)));
  result.machines =
      count(result.lives) * whole - count(result.lives - 1) * bill.option.residual_value.of(whole);
}

// The share of the step in which a GPU computes.
double computing(const forecast::Forecast& forecast) {
  const auto time = forecast.time.computation();
  return forecast.step.time.value > 0 ? std::min(1.0, time / forecast.step.time) : 1;
}

// Adds the times of all workloads, and how far they may be off.
void add_times(Assessment& result, const Purchase& purchase, const PurchaseOption& option,
               const std::vector<Planned>& plans, const Assumptions& assumed) {
  double progressing = 0, variance = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto& workload = purchase.workloads[i];
    const auto& step = plans[i].forecast.step;
    const auto goodput =
        goodput_of(plans[i].scenario, purchase.reliability,
                   option.rent ? option.rent->preemption_mtbf : std::nullopt, assumed.failure_rate);
    const auto& training = plans[i].scenario.training;
    const double steps = tokens_needed(workload, training.global_batch) / training.useful_tokens();
    const double factor = steps / assumed.efficiency / goodput.share;
    const auto once = factor * step.time;
    result.goodputs.push_back(goodput);
    if (!(goodput.share > least_goodput)) {
      result.goodput = 0;
      return;
    }
    result.times.push_back(once);
    result.time += workload.weight * once;
    result.time_low += workload.weight * factor * step.time_low;
    result.time_high += workload.weight * factor * step.time_high;
    result.tokens += workload.weight * workload.tokens;
    progressing += (workload.weight * goodput.share * once).value;
    variance += workload.weight * goodput.failures.value * once.value * goodput.loss_squared;
  }
  result.goodput = progressing / result.time.value;
  const double failures = variance / (result.time.value * result.time.value);
  const auto spread = [&](double logarithm) {
    return std::sqrt(std::pow(forecast::deviation_within(logarithm), 2) + failures);
  };
  result.spread_low = spread(std::log(result.time / result.time_low));
  result.spread_high = spread(std::log(result.time_high / result.time));
  result.until_done = option.lead_time + option.burn_in + result.time;
}

// The share of the wall clock in which a GPU computes, weighted by the times of workloads.
double busy_share(const Assessment& result, const Purchase& purchase,
                  const std::vector<Planned>& plans) {
  double busy = 0;
  for (std::size_t i = 0; i < plans.size(); ++i)
    busy += (purchase.workloads[i].weight * result.times[i]).value * result.goodputs[i].share *
            computing(plans[i].forecast);
  return busy / result.time.value;
}

// The probability of ending in time. The time is taken as log-normal on either side of its median,
// which is the forecast.
double probability(const Assessment& result, Seconds left) {
  if (!(left.value > 0)) return 0;
  const double beyond = std::log(left / result.time);
  const double spread = beyond < 0 ? result.spread_low : result.spread_high;
  if (!(spread > 0)) return beyond >= 0 ? 1 : 0;
  return std::erfc(-beyond / spread / std::sqrt(2.0)) / 2;
}

template <class Quantity>
void hold(std::vector<Shortfall>& shortfalls, const char* what, Quantity is,
          const std::optional<Quantity>& most) {
  if (!most || is <= *most) return;
  shortfalls.push_back({what, is / *most - 1});
}

// `without`: the reason why there are no figures; empty: there are.
void check_constraints(Assessment& result, const Constraints& constraints,
                       const std::string& without) {
  auto& shortfalls = result.shortfalls;
  const bool of_capital =
      constraints.budget_of == Constraints::BudgetOf::capital && result.capital_full.value > 0;
  if (!result.planned) {
    shortfalls.push_back({without, 0});
  } else {
    hold(shortfalls, "deadline", result.until_done, constraints.deadline);
    if (!of_capital) hold(shortfalls, "budget", result.costs.total(), constraints.budget);
  }
  if (of_capital) hold(shortfalls, "budget", result.machines, constraints.budget);
  hold(shortfalls, "power", result.power, constraints.power);
  hold(shortfalls, "racks", result.racks, constraints.racks);
  std::stable_sort(shortfalls.begin() + (result.planned ? 0 : 1), shortfalls.end(),
                   [](const auto& a, const auto& b) { return a.excess > b.excess; });
}

}  // namespace

double tokens_needed(const Workload& workload, std::int64_t global_batch) {
  const double growth =
      workload.critical_batch ? 1 + count(global_batch) / *workload.critical_batch : 1;
  return workload.tokens * growth * (1 + workload.overhead);
}

Assessment assess(const Purchase& purchase, const PurchaseOption& option,
                  const std::vector<Planned>& plans, const Assumptions& assumptions) {
  const Machines machines(option, purchase.reliability);
  const Bill bill{purchase, option, machines, assumptions};
  const double pue = purchase.economics.pue;
  Assessment result;
  result.gpus = machines.gpus;
  result.capital_full = bill.capital_full();
  if (!option.rent) {  // what is rented stands on somebody else's site
    result.power = pue * machines.draw(option.power, 1);
    result.racks = std::ceil(count(machines.all_nodes()) / option.nodes_per_rack);
  }
  if (!plans.empty()) add_times(result, purchase, option, plans, assumptions);
  result.planned = result.goodput > least_goodput && !plans.empty();
  buy(result, bill);
  if (result.planned) {
    const auto watts = pue * machines.draw(option.power, busy_share(result, purchase, plans));
    result.energy = watts * (option.burn_in + result.time);
    result.costs = bill.of(result.time, watts);
    result.total_low = bill.of(result.time_low, watts).total();
    result.total_high = bill.of(result.time_high, watts).total();
    if (const auto deadline = purchase.constraints.deadline)
      result.deadline_probability =
          probability(result, *deadline - option.lead_time - option.burn_in);
  }
  check_constraints(result, purchase.constraints, plans.empty() ? "plan" : "failures");
  return result;
}

}  // namespace search
