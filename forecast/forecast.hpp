// SPDX-License-Identifier: Apache-2.0
// The answer: one training step, its time, memory, and where they went.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/basis.hpp"
#include "forecast/idle.hpp"
#include "forecast/kernel_class.hpp"
#include "forecast/scenario.hpp"
#include "forecast/step_parts.hpp"
#include "plans/schedules/known_orders.hpp"
#include "units/quantity.hpp"

namespace forecast {

struct Step {
  units::Seconds time;
  units::Seconds time_low, time_high;  // 80 % interval; both `time` until it is filled in
  double tokens = 0;                   // per step, padding included
  double useful_tokens = 0;            // of them: without padding
  double tokens_per_second = 0, tokens_per_second_per_gpu = 0;
  double dropped = 0;        // share of the copies of tokens that experts have no room for
  units::Flops model_flops;  // of what is computed: without dropped copies
  units::FlopsPerSecond flops_per_gpu;
  double mfu = 0, hfu = 0;
  std::int64_t microbatches = 0;  // per data-parallel replica

  double useful_tokens_per_second() const { return useful_tokens / time.value; }
};

// Times of all GPUs; TimeParts has those of one.
struct GpuTimes {
  double computing = 0;  // share of the step in which the mean GPU computes, optimizer included
  // Most of a step that one GPU is idle or in communication that nothing of its own hides.
  units::Seconds longest_wait;
};

struct StageTimes {
  int stage = 0;
  std::int64_t layers = 0;
  units::Seconds busy, bubble;
  double peak_in_flight = 0;  // full-stage activations of one microbatch
  units::Seconds forward, backward_input, backward_weight, recompute;  // per microbatch
  std::optional<IdleByCause> bubble_by_cause;  // only if asked for; sums to `bubble`
};

struct Pipeline {
  double bubble_fraction = 0;
  std::vector<StageTimes> stages;  // in rank order
};

// One middle layer.
struct LayerTimes {
  units::Seconds forward, backward, attention_forward, attention_backward, mlp_forward,
      mlp_backward;
  units::Bytes kept;
};

// The memory of a stage's tightest device, the one that uses the largest share of its own memory.
struct StageMemory {
  units::Bytes weights, gradients, optimizer, activations, temporary, communication, framework;
  units::Bytes peak, peak_allocated, peak_reserved;
  units::Bytes buffers;   // part of `temporary` that exists in all passes
  units::Bytes capacity;  // of the device that is fullest on this stage

