// SPDX-License-Identifier: Apache-2.0
// The program under construction, and how far each actor and each stage has come.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/program.hpp"
#include "strategies/activity.hpp"
#include "strategies/lowering/bodies.hpp"
#include "strategies/lowering/cast.hpp"

namespace strategies {

// Events of one actor that later ops wait for; no_event where nothing has come yet.
struct ActorClock {
  sim::EventId arrival = sim::no_event;        // of the input of the slot being written
  sim::EventId gathered = sim::no_event;       // another event that its next segment waits for
  sim::EventId latest = sim::no_event;         // end of its last pass
  sim::EventId before_latest = sim::no_event;  // end of what ran before its latest segment
  sim::EventId ended_beside = sim::no_event;   // end of the pass of a pair that is not the latest
  sim::EventId reduced = sim::no_event;        // last gradient collective
  sim::EventId read = sim::no_event;           // last parameters that the host sent
  sim::EventId copied = sim::no_event;         // last gradients that the host has
};

// The events at which the inputs of one actor's slots are there.
struct ActorInputs {
  std::vector<sim::EventId> forward, backward;  // by chunk and microbatch
  std::vector<sim::EventId> loaded;             // microbatches, in the order of loading
};

// Activations of one actor in host memory.
struct HostCopies {
  struct Copy {
    sim::EventId copied;
    std::int64_t bytes;
  };
  // By chunk and microbatch: the copies that its forward pass made and no pass fetched yet.
  std::map<std::pair<int, std::int64_t>, std::vector<Copy>> copies;
  std::array<sim::EventId, 2> latest{sim::no_event, sim::no_event};  // copies out
  std::vector<sim::EventId> fetched;                                 // that no pass waits for yet
  std::int64_t held = 0, most_held = 0;                              // bytes on the host
};

// The time that an op that sends takes before its traffic, and the traffic.
struct Sent {
  sim::Picoseconds fixed = 0;
  std::uint32_t traffic = sim::no_traffic;
  std::uint32_t asked = 0;  // number of its question (Costs::questions); 0: none
};

// Messages and collectives that were sent before, so that equal ones share their traffic.
struct Sendings {
  std::vector<std::optional<Sent>> messages;                           // [actor, direction]
  std::map<std::tuple<const Group*, Shared, bool>, Sent> collectives;  // of data; true: gathers
  std::map<std::pair<const Group*, const Exchange*>, Sent> exchanges;
};

// The order of every stage's slots, and how far they are written.
struct Slots {
  Order order;
  std::vector<std::vector<Slot>> last_backward;  // [stage][chunk]: last that completes gradients
  std::vector<std::optional<Slot>> latest;       // by stage
  std::optional<Slot> first_of_pair;             // whose second is not written yet
};

// A segment being written: the pieces of each writer, and, by piece and actor, the end of the
// exchange behind it. `who` and `bodies` are scratch.
struct SegmentRun {
  std::vector<const WrittenPass*> pieces;
  std::size_t count = 0;
  std::vector<std::vector<sim::EventId>> exchanged;
  std::vector<sim::Participant> who;
  std::vector<sim::TemplateId> bodies;
};

// Says which event an actor waits for.
using After = std::function<sim::EventId(std::uint32_t actor)>;

// The program under construction that the features of a step write to. It has neither passes nor
// collectives when it is made.
struct Emitter {
  explicit Emitter(const Cast& cast);
  Emitter(const Emitter&) = delete;  // bodies refer to the program
  Emitter& operator=(const Emitter&) = delete;

  sim::Program program;
  Bodies bodies;
  std::vector<ActorClock> clocks;       // by actor
  std::vector<ActorInputs> inputs;      // by actor
  std::vector<HostCopies> host_copies;  // by actor
  Slots slots;
  Sendings sendings;
  SegmentRun running, beside;  // the second: of a pair

  // An event of every actor's clock: after() gives it as it is whenever an op asks, now() a copy as
  // it is now.
  After after(sim::EventId ActorClock::*which) const {
    return [this, which](std::uint32_t actor) { return clocks[actor].*which; };
  }
  std::vector<sim::EventId> now(sim::EventId ActorClock::*which) const;

  // Each of these functions adds one op, and returns its event or itself.
  // Adds a pass of one actor, which becomes the latest of its clock.
  sim::EventId pass_of(std::uint32_t actor, sim::TemplateId body, std::array<sim::EventId, 2> after,
                       sim::Label label);
  // Adds work of one actor on a lane without others: work of its host, or copies there or back.
  sim::EventId work_of(std::uint32_t actor, sim::Lane lane, sim::Picoseconds duration,
                       sim::Activity activity, std::array<sim::EventId, 2> after, sim::Label label);
  // Adds a collective of several actors, which sends `sent`.
  sim::OpId collective(sim::Lane lane, const Sent& sent, sim::Activity activity,
                       std::span<const sim::Participant> who, sim::Label label);

  // Returns the time and the traffic of sending on the flow of a rank; adds its traffic where it
  // crosses links.
  Sent sent(const Cast& cast, const topology::Sending& sending, FlowKind flow, std::int64_t rank);
};

}  // namespace strategies
