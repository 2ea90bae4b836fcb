// SPDX-License-Identifier: Apache-2.0
// A plan with its degrees chosen: what is left is which layers sit where and what they recompute.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "forecast/scenario.hpp"
#include "plans/duties.hpp"
#include "plans/holdings.hpp"
#include "plans/memory.hpp"
#include "search/layer_prices.hpp"
#include "search/partition.hpp"
#include "strategies/pass_costs.hpp"
#include "strategies/sharing.hpp"

namespace strategies {
class Crowding;
}

namespace search {

// A plan but for the partition and what is recomputed. All arguments must outlive it.
class Frame {
 public:
  Frame(const forecast::Scenario& scenario, const strategies::Plan& plan, const LayerPrices& prices,
        const strategies::Sharing& sharing, bool chunks_move = false)
      : scenario_(scenario),
        plan_(plan),
        prices_(prices),
        sharing_(sharing),
        chunks_move_(chunks_move),
        placement_(plan),
        shards_(strategies::shards_of(plan, placement_, scenario.cluster)),
        layout_(strategies::layout_of(plan)),
        duties_(strategies::data_duties(plan, scenario.training, scenario.software)),
        lane_(lane()) {}

  // No plan of these degrees takes less, wherever its layers sit and whatever they recompute: the
  // work of an average device, the first microbatch's way to the last and back, and what follows
  // the last gradient. O(layers)
  sim::Picoseconds least_time() const;

  // The same of a plan whose layers are cut as its schedule or its layers_per_stage ask: by heads
  // and tails of what each device does, in whatever order. O(virtual stages · parts of a device³)
  sim::Picoseconds least_time_as_cut() const;
  // The same of what fits the memory of `problem` (of this frame, in all ways); none: nothing.
  std::optional<sim::Picoseconds> least_time_as_cut(const PipelineProblem& problem) const;
  // The same of DualPipe, slot by slot, where nothing is recomputed: pairs of passes wait for
  // what they exchange. `chain`: the model's blocks. O(slots)
  sim::Picoseconds least_time_of_pairs(const strategies::PassCosts::Segment& chain,
                                       strategies::PassCosts& times) const;
  // No device takes less for each layer that all of its chunks have: picoseconds of a step.
  double least_time_of_chunks() const;
  // Whether only one partition is looked at: the given one, or the even one where the order of
  // passes follows from their times, stages mirror each other, or devices hold several chunks,
  // unless `chunks_move`.
  bool is_cut() const;
  std::vector<int> cut() const;  // as Partition::first_layer

  // How long it takes with layers cut as above, recomputation and interference counted roughly: a
  // guess, no bound. None: it does not seem to fit.
  std::optional<sim::Picoseconds> guess(double headroom) const;
  // Of about as many microbatches as there are stages, nothing recomputed: bytes.
  double rough_memory() const;
  // Whether the states of an average device do: if not, nothing fits, whatever is recomputed.
  bool states_fit(double headroom) const { return states() <= room(headroom); }

  // The plan as a problem of partition, whose bounds bound the step: nothing in it takes longer
  // than what is simulated, and nothing that could be left out of memory is counted, so that
  // whatever fits is found. `headroom`: share of memory that stays free.
  PipelineProblem problem(const strategies::Costs& costs, double headroom) const;

  // The plan with this partition written into it, and what is recomputed as its ways say, unless
  // the plan keeps its own.
  strategies::Plan with(const Partition& partition, bool recompute) const;

