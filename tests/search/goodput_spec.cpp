// SPDX-License-Identifier: Apache-2.0
// Progress of long runs: by pencil, beside a simulation of the process, and beside published runs.
#include <cmath>
#include <random>

#include "search/purchase/goodput.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/small_llama.hpp"

namespace goodput_spec {

using namespace search;
using units::Seconds;

namespace {

constexpr double hour = 3600;

// The share of wall clock that is progress after so many checkpoints, played failure by failure.
double played(const Renewal& run, Seconds interval, int checkpoints) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> until_failure(run.failures.value);
  double wall = 0, left = until_failure(random);  // until the next failure
  // Lets `time` seconds pass; false if a failure ends them early.
  const auto pass = [&](double time) {
    if (time < left) {
      wall += time;
      left -= time;
      return true;
    }
    wall += left;
    left = until_failure(random);
    return false;
  };
  const double segment = (interval + run.stall).value, lag = run.lag.value;
  int restorable = 0;   // checkpoints that a restart can load
  double position = 0;  // since the start, in time of segments
  while (restorable < checkpoints) {
    // The next checkpoint is taken at its segment's end, and a restart can load it `lag` later.
    const double ready = (restorable + 1) * segment + lag;
    if (pass(ready - position)) {
      position = ready;
      ++restorable;
      continue;
    }
    while (!pass(run.restart.value)) {
    }
    position = restorable * segment;
  }
  return restorable * interval.value / (wall - lag);
}

Reliability reliable() {
  Reliability reliability;
  reliability.restart = Seconds{0};
  reliability.checkpoint_bandwidth = units::BytesPerSecond{1e9};
  return reliability;
}

// A job on `gpus` nodes of one GPU each.
forecast::Scenario job(std::int64_t gpus) {
  auto scenario = tests::small_llama();
  scenario.cluster = tests::cluster_of(static_cast<int>(gpus), 1, 1);
  return scenario;
}

}  // namespace

TEST_CASE("rates of failures add up over GPUs, nodes, NICs and switches") {
  Reliability reliability;
  reliability.gpu_mtbf = Seconds{1000};
  reliability.node_mtbf = Seconds{500};
  reliability.nic_mtbf = Seconds{2000};
  reliability.switch_mtbf = Seconds{100};
  const auto rates =
      failure_rates(reliability, {.gpus = 16, .nodes = 2, .nics = 8, .switches = 1}, Seconds{400});
  CHECK(rates.repaired.value == Approx(0.016 + 0.004 + 0.004));
  CHECK(rates.restarted.value == Approx(0.01 + 0.005));
  CHECK(rates.all().value == Approx(0.039));
}

TEST_CASE("hardware without a mean time between failures never fails, and training loses nothing") {
  const auto goodput = goodput_of(job(2), {});
  CHECK(goodput.share == 1);
  CHECK_FALSE(goodput.mtbf);
  CHECK(goodput.interval.value == 0);
}

TEST_CASE("a checkpoint holds 14 bytes of every parameter with AdamW in 16 bit") {
  auto scenario = job(1);
  scenario.software.weight_bytes = 2;
  scenario.software.optimizer_bytes = 12;
  const auto parameters = static_cast<double>(model::parameters(scenario.model));
  CHECK(checkpoint_bytes(scenario).value == 14 * parameters);
  scenario.plan.zero = 3;  // all shards together hold the same bytes
  scenario.plan.data = 8;
  CHECK(checkpoint_bytes(scenario).value == 14 * parameters);
  scenario.plan.master_weights = units::Precision::bf16;  // 2 bytes less
  CHECK(checkpoint_bytes(scenario).value == 12 * parameters);
  scenario.plan.master_weights = units::Precision::fp32;
  scenario.training.optimizer = strategies::Optimizer::sgd;  // SGD has one moment of 4 bytes less
  CHECK(checkpoint_bytes(scenario).value == 10 * parameters);
  scenario.training.optimizer = strategies::Optimizer::adamw;
  scenario.training.precision = units::Precision::fp8;  // copies for products are not saved
  CHECK(checkpoint_bytes(scenario).value == 14 * parameters);
  scenario.training.precision = units::Precision::fp32;  // the weights are the master copy
  CHECK(checkpoint_bytes(scenario).value == 12 * parameters);
}

