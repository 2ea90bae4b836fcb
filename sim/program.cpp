// SPDX-License-Identifier: Apache-2.0
#include "sim/program.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace sim {

namespace {

// Whether templates differ only in how long steps take and in what is held.
bool same_structure(const Template& a, const Template& b) {
  return a.drains == b.drains &&
         std::ranges::equal(a.steps, b.steps, [](const Step& x, const Step& y) {
           return x.lane == y.lane && x.rendezvous == y.rendezvous && x.activity == y.activity &&
                  x.joins == y.joins;
         });
}

}  // namespace

TemplateId Program::add_template(Template body) {
  if (body.steps.empty()) throw std::invalid_argument("a pass needs at least one step");
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    const auto& step = body.steps[i];
    if (step.joins >= static_cast<std::int32_t>(i))
      throw std::invalid_argument("a step can only wait for steps before it");
    if (step.lane != Lane::compute && step.lane != Lane::tensor)
      throw std::invalid_argument("the steps of a pass run on the compute or the tensor lane");
    if (step.duration < 0 || step.issue < 0)
      throw std::invalid_argument("a step cannot take negative time");
  }
  meets_.push_back(std::ranges::any_of(body.steps, &Step::rendezvous));
  templates_.push_back(std::move(body));
  return TemplateId{static_cast<std::uint32_t>(templates_.size() - 1)};
}

void Program::reserve(std::size_t ops, std::size_t events) {
  ops_.reserve(ops);
  labels_.reserve(ops);
  participants_.reserve(events);
}

OpId Program::add(Op op, std::span<const Participant> who, Label label) {
  op.first = static_cast<std::uint32_t>(participants_.size());
  op.count = static_cast<std::uint32_t>(who.size());
  if (who.empty()) throw std::invalid_argument("an op needs an actor");
  if (op.duration < 0) throw std::invalid_argument("an op cannot take negative time");
  for (const auto& participant : who) {
    for (EventId earlier : participant.after)
      if (earlier != no_event && static_cast<std::uint32_t>(earlier) >= op.first)
        throw std::invalid_argument("an op can only wait for events already added");
    actors_ = std::max(actors_, static_cast<std::uint32_t>(participant.actor) + 1);
  }
  participants_.insert(participants_.end(), who.begin(), who.end());
  ops_.push_back(op);
  labels_.push_back(label);
  return OpId{static_cast<std::uint32_t>(ops_.size() - 1)};
}

OpId Program::add_pass(TemplateId body, std::span<const Participant> who, Label label) {
  if (static_cast<std::size_t>(body) >= templates_.size())
    throw std::invalid_argument("a pass needs a template already added");
  const Op pass{.kind = Op::Kind::pass, .body = static_cast<std::uint32_t>(body)};
  if (who.size() <= 1 || meets_[static_cast<std::size_t>(body)]) return add(pass, who, label);
  const auto first = add(pass, who.first(1), label);
  for (std::size_t i = 1; i < who.size(); ++i) add(pass, who.subspan(i, 1), label);
  return first;
}

OpId Program::add_pass(std::span<const TemplateId> bodies, std::span<const Participant> who,
                       Label label) {
  if (bodies.size() != who.size())
    throw std::invalid_argument("a pass needs a body for each of its actors");
  if (bodies.empty()) throw std::invalid_argument("an op needs an actor");
  if (std::ranges::all_of(bodies, [&](auto body) { return body == bodies.front(); }))
    return add_pass(bodies.front(), who, label);
  const auto list = intern(bodies);
  if (!meets_[static_cast<std::size_t>(bodies.front())]) {
    const auto first = add_pass(bodies.front(), who.first(1), label);
    for (std::size_t i = 1; i < who.size(); ++i) add_pass(bodies[i], who.subspan(i, 1), label);
    return first;
  }
  return add(
      {.kind = Op::Kind::pass, .body = static_cast<std::uint32_t>(bodies.front()), .bodies = list},
      who, label);
}

std::uint32_t Program::intern(std::span<const TemplateId> bodies) {
  std::vector<TemplateId> list(bodies.begin(), bodies.end());
  if (const auto known = first_body_.find(list); known != first_body_.end()) return known->second;
  for (auto id : bodies)
    if (static_cast<std::size_t>(id) >= templates_.size())
      throw std::invalid_argument("a pass needs a template already added");
  for (auto id : bodies)
    if (!same_structure(body(id), body(bodies.front())))
      throw std::invalid_argument(
          "bodies of one pass may differ only in the time and the memory that they take");
  const auto first = static_cast<std::uint32_t>(bodies_.size());
  bodies_.insert(bodies_.end(), list.begin(), list.end());
  first_body_.emplace(std::move(list), first);
  return first;
}

OpId Program::add_collective(Lane lane, Picoseconds duration, Activity activity,
                             std::span<const Participant> who, Label label) {
  return add(
      {.kind = Op::Kind::collective, .lane = lane, .activity = activity, .duration = duration}, who,
      label);
}

LinkId Program::add_link(double capacity) {
  if (!(capacity > 0) || !std::isfinite(capacity))
    throw std::invalid_argument("a link needs a bandwidth above zero");
  links_.push_back(capacity);
  return LinkId{static_cast<std::uint32_t>(links_.size() - 1)};
}

std::uint32_t Program::add_traffic(Traffic traffic) {
  if (traffic.links.empty()) throw std::invalid_argument("traffic needs a link to cross");
  if (!(traffic.bytes >= 0) || !(traffic.cap > 0) || !std::isfinite(traffic.bytes))
    throw std::invalid_argument("traffic needs bytes and a rate above zero");
  for (const auto& use : traffic.links)
    if (static_cast<std::size_t>(use.link) >= links_.size() || use.times == 0)
      throw std::invalid_argument("traffic can only cross links already added");
  traffic_.push_back(std::move(traffic));
  return static_cast<std::uint32_t>(traffic_.size() - 1);
}

void Program::send_over_links(OpId op, std::uint32_t traffic) {
  auto& sender = ops_.at(static_cast<std::size_t>(op));
  if (sender.kind == Op::Kind::pass || traffic >= traffic_.size())
    throw std::invalid_argument("only collectives and transfers send traffic already added");
  sender.traffic = traffic;
}

OpId Program::add_transfer(Op::Kind kind, Picoseconds duration, Activity activity, Participant from,
                           ActorId to, Label label) {
  if (kind == Op::Kind::pass || kind == Op::Kind::collective)
    throw std::invalid_argument("a transfer is a transfer, blocking or latency op");
  const std::array<Participant, 2> who{from, Participant{to}};
  return add({.kind = kind, .lane = Lane::send, .activity = activity, .duration = duration}, who,
             label);
}

}  // namespace sim
