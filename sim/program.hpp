// SPDX-License-Identifier: Apache-2.0
// A program: the ops of actors, in an order in which they could be done. It is the engine's only
// input.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace sim {

// Simulated time is exact: equal instants are equal, and runs repeat bit for bit.
using Picoseconds = std::int64_t;
// The time of an event that never comes, or is not known to end: some 26 days, longer than any
// step. The sum of three such times is within 64 bits.
inline constexpr Picoseconds unreached = std::numeric_limits<Picoseconds>::max() / 4;

enum class ActorId : std::uint32_t {};  // one rank, or one class of ranks alike
enum class TemplateId : std::uint32_t {};
enum class OpId : std::uint32_t {};
enum class EventId : std::uint32_t {};  // one actor's part in one op
enum class LinkId : std::uint32_t {};   // something that ops share
inline constexpr EventId no_event{0xffffffffu};

// Streams of an actor. Work on a lane runs in the order in which the program adds it.
// `exchange`: communication inside a layer that is an op of its own. `offload`: what the host's
// processors, memory and disks do for the actor; `fetch`: copies from there that run beside it;
// `load`: the next samples.
enum class Lane : std::uint8_t {
  host,
  compute,
  tensor,
  data,
  send,
  exchange,
  offload,
  fetch,
  load
};
inline constexpr std::size_t lanes = 9;
// Whether only ops that name work on this lane wait for it.
constexpr bool is_host_side(Lane lane) { return lane >= Lane::offload; }

// The activity that a step is for: the caller's own small numbers, which tell where the time went.
using Activity = std::uint8_t;
inline constexpr std::size_t activities = 20;

// One operator of a pass, on the compute or the tensor lane. It begins when the host has issued it
// (the host issues the steps of a pass in order, `issue` each), its lane is free and step `joins`
// has ended (-1: none). A rendezvous begins when that holds for every actor of the pass.
struct Step {
  Lane lane = Lane::compute;
  bool rendezvous = false;
  Activity activity = 0;
  std::int32_t joins = -1;
  Picoseconds issue = 0;
  Picoseconds duration = 0;
};

// A pass, as often as it is repeated. `held` is what it leaves allocated (negative: frees),
// `peak` the most it needs at once beyond what was allocated before, both in bytes.
struct Template {
  std::vector<Step> steps;
  bool drains = false;  // the host waits for the device before it issues the first step
  std::int64_t held = 0, peak = 0;
  // Operations that each actor computes, and bytes that it sends in steps on the tensor lane. For
  // reports, as far as the caller counts them; the engine does not read them.
  double flops = 0, sent = 0;
  // The caller's number of each step's question, for the first steps; 0 means none.
  std::vector<std::uint32_t> asked = {};
  // Blocks of the caller's model that the pass runs, `held` and `peak` being theirs. For reports.
  std::int32_t blocks = 0;
};

// An actor's part in an op: it waits for two earlier events (or none).
struct Participant {
  ActorId actor;
  std::array<EventId, 2> after{no_event, no_event};
};

// The traffic of a collective or transfer after its fixed part, which may share links with others:
// `bytes` at no more than `cap` bytes/s over every one of `links` at once, each loaded `times`
// times.
struct Traffic {
  struct Use {
    LinkId link;
    std::uint32_t times = 1;
    friend bool operator==(const Use&, const Use&) = default;
  };
  std::vector<Use> links;
  double bytes = 0, cap = 0;
};
inline constexpr std::uint32_t no_traffic = 0xffffffffu;
inline constexpr std::uint32_t one_body = 0xffffffffu;

struct Op {
  enum class Kind : std::uint8_t {
    pass,        // participants run one template together
    collective,  // participants meet on a lane, for a duration
    transfer,    // participant 0 sends to participant 1; occupies the sender's send lane
    blocking,    // a transfer that occupies the sender's compute lane too
    latency,     // a transfer that occupies nothing
  };
  Kind kind;
  Lane lane = Lane::data;   // collective
  Activity activity = 0;    // collective and transfers
  std::uint32_t body = 0;   // pass: its template, of the first participant if they differ
  std::uint32_t first = 0;  // first event; events are consecutive
  std::uint32_t count = 0;
  Picoseconds duration = 0;  // collective and transfers: all, or before its traffic
  std::uint32_t traffic = no_traffic;
  std::uint32_t bodies = one_body;  // pass: its templates, if they differ (Program::body_of)
};