TEST_CASE("a synchronous checkpoint stalls until it is written, an asynchronous one while copied") {
  auto cluster = tests::cluster_of(4, 1, 1);
  cluster.node.pcie.bandwidth = {5e9};
  Reliability reliability = reliable();
  const auto sync = saving_of({40e9}, reliability, cluster);
  CHECK(sync.stall.value == Approx(40));
  CHECK(sync.lag.value == 0);
  reliability.checkpoint = Reliability::Checkpoint::async;
  const auto async = saving_of({40e9}, reliability, cluster);
  CHECK(async.stall.value == Approx(2));  // 10 GB of each GPU at 5 GB/s
  CHECK(async.lag.value == Approx(40));
  reliability.checkpoint_bandwidth = {};
  cluster.node.nvme.write = {2e9};
  CHECK(saving_of({40e9}, reliability, cluster).lag.value == Approx(5));  // 4 nodes
}

TEST_CASE("progress equals that of a simulation of failures") {
  struct Case {
    double stall, lag, restart, interval;  // in mean times between failures
  };
  const auto [stall, lag, restart, interval] =
      GENERATE(Case{0.01, 0, 0.05, 0.2}, Case{0.1, 0, 0.3, 0.5}, Case{0.001, 0.05, 0.02, 0.1},
               Case{0.02, 0.3, 0.5, 0.4}, Case{0, 0, 1, 1.5});
  const double mtbf = 3 * hour;
  const Renewal run{{1 / mtbf}, {stall * mtbf}, {lag * mtbf}, {restart * mtbf}};
  const Seconds every{interval * mtbf};
  CAPTURE(stall, lag, restart, interval);
  CHECK(progress(run, every) == Approx(played(run, every, 1'000'000)).epsilon(0.005));
}

TEST_CASE("no interval between checkpoints makes more progress than the best one") {
  const double stall = GENERATE(1e-6, 1e-3, 0.05, 0.5, 3.0);  // in mean times between failures
  const Renewal run{{0.001}, {1000 * stall}, {0}, {600}};
  const auto best = best_interval(run);
  CAPTURE(stall, best.value);
  for (const double other : {0.5, 0.9, 0.99, 0.999, 1.001, 1.01, 1.1, 2.0})
    CHECK(progress(run, best) >= progress(run, other * best));
  CHECK(progress(run, best) > progress(run, 0.9 * best));
  CHECK(best <= young_interval(run));
}

TEST_CASE("with rare failures the best interval is Young's and the first order is close") {
  const Renewal run{{1e-5}, {10}, {0}, {300}};
  CHECK(young_interval(run).value == Approx(std::sqrt(2e6)));
  CHECK(best_interval(run).value == Approx(young_interval(run).value).epsilon(0.01));
  // Young's progress loses stall / interval, interval / (2 · MTBF) and restart / MTBF: 1 - 10 /
  // 1414 - 1414 / 200,000 - 300 / 100,000.
  const auto every = young_interval(run);
  CHECK(first_order_progress(run, every) == Approx(1 - 0.00707107 - 0.00707107 - 0.003));
  CHECK(progress(run, every) == Approx(first_order_progress(run, every)).epsilon(2e-4));
}

TEST_CASE("a checkpoint is written before the next one is taken") {
  const Renewal run{{1e-4}, {1}, {1000}, {0}};
  CHECK(best_interval(run).value == Approx(999));
}

TEST_CASE("without a spare node a job works, then waits for the repair") {
  // A failure comes after 10 hours of work on average, and its repair takes 2.5 hours: 10 / 12.5.
  const Rate failures{1 / (10 * hour)};
  CHECK(availability(failures, Seconds{2.5 * hour}, 0) == Approx(0.8));
  // Erlang's B at load 2.5 / 10 is 1, 0.2, 0.05 / 2.05, … for 0, 1, 2, … servers; with s spares the
  // job waits for B of s + 1 of the time.
  CHECK(availability(failures, Seconds{2.5 * hour}, 1) == Approx(1 - 0.05 / 2.05));
  CHECK(availability(failures, Seconds{2.5 * hour}, 20) == Approx(1));
  CHECK(availability(failures, Seconds{0}, 0) == 1);
}

TEST_CASE("a job is slow while one of its GPUs is") {
  // Each of 1,000 GPUs turns slow once in 1,000 days and is found after a day, so the chance that
  // none is slow is 1 / e.
  const double day = 86400, none = std::exp(-1);
  CHECK(straggling({Seconds{1000 * day}, 1.25, Seconds{day}}, 1000) ==
        Approx(none + (1 - none) / 1.25));
  CHECK(straggling({}, 1000) == 1);
}

