// SPDX-License-Identifier: Apache-2.0
// The share of its time in which a long run makes progress: failures, checkpoints, spares, slow
// GPUs.
#pragma once
#include <cstdint>
#include <optional>

#include "forecast/scenario.hpp"
#include "units/quantity.hpp"

namespace search {

using Rate = units::Quantity<-1, 0, 0>;  // events per second

// Rates of failures and the means against them. A mean time between failures is that of one machine
// part; absent: it never fails.
struct Reliability {
  enum class Checkpoint { sync, async };
  std::optional<units::Seconds> gpu_mtbf, node_mtbf, nic_mtbf, switch_mtbf;
  units::Seconds detection{0};  // until a failure is noticed
  units::Seconds restart{600};  // from then until training goes on: reschedule, load, warm up
  Checkpoint checkpoint = Checkpoint::sync;
  // The bandwidth of the storage for all writers together; absent: the NVMe of all nodes.
  std::optional<units::BytesPerSecond> checkpoint_bandwidth;
  // Nodes that wait for others to fail. Absent: there is always one, and nobody pays for it.
  std::optional<std::int64_t> spares;
  units::Seconds repair{86400};  // until a node that failed may serve as a spare, with `spares`
  // GPUs that become slower now and then and hold up all others until they are found.
  struct Stragglers {
    units::Seconds mtbf;          // of one GPU, between two such times; 0: never
    double slowdown = 1;          // of the whole step, at least 1
    units::Seconds found{86400};  // until it is replaced
    friend bool operator==(const Stragglers&, const Stragglers&) = default;
  };
  Stragglers stragglers;
  friend bool operator==(const Reliability&, const Reliability&) = default;
};

// Whether anything may fail at all.
bool has_failures(const Reliability& reliability);

// Failures as often as Llama 3 405B met them: 419 that nobody planned in 54 days on 16,384 GPUs
// (Grattafiori et al. 2024, arXiv 2407.21783, section 3.3.4), one for every 50,700 hours of a GPU.
// All else has its defaults.
Reliability published_failures();

// The numbers of a cluster's parts that can fail.
struct Inventory {
  std::int64_t gpus = 0, nodes = 0, nics = 0, switches = 0;
};
Inventory inventory_of(const topology::Cluster& cluster);

// Failures of the whole job; the rates of all parts add up. `preemption_mtbf` is of one node.
struct FailureRates {
  Rate repaired;   // of GPUs, nodes and NICs: a node goes for repair
  Rate restarted;  // of switches, and preemptions: the job restarts elsewhere
  Rate all() const { return repaired + restarted; }
};
FailureRates failure_rates(const Reliability& reliability, const Inventory& parts,
                           const std::optional<units::Seconds>& preemption_mtbf = {});

// The size of a checkpoint: weights and optimizer states of every parameter once, in the bytes that
// the software and the optimizer keep of each (plans/memory.hpp; 2 + 12 with AdamW in 16 bit).
units::Bytes checkpoint_bytes(const forecast::Scenario& scenario);

// The times of a checkpoint: training stands still for `stall`; the checkpoint can be restored from
// `lag` later on. sync: bytes / bandwidth, and no lag. async: the copy of each GPU's share to its
// host over PCIe, then the write.
struct Saving {
  units::Seconds stall, lag;
};
Saving saving_of(units::Bytes bytes, const Reliability& reliability,
                 const topology::Cluster& cluster);

// One run of exponential failures. With M = 1 / failures, stall C, lag W, restart R (detection
// included) and T of progress between two checkpoints,
//
//   share of time that is progress = T / (M e^((R + W) / M) (e^((T + C) / M) - 1)).
//
// For synchronous checkpoints that is Daly (2006): an interval T + C starts again, after R, with
// every failure in it, and until a window of length x is free of failures there pass
// M (e^(x / M) - 1) on average; E = M (1 - q) + (1 - q) M (e^((R + T + C) / M) - 1) with
// q = e^(-(T + C) / M). Between the times from which two asynchronous checkpoints can be restored
// there lie T + C too, but after a failure it takes R + T + C + W to reach the next: W joins R.
struct Renewal {
  Rate failures;
  units::Seconds stall, lag, restart;
};
double progress(const Renewal& run, units::Seconds interval);

// The T that maximises progress: T = M (1 + W0(-e^(-1 - C / M))), W0 Lambert's function; long
// enough for one checkpoint to be written before the next is taken. Young (1974): sqrt(2 C M).
units::Seconds best_interval(const Renewal& run);
units::Seconds young_interval(const Renewal& run);
// The progress to first order: 1 - C / T - T / 2M - (R + W) / M.
double first_order_progress(const Renewal& run, units::Seconds interval);

// The share of time that a job does not wait for a node. Each of `spares` + 1 failures in a row
// takes one away for `repair`; with all of them away the job waits for the first that comes back,
// and nothing fails meanwhile: Erlang's loss system with spares + 1 servers, which depends on the
// mean time of repair alone. One minus Erlang B of `failures` · `repair`. O(spares).
double availability(Rate failures, units::Seconds repair, std::int64_t spares);

// The speed of a job whose GPUs are slow now and then: with n GPUs at least one is slow for 1 -
// e^(-n found / mtbf) of the time (Poisson), and then the step takes `slowdown` times as long.
double straggling(const Reliability::Stragglers& stragglers, std::int64_t gpus);

struct Goodput {
  double share = 1;                              // training's progress over wall clock
  double renewal = 1, available = 1, speed = 1;  // factors of `share`
  std::optional<units::Seconds> mtbf;            // of the job; absent: it never fails
  units::Seconds interval, young;                // between checkpoints; 0: none are taken
  double first_order = 1;                        // of `renewal`, at Young's interval
  units::Bytes checkpoint;
  Saving saving;
  Rate failures;  // of the job, while it runs
  // Shares of the wall clock that are lost, by cause; with `share` they sum to one.
  double stalls = 0, lost_work = 0, restarts = 0, waits = 0, slow = 0;
  // Mean square of the time that one failure costs, s²: the variance between runs comes from it.
  double loss_squared = 0;
};

// The goodput of a job. `failure_factor` multiplies the rate of every failure and of stragglers.
Goodput goodput_of(const forecast::Scenario& scenario, const Reliability& reliability,
                   const std::optional<units::Seconds>& preemption_mtbf = {},
                   double failure_factor = 1);

}  // namespace search