// The name of an op in reports; the engine does not read it.
struct Label {
  std::uint8_t kind = 0;
  std::int16_t chunk = -1;
  std::int32_t microbatch = -1;
};

// A place in a program: what stands there, and all events of ops before it.
struct Position {
  std::uint32_t op = 0, event = 0;
};

// A program grows only forward: an event may wait only for events already added, so it cannot hold
// a cycle.
class Program {
 public:
  void reserve(std::size_t ops, std::size_t events);  // saves copies while it grows
  TemplateId add_template(Template body);
  // Actors that meet at no rendezvous run the pass each on their own: one op for each, the events
  // consecutive all the same.
  OpId add_pass(TemplateId body, std::span<const Participant> who, Label label = {});
  // A pass in which participant i runs bodies[i]: they may differ in how long their steps take, or
  // their issue, and in memory, in nothing else. A rendezvous lasts as long as for the slowest.
  OpId add_pass(std::span<const TemplateId> bodies, std::span<const Participant> who,
                Label label = {});
  OpId add_collective(Lane lane, Picoseconds duration, Activity activity,
                      std::span<const Participant> who, Label label = {});
  // Returns the op; its events are the sender's end and, next to it, the arrival.
  OpId add_transfer(Op::Kind kind, Picoseconds duration, Activity activity, Participant from,
                    ActorId to, Label label = {});

  // A link that carries at most `capacity` bytes/s, shared max-min fairly.
  LinkId add_link(double capacity);
  // Lets a collective or transfer send this after its duration. The same traffic may serve many
  // ops.
  std::uint32_t add_traffic(Traffic traffic);
  void send_over_links(OpId op, std::uint32_t traffic);
  // Sets the caller's number of the last op's question. The engine does not read it.
  void name_last(std::uint32_t asked) { asked_.emplace_back(OpId(ops_.size() - 1), asked); }

  // Says that a period begins with the next op: a program may repeat what is between two marks.
  void mark() {
    marks_.push_back({static_cast<std::uint32_t>(ops_.size()),
                      static_cast<std::uint32_t>(participants_.size())});
  }
  // Says that this program stands for one that has `periods` periods more before its last mark,
  // each with the ops of the one there. Ops behind them wait for the last of them (recurrence.hpp).
  void leave_out(std::int64_t periods) { left_out_ = periods; }

  EventId event(OpId op, std::uint32_t participant = 0) const {
    return EventId{ops_[static_cast<std::uint32_t>(op)].first + participant};
  }
  // The template that a participant of a pass runs.
  TemplateId body_of(const Op& op, std::uint32_t participant) const {
    return op.bodies == one_body ? TemplateId{op.body} : bodies_[op.bodies + participant];
  }
  const Template& body(TemplateId id) const { return templates_[static_cast<std::uint32_t>(id)]; }
  std::uint32_t actors() const { return actors_; }
  const std::vector<Template>& templates() const { return templates_; }
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<Participant>& participants() const { return participants_; }
  const std::vector<Label>& labels() const { return labels_; }
  const std::vector<double>& links() const { return links_; }  // capacities
  // The numbers of questions, for ops that have one, in their order.
  const std::vector<std::pair<OpId, std::uint32_t>>& asked() const { return asked_; }
  const std::vector<Traffic>& traffic() const { return traffic_; }
  const std::vector<Position>& marks() const { return marks_; }
  std::int64_t left_out() const { return left_out_; }

 private:
  OpId add(Op op, std::span<const Participant> who, Label label);
  std::uint32_t intern(std::span<const TemplateId> bodies);
  std::vector<Template> templates_;
  std::vector<bool> meets_;         // templates with a rendezvous
  std::vector<TemplateId> bodies_;  // of passes whose bodies differ, list after list
  std::map<std::vector<TemplateId>, std::uint32_t> first_body_;  // by list: where it stands
  std::vector<Op> ops_;
  std::vector<Participant> participants_;
  std::vector<Label> labels_;
  std::vector<double> links_;
  std::vector<Traffic> traffic_;
  std::vector<std::pair<OpId, std::uint32_t>> asked_;
  std::vector<Position> marks_;
  std::int64_t left_out_ = 0;
  std::uint32_t actors_ = 0;
};

}  // namespace sim