 private:
  // One block of a kind, at the least that any of its ways takes.
  struct Each {
    double forward = 0, backward = 0, weight = 0, reduction = 0, update = 0, issued = 0;
    double sent = 0;  // to replicas and from them, in a step
  };
  std::vector<Each> kinds() const;
  std::vector<Each> stages_as_cut() const;  // by virtual stage
  // Work of one device: none of it can begin before its head, and after each of it a tail follows.
  struct Work {
    double time, head, tail;
  };
  struct Device {
    std::vector<Work> work;
    double update = 0, issued = 0, sent = 0;
  };
  std::vector<Device> devices_as_cut() const;
  static double one_machine_bound(std::vector<Work> work);
  double sent(const strategies::Parameters& of, bool layer) const;
  // `recomputed`: by device, in a step.
  sim::Picoseconds least_time_as_cut(const std::vector<double>& recomputed) const;
  // Into a plan: by layer, places in the ways of the prices. What is recomputed only if told so.
  void write_ways(strategies::Plan& plan, const std::vector<std::size_t>& way,
                  bool recompute) const;
  struct Sums;
  Sums sums() const;
  // Whether passes run two at a time, each under what the other exchanges; whether the host waits
  // for the device before every pass.
  bool pairs() const {
    return strategies::runs_in_pairs(scenario_.model, plan_, scenario_.software);
  }
  bool exchanges() const;
  bool drains() const;
  sim::Picoseconds time_of(const strategies::LeastTime& whole,
                           const strategies::LeastTime& block) const;
  sim::Picoseconds issued(const strategies::BlockOutline& block) const;  // by the host
  Price price(const strategies::BlockOutline& block) const;
  Price price_beside(const strategies::BlockOutline& block) const;
  // What the passes of a block take longer beside communication with replicas.
  struct Slowed {
    sim::Picoseconds forward = 0, backward = 0;  // backward: or those of gradients of weights
  };
  Slowed slowed_always(const strategies::BlockOutline& block) const;  // in every pass, else 0
  // `reduced`, `gathered`: what is sent meanwhile, at least.
  Slowed slowed(const strategies::BlockOutline& block, const strategies::Parameters& reduced,
                const strategies::Parameters& gathered) const;
  // Blocks whose parameters travel together, at least.
  int unit() const;
  strategies::Parameters parameters(std::size_t element) const;
  // Of what an element's parameters take, grouped as the plan says or regrouped, the least.
  template <class Take>
  auto least_of(std::size_t element, const Take& take) const {
    const auto& regrouped = prices_.regrouped[prices_.elements[element]];
    const auto usual = take(parameters(element));
    return regrouped ? std::min(usual, take(*regrouped)) : usual;
  }
  // What sums the gradients of the word embedding's two copies, on the first and the last stage.
  sim::Picoseconds embedding_sum() const;
  std::vector<StageTimes> besides(const strategies::Outline& outline,
                                  const strategies::Layout& layout) const;
  DataLane lane() const;
  void add_units(Layer& layer, std::size_t element) const;
  bool runs_rows() const;  // layers that run again together
  // Gradients of each layer, in its last backward pass.
  bool reduces_one_by_one() const;
  strategies::Parameters reduced_beside(std::size_t element) const;
  // What exchanges of experts take longer as they share links, at least.
  void add_crowding(PipelineProblem& problem, const strategies::Outline& outline,
                    const strategies::Costs& costs) const;
  void crowd_messages(std::vector<Layer>& layers, const strategies::Crowding& crowding,
                      sim::Picoseconds launch) const;
  void crowd_reductions(std::vector<Layer>& layers, const strategies::Crowding& crowding) const;
  std::vector<PipelineProblem::Room> rooms(int stages) const;
  // On the first virtual stage, without a layer.
  bool embedding_may_be_alone() const;
  // As cut, no layer sits on some device.
  bool leaves_devices_bare() const;
  void find_edges(std::vector<Layer>& layers) const;
  // Bytes beside all that is kept, at most, while a block runs that nothing comes behind.
  ByteCount peak_of(const strategies::BlockOutline& block) const;
  void raise_to_peaks_of_last(std::vector<Layer>& layers) const;
  void find_peaks_as_last(std::vector<Layer>& layers) const;
  sim::Picoseconds update(const strategies::Parameters& of) const;
  double room(double headroom) const;
  double states() const;  // bytes of weights, gradients and optimizer of an average device
  // Of so many parameters, whatever else there is.
  strategies::StaticMemory states_of(const strategies::Parameters& held, double cast) const;
  double whole_units() const;  // bytes of what ZeRO leaves whole at some time
  Layer layer(std::size_t element) const;
  std::int64_t most_in_flight() const;

  const forecast::Scenario& scenario_;
  const strategies::Plan& plan_;
  const LayerPrices& prices_;
  const strategies::Sharing& sharing_;
  bool chunks_move_;
  strategies::Placement placement_;
  strategies::Shards shards_;
  strategies::Layout layout_;
  strategies::DataDuties duties_;
  DataLane lane_;
};

}  // namespace search