  // The bytes without which a step cannot run: without pieces that the allocator keeps.
  units::Bytes needed() const { return peak_allocated + communication + framework; }
};

// The most bytes of a step, each maximum by itself. device = reserved + communicators + framework.
struct AllocatorPeaks {
  units::Bytes allocated, reserved, device;
};

// Alike tensors that are alive together, of several blocks and of each microbatch in flight.
struct HeldTensors {
  std::string block, op, what, category;  // "layer 0 and 5 more", "qkv", "input", "activations"
  std::int64_t count = 0;
  units::Bytes bytes;  // bytes of all of them
};

// An allocation that there was no memory for, after which nothing is played.
struct AllocatorFailure {
  bool by_fragments = false;  // it would fit beside the allocated bytes, but not in one piece
  std::int64_t step = -1;     // from 0 on; -1: before the first
  std::string tensor;
  units::Bytes requested, allocated, reserved, largest_free;
  units::Bytes limit;  // what may be reserved
};

// The memory that the caching allocator holds on a rank of the stage that needs most, by a replay.
struct AllocatorUse {
  int stage = 0;
  AllocatorPeaks first, steady;  // the first step; later steps, which find cached blocks
  units::Bytes unused_at_peak;   // reserved - allocated, when most is allocated in a steady step
  std::int64_t period = 0;       // steps after which its state recurs; 0: not in those played
  std::int64_t played = 0;       // steps
  std::int64_t retries = 0;      // allocations for which all that was cached was given back
  std::vector<HeldTensors> largest;  // alive at the peak: the ten largest, in order
  std::optional<AllocatorFailure> failure;
  // Where it fails: the room, without communicators and framework, in which it has a piece for
  // every tensor; else 0.
  units::Bytes least_room;
};

struct Memory {
  bool fits = true, host_fits = true;  // host_fits: NVMe too
  // `peak` of `capacity` is the tightest device's, on `peak_stage`; allocated and reserved are each
  // of the stage where they are the largest share of its device. A larger device may hold more.
  units::Bytes capacity, peak, peak_allocated, peak_reserved;
  units::Bytes host, host_capacity, nvme, nvme_capacity;  // all of the fullest node
  int peak_stage = 0;
  std::vector<StageMemory> stages;        // in rank order
  std::optional<AllocatorUse> allocator;  // only if asked for
  // The probability, from 0 to 1, that a real run fits in memory. Present only if asked for
  // (accuracy/memory_spread.hpp).
  std::optional<double> fit_chance;
};

// Links that cannot be told apart, by one of them: "nic0.3:out", of kind "nic".
struct LinkLoad {
  std::string name, kind;
  std::int64_t alike = 1;
  double utilisation = 0;  // bytes over what it could have carried in the step, at most 1
};

// The time that one rank lost in a step because its traffic `what` shared `link` with the traffic
// `by`. The rank is the one that lost most.
struct Slowed {
  std::string what, by;  // "reduce gradients", "send activations"
  std::string link;
  units::Seconds lost;
};

// Reach and load of experts, where training.routing is given (plans/routing.hpp).
struct ExpertRanks {
  double ranks_reached = 1, nodes_reached = 1;  // by one token, in the mean
  double own_load = 1, fullest_load = 1;        // loads of the mean rank and of the fullest
  double dropped = 0;                           // share of token copies
  // `given_load`: the load with consecutive experts on each rank, if they are placed another way.
  // `least_load`: the load that no placement gets below.
  std::optional<double> given_load, least_load;
  // The times of a middle layer on a rank with the load `load`: first on the mean rank, then on
  // quantiles of the fullest.
  struct Layer {
    double quantile = 0;  // 0: the mean rank
    double load = 1;
    units::Seconds mlp_forward, mlp_backward;
    units::Bytes kept;
  };
  std::vector<Layer> layers;
  units::Seconds waiting;  // most that the mean rank of a stage waits in a step for the fullest
};

struct SimulationFacts {
  std::int64_t events = 0;  // that were played
  std::int64_t ranks = 0, ranks_simulated = 0;
  // Microbatches of which every pass was played. The others repeat what these did, to the
  // picosecond.
  std::int64_t microbatches_played = 0;
  units::Seconds wall;  // filled by whoever owns a clock
};

// One bar of the timeline: an operation of a representative rank on one of its lanes.
struct Slice {
  int stage = 0;
  std::int64_t rank = 0;  // lowest rank of the class
  // One of "compute", "tensor", "context", "expert", "data", "offload", "fetch", "data loader",
  // "pipeline send", "pipeline receive".
  std::string_view lane;
  std::string name;  // "forward m3 chunk 1"
  // One of "forward", "backward", "recompute", "optimizer", "tensor_comm", …
  std::string_view kind;
  std::int64_t microbatch = -1, chunk = -1;
  std::int64_t start_ps = 0, end_ps = 0;
  units::Bytes bytes;  // sent by each of its ranks; by a pass: in its communication
  // Operations of a pass on one rank, with those that run again. They are counted as in Step::hfu,
  // so those of all ranks' passes sum to it. Optimizer steps count none.
  units::Flops flops;
  int steps = -1;  // of a pass: index into Timeline::passes; -1: none
};

// A kernel, a collective or a row of element-wise kernels inside a pass, in picoseconds since the
// pass begins: as a rank plays it on a free device whose host is far ahead.
struct PassStep {
  std::string_view part;  // "forward", "input gradient", "recompute", "tensor comm", …
  std::optional<strategies::CostQuery> asked;  // the priced question, if it has a price of its own
  std::optional<KernelClass> kernels;          // absent: the device computes nothing
  std::int64_t start_ps = 0, end_ps = 0;
};

// A message or collective that joins slices of different lanes: send to receive.
struct Arrow {
  std::size_t from = 0, to = 0;  // indices into slices
};

// Bytes allocated on a stage's representative rank from `time_ps` on: weights and optimizer states
// as in Memory::stages all the time, plus the bytes given here.
struct MemorySample {
  int stage = 0;
  std::int64_t time_ps = 0;
  units::Bytes allocated;    // all
  units::Bytes activations;  // kept for backward passes
  units::Bytes temporary;    // while the pass of `slice` runs, and buffers that are always there
  units::Bytes gradients;    // gradients that exist then
  std::size_t slice = no_slice;  // slice that begins or ends then
};

// Share of a link's bandwidth that is in use from `time_ps` on, everything that crosses it taken at
// its mean rate; over the step it integrates to LinkLoad::utilisation, where that is below 1.
struct LinkSample {
  std::size_t link = 0;  // index into Timeline::link_names
  std::int64_t time_ps = 0;
  double utilisation = 0;
};

struct Timeline {
  std::vector<Slice> slices;  // by (stage, rank, lane, start)
  std::int64_t end_ps = 0;    // of the last slice, whether or not only some stages are pictured
  std::vector<Arrow> arrows;
  std::vector<std::vector<PassStep>> passes;  // each kind once, its steps as they were played
  std::vector<MemorySample> memory;           // by (stage, time)
  std::vector<std::size_t> peaks;       // by stage: the first of its samples with most allocated
  std::vector<std::string> link_names;  // the busiest links, at most 4 of each kind and 8 in all
  std::vector<LinkSample> links;        // by (link, time)
  std::vector<Idle> idle;               // intervals of each stage's lowest rank; by (stage, start)
  // The critical path of the step, from its begin. Each piece begins where the one before it ends;
  // pieces sum to the step time.
  std::vector<Awaited> critical_path;
};

// The place of a scenario among the published runs that forecasts were compared with.
struct Validated {
  std::vector<std::string> regime;     // "a100", "megatron-core", …: the narrowest with such runs
  std::size_t rows = 0, datasets = 0;  // runs in it, and the data sets they are from
  std::vector<std::string> outside;    // values that no such run had, and how far beyond they lie
};

struct Forecast {
  Step step;
  TimeParts time;
  GpuTimes gpus;
  Pipeline pipeline;
  LayerTimes layer;
  Memory memory;
  std::vector<PartTime> critical_path;  // no part twice, none that is zero
  std::vector<LinkLoad> links;          // links that carried anything, the busiest first
  std::vector<Slowed> slowed;           // the greatest loss first
  SimulationFacts simulation;
  std::optional<ExpertRanks> experts;  // unless training.routing is left out
  std::vector<std::string> warnings;   // with advice
  Timeline timeline;                   // only if asked for
  std::optional<Validated> validated;  // filled in with the step's interval (intervals.hpp)
  std::optional<Basis> basis;          // only if asked for
};

struct Options {
  bool full = false;      // every rank instead of one of each class
  bool templates = true;  // play a repeated pass once; off: every operator is an event
  // Leave out periods that recur, if nobody looks at single events; off: play all microbatches.
  bool jump = true;
  bool timeline = false;
  // Stages whose lowest ranks get Timeline::slices, without name and steps, which is enough for a
  // picture. Ignored with `timeline`.
  std::vector<int> pictured;
  bool network = true;     // `links` and `slowed`, and Timeline::links
  bool causes = false;     // StageTimes::bubble_by_cause; comes with a timeline
  bool allocator = false;  // Memory::allocator
  bool basis = false;      // evidence for the seconds
  // Orders that several forecasts share; may be null.
  strategies::KnownOrders* orders = nullptr;
};

// Forecasts one step. The scenario must be consistent (the reader checks it): impossible values
// throw std::invalid_argument with a plain sentence.
Forecast simulate(const Scenario& scenario, const Options& options = {});

}  // namespace forecast