TEST_CASE("lost shares, by cause, and progress sum to the wall clock") {
  auto reliability = reliable();
  reliability.gpu_mtbf = Seconds{20 * hour};
  reliability.restart = Seconds{600};
  reliability.detection = Seconds{60};
  reliability.spares = 1;
  reliability.repair = Seconds{5 * hour};
  reliability.stragglers = {Seconds{1000 * hour}, 1.5, Seconds{3 * hour}};
  reliability.checkpoint = GENERATE(Reliability::Checkpoint::sync, Reliability::Checkpoint::async);
  const auto g = goodput_of(job(8), reliability);
  CHECK(g.share + g.stalls + g.lost_work + g.restarts + g.waits + g.slow == Approx(1));
  CHECK(g.share == Approx(g.renewal * g.available * g.speed));
  CHECK(g.share < 0.9);
  for (const double part : {g.stalls, g.lost_work, g.restarts, g.waits, g.slow}) CHECK(part > 0);
  CHECK(goodput_of(job(8), reliability, {}, 1.2).share < g.share);
  CHECK(goodput_of(job(8), reliability, Seconds{100 * hour}).share < g.share);
}

// Llama Team 2024, arXiv 2407.21783, sections 3.3.1 and 3.3.4, reports 16,384 H100 over 54 days
// with 419 unexpected interruptions, storage that sustains 2 TB/s, and "higher than 90 % effective
// training time".
TEST_CASE("Llama 3 405B kept above 90 % effective time, and so does the formula") {
  const double seconds = 54.0 * 24 * hour, bytes = 405e9 * 14;
  const Renewal run{{419 / seconds}, {bytes / 2e12}, {0}, {600}};
  CHECK(1 / run.failures.value / hour == Approx(3.09).epsilon(0.01));
  CHECK(16384 / run.failures.value / hour == Approx(50'700).epsilon(0.01));  // of one GPU
  const auto every = best_interval(run);
  CHECK(every.value == Approx(250).epsilon(0.02));  // about four minutes
  CHECK(progress(run, every) == Approx(0.926).epsilon(0.001));
  // With a quarter of that storage bandwidth and twice that restart time, progress would be 86 %.
  const Renewal worse{run.failures, 4 * run.stall, {0}, {1200}};
  CHECK(progress(worse, best_interval(worse)) == Approx(0.855).epsilon(0.01));
}

TEST_CASE("a mean time between failures of zero means hardware that never fails") {
  Reliability reliability;
  reliability.gpu_mtbf = Seconds{0};
  CHECK(failure_rates(reliability, {.gpus = 16}).all().value == 0);
}

TEST_CASE("Muon's checkpoint has a moment less, but for the embedding and a head of its own") {
  auto scenario = job(1);
  scenario.software.weight_bytes = 2;
  scenario.software.optimizer_bytes = 12;
  scenario.training.optimizer = strategies::Optimizer::muon;
  scenario.model.tied_embeddings = GENERATE(true, false);
  const auto parameters = static_cast<double>(model::parameters(scenario.model));
  const double table = static_cast<double>(scenario.model.vocab * scenario.model.hidden);
  const double tables = scenario.model.tied_embeddings ? table : 2 * table;
  CHECK(checkpoint_bytes(scenario).value == 14 * parameters - 4 * (parameters - tables));
}

TEST_CASE(
    "checkpoints stall progress by their share of an interval, and not if they cost nothing") {
  auto reliability = reliable();
  reliability.gpu_mtbf = Seconds{20 * hour};
  const auto g = goodput_of(job(8), reliability);
  CHECK(g.stalls == Approx(g.renewal * g.available * (g.saving.stall / g.interval)));
  reliability.checkpoint_bandwidth = units::BytesPerSecond{0};  // zero: a checkpoint takes no time
  const auto free = goodput_of(job(8), reliability);
  CHECK(free.interval.value == 0);
  CHECK(free.stalls == 0);
}

TEST_CASE("twice as many failures are twice as many stragglers") {
  auto reliability = reliable();
  reliability.stragglers = {Seconds{1000 * hour}, 1.5, Seconds{3 * hour}};
  const double once = goodput_of(job(8), reliability).speed;
  CHECK(once == Approx(straggling({Seconds{1000 * hour}, 1.5, Seconds{3 * hour}}, 8)));
  CHECK(goodput_of(job(8), reliability, {}, 2).speed ==
        Approx(straggling({Seconds{500 * hour}, 1.5, Seconds{3 * hour}}, 8)));
}

TEST_CASE("the mean square of a failure's cost is that over all moments of an interval") {
  auto reliability = reliable();
  reliability.gpu_mtbf = Seconds{20 * hour};
  reliability.restart = Seconds{600};
  const auto g = goodput_of(job(8), reliability);
  const double length = (g.interval + g.saving.stall).value;
  double sum = 0;
  constexpr int moments = 10'000;
  for (int i = 0; i < moments; ++i) {
    const double lost = 600 + length * (i + 0.5) / moments;
    sum += lost * lost;
  }
  CHECK(g.loss_squared == Approx(sum / moments).epsilon(1e-6));
}

}  // namespace goodput_spec
