// SPDX-License-Identifier: Apache-2.0
#include "search/purchase/goodput.hpp"

#include <algorithm>
#include <cmath>

#include "plans/memory.hpp"
#include "topology/fabric_plan.hpp"

namespace search {
namespace {

using units::Seconds;

double real(std::int64_t number) { return static_cast<double>(number); }

Rate rate_of(const std::optional<Seconds>& mtbf, std::int64_t parts) {
  if (!mtbf || !(mtbf->value > 0)) return {};
  return {real(parts) / mtbf->value};
}

// The best interval in units of the mean time between failures: u with e^(u + c) (1 - u) = 1, the
// stationary point of (e^(u + c) - 1) / u. Newton on the logarithm, which is concave, from above:
// Young's u, or what 1 - u = e^-(u + c) > e^-(1 + c) says.
double best_share(double c) {
  double u = std::min({std::sqrt(2 * c), 1 - std::exp(-1 - c), 1 - 1e-12});
  for (int i = 0; i < 50 && u > 0; ++i) {
    const double next = u + (std::log1p(-u) + u + c) * (1 - u) / u;
    if (!(next < u)) break;
    u = next;
  }
  return std::max(u, 0.0);
}

}  // namespace

bool has_failures(const Reliability& reliability) {
  return reliability.gpu_mtbf || reliability.node_mtbf || reliability.nic_mtbf ||
         reliability.switch_mtbf;
}

Reliability published_failures() {
  constexpr double gpus = 16'384, days = 54, failures = 419;
  Reliability reliability;
  reliability.gpu_mtbf = Seconds{gpus * days * 86'400 / failures};
  return reliability;
}

Inventory inventory_of(const topology::Cluster& cluster) {
  Inventory parts{cluster.gpus, cluster.nodes(), 0, 0};
  for (std::int64_t node = 0; node < parts.nodes; ++node)
    parts.nics += cluster.node_of(node * cluster.node.gpus).nics.count;
  if (parts.nodes > 1) parts.switches = topology::plan_of(cluster).switches;
  return parts;
}

FailureRates failure_rates(const Reliability& reliability, const Inventory& parts,
                           const std::optional<Seconds>& preemption_mtbf) {
  return {rate_of(reliability.gpu_mtbf, parts.gpus) + rate_of(reliability.node_mtbf, parts.nodes) +
              rate_of(reliability.nic_mtbf, parts.nics),
          rate_of(reliability.switch_mtbf, parts.switches) + rate_of(preemption_mtbf, parts.nodes)};
}

units::Bytes checkpoint_bytes(const forecast::Scenario& scenario) {
  const auto& model = scenario.model;
  strategies::Holding whole;
  whole.parameters.with_layer =
      real(model::parameters(model) + model::prediction_parameters(model));
  const double tables = real(model.vocab) * real(model.hidden) * (model.tied_embeddings ? 1 : 2);
  whole.matrices.with_layer = whole.parameters.all() - tables;
  strategies::Plan undivided;
  undivided.master_weights = scenario.plan.master_weights;
  const auto held =
      strategies::static_memory(whole, {}, undivided, scenario.training, scenario.software);
  return held.weights + held.optimizer;
}

Saving saving_of(units::Bytes bytes, const Reliability& reliability,
                 const topology::Cluster& cluster) {
  const auto nvme = real(cluster.nodes()) * cluster.node.nvme.write;
  const auto bandwidth = reliability.checkpoint_bandwidth.value_or(nvme);
  const Seconds write = bandwidth.value > 0 ? bytes / bandwidth : Seconds{};
  if (reliability.checkpoint == Reliability::Checkpoint::sync) return {write, {}};
  return {bytes / real(cluster.gpus) / cluster.node.pcie.bandwidth, write};
}

double progress(const Renewal& run, Seconds interval) {
  const double f = run.failures.value;
  // Checkpoints that cost nothing are taken all the time: nothing but restarts is lost.
  if (!(interval.value > 0) && !(run.stall.value > 0))
    return std::exp(-(run.restart + run.lag).value * f);
  if (!(f > 0)) return interval / (interval + run.stall);
  return interval.value * f /
         (std::exp((run.restart + run.lag).value * f) *
          std::expm1((interval + run.stall).value * f));
}

Seconds best_interval(const Renewal& run) {
  if (!(run.failures.value > 0)) return {};
  const Seconds mtbf{1 / run.failures.value};
  return std::max(best_share(run.stall / mtbf) * mtbf, run.lag - run.stall);
}

Seconds young_interval(const Renewal& run) {
  if (!(run.failures.value > 0)) return {};
  return {std::sqrt(2 * run.stall.value / run.failures.value)};
}

double first_order_progress(const Renewal& run, Seconds interval) {
  const double f = run.failures.value;
  const double stalled = interval.value > 0 ? run.stall / interval : 0;
  return 1 - stalled - interval.value * f / 2 - (run.restart + run.lag).value * f;
}

double availability(Rate failures, Seconds repair, std::int64_t spares) {
  const double load = failures.value * repair.value;
  double blocked = 1;  // Erlang B of 0 servers, then of one more each
  for (std::int64_t servers = 1; servers <= spares + 1; ++servers)
    blocked = load * blocked / (real(servers) + load * blocked);
  return 1 - blocked;
}

double straggling(const Reliability::Stragglers& stragglers, std::int64_t gpus) {
  if (!(stragglers.mtbf.value > 0)) return 1;
  const double slow = -std::expm1(-real(gpus) * (stragglers.found / stragglers.mtbf));
  return 1 - slow + slow / stragglers.slowdown;
}

namespace {

// The mean square of the time lost to one failure at a random time in an interval: the work since
// the checkpoint, and R + W.
double mean_square_loss(const Renewal& run, Seconds interval) {
  const double fixed = (run.restart + run.lag).value, length = (interval + run.stall).value;
  return fixed * fixed + fixed * length + length * length / 3;
}

// Divides time into progress, stalls of checkpoints, restarts after each failure (those that fail
// in turn included), and the rest: work done twice.
void divide(Goodput& goodput, const Renewal& run) {
  const double on = goodput.available;
  const double progressing = goodput.renewal * on;
  goodput.waits = 1 - on;
  goodput.stalls = goodput.interval.value > 0 ? progressing * (run.stall / goodput.interval) : 0;
  // Each failure is followed by a restart, which lasts R or until the next failure.
  goodput.restarts = on * -std::expm1(-run.restart.value * run.failures.value);
  goodput.lost_work = std::max(0.0, on - progressing - goodput.stalls - goodput.restarts);
  goodput.slow = progressing * (1 - goodput.speed);
}

}  // namespace

Goodput goodput_of(const forecast::Scenario& scenario, const Reliability& reliability,
                   const std::optional<Seconds>& preemption_mtbf, double failure_factor) {
  const auto& cluster = scenario.cluster;
  const auto parts = inventory_of(cluster);
  const auto rates = failure_rates(reliability, parts, preemption_mtbf);
  Goodput goodput;
  goodput.failures = failure_factor * rates.all();
  goodput.checkpoint = checkpoint_bytes(scenario);
  goodput.saving = saving_of(goodput.checkpoint, reliability, cluster);
  auto stragglers = reliability.stragglers;
  stragglers.mtbf = stragglers.mtbf / failure_factor;
  goodput.speed = straggling(stragglers, parts.gpus);
  if (goodput.failures.value > 0) {
    const Renewal run{goodput.failures, goodput.saving.stall, goodput.saving.lag,
                      reliability.detection + reliability.restart};
    goodput.mtbf = Seconds{1 / run.failures.value};
    goodput.interval = best_interval(run);
    goodput.young = young_interval(run);
    goodput.renewal = progress(run, goodput.interval);
    goodput.first_order = first_order_progress(run, std::max(goodput.young, goodput.interval));
    goodput.loss_squared = mean_square_loss(run, goodput.interval);
    if (reliability.spares)
      goodput.available =
          availability(failure_factor * rates.repaired, reliability.repair, *reliability.spares);
    divide(goodput, run);
  } else {
    goodput.slow = 1 - goodput.speed;
  }
  goodput.share = goodput.renewal * goodput.available * goodput.speed;
  return goodput;
}

}  // namespace search
