// SPDX-License-Identifier: Apache-2.0
// Model states in host memory or on NVMe (ZeRO-Offload, Ren et al. 2021; ZeRO-Infinity, Rajbhandari
// et al. 2021). Each rank moves its share only:
//   gradients, 16 bit   to the host as soon as they are reduced, under the backward pass: after
//                       every microbatch if they live there, else once a step
//   the update          on the host's processors; states on NVMe are read and written meanwhile,
//                       and new parameters travel back behind them
//   parameters, 16 bit  on the host: read before each gather, forward and backward
#include "plans/memory.hpp"
#include "strategies/lowering.hpp"

namespace strategies {

using sim::EventId;
using sim::no_event;

void Lowering::ask_host(int stage, const topology::HostWork& work,
                        const std::vector<EventId>& after, std::vector<EventId>& done) {
  for (auto index : cells_of_stage_[static_cast<std::size_t>(stage)])
    for (auto actor : cells_[index].actors) {
      const sim::Participant who{sim::ActorId{actor}, {after[actor], no_event}};
      const auto time = to_ticks(costs_.host(work, out_.actors[actor].gpu));
      done[actor] = out_.program.event(out_.program.add_collective(
          sim::Lane::offload, time, offloading, {&who, 1}, {label_offload}));
    }
}

void Lowering::read_parameters(int stage, const Parameters& parameters,
                               const std::vector<EventId>& after) {
  const units::Bytes share{share_of(parameters) * parameter_bytes()};
  topology::HostWork work{.moved = share};
  if (job_.plan.offload.parameters == Offload::Tier::nvme) work.read = share;
  ask_host(stage, work, after, read_);
}

void Lowering::copy_gradients(int stage, const Parameters& parameters) {
  const units::Bytes share{share_of(parameters) * parameter_bytes()};
  ask_host(stage, {.moved = share}, shares_parameters(stage) ? reduced_ : latest_, copied_);
}

// The update of one stage's share on the host; every rank waits for the norm, and for its
// gradients.
void Lowering::host_step() {
  const auto& offload = job_.plan.offload;
  for (const auto& facts : out_.actors) {
    const auto actor = static_cast<std::uint32_t>(&facts - out_.actors.data());
    const double share = share_of(facts.held.parameters);
    const units::Bytes weights{share * parameter_bytes()};
    topology::HostWork work{
        .touched = {share * host_traffic(job_.plan, job_.training, job_.software)}};
    if (offload.parameters == Offload::Tier::none) work.moved = weights;
    if (offload.parameters == Offload::Tier::nvme) work.written = weights;
    if (offload.optimizer == Offload::Tier::nvme) {
      const units::Bytes states{share * state_bytes(job_.plan, job_.training, job_.software)};
      work.read = states;
      work.written += states;
    }
    const sim::Participant who{
        sim::ActorId{actor},
        {reduced_[actor] == no_event ? latest_[actor] : reduced_[actor], copied_[actor]}};
    reduced_[actor] = out_.program.event(
        out_.program.add_collective(sim::Lane::offload, to_ticks(costs_.host(work, facts.gpu)),
                                    offloading, {&who, 1}, {label_offload}));
  }
}

// Parameters that the device has updated and the host keeps.
void Lowering::return_parameters() {
  for (int stage = 0; stage < stages(); ++stage) {
    const units::Bytes share{share_of(parameters_of(stage)) * parameter_bytes()};
    topology::HostWork work{.moved = share};
    if (job_.plan.offload.parameters == Offload::Tier::nvme) work.written = share;
    ask_host(stage, work, latest_, copied_);
  }
}

}  // namespace strategies
