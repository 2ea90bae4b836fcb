// SPDX-License-Identifier: Apache-2.0
#include "forecast/link_samples.hpp"

#include <algorithm>

#include "sim/contention.hpp"

namespace forecast {

namespace {

struct RateChange {
  sim::Picoseconds when;
  double share;  // of the bandwidth; negative where traffic ends
};

std::vector<LinkSample> summed(std::size_t link, std::vector<RateChange>& changes) {
  std::ranges::stable_sort(changes, {}, &RateChange::when);
  std::vector<LinkSample> samples;
  double share = 0;
  std::int64_t sending = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    share += changes[i].share;
    sending += changes[i].share > 0 ? 1 : -1;
    if (sending == 0) share = 0;  // not what rounding left
    if (i + 1 == changes.size() || changes[i + 1].when > changes[i].when)
      samples.push_back({link, changes[i].when, share});
  }
  return samples;
}

// Whether the op is a pass that sends over links inside itself.
bool sends_inside(const strategies::Lowered& lowered, const sim::Op& op) {
  if (op.kind != sim::Op::Kind::pass) return false;
  const auto actor = lowered.program.participants()[op.first].actor;
  return !lowered.inside[static_cast<std::size_t>(actor)].uses.empty() &&
         lowered.program.body(lowered.program.body_of(op, 0)).sent > 0;
}

}  // namespace

std::vector<double> link_loads(const strategies::Lowered& lowered, const sim::Trace& trace,
                               const sim::Recurrence* recurrence) {
  const auto& program = lowered.program;
  auto load = sim::utilisation(program, trace, recurrence);
  const double seconds = static_cast<double>(sim::finish_of(trace, recurrence)) * 1e-12;
  std::vector<std::vector<std::int64_t>> runs(program.actors());  // [actor][template]
  for (std::uint32_t index = 0; index < program.ops().size(); ++index) {
    const auto& op = program.ops()[index];
    if (!sends_inside(lowered, op)) continue;
    auto& of_actor = runs[static_cast<std::size_t>(program.participants()[op.first].actor)];
    of_actor.resize(program.templates().size());
    of_actor[static_cast<std::size_t>(program.body_of(op, 0))] += sim::times_of(index, recurrence);
  }
  for (std::size_t actor = 0; actor < runs.size(); ++actor)
    for (std::size_t body = 0; body < runs[actor].size(); ++body) {
      const auto& [uses, shares] = lowered.inside[actor];
      const double bytes =
          program.templates()[body].sent / shares * static_cast<double>(runs[actor][body]);
      for (const auto& [link, times] : uses) {
        const auto at = static_cast<std::size_t>(link);
        load[at] += bytes * times / (program.links()[at] * seconds);
      }
    }
  for (auto& share : load) share = std::min(share, 1.0);
  return load;
}

std::vector<LinkSample> link_samples(const strategies::Lowered& lowered, const sim::Trace& trace,
                                     std::span<const sim::LinkId> links) {
  constexpr auto none = static_cast<std::size_t>(-1);
  const auto& program = lowered.program;
  std::vector<std::size_t> place(program.links().size(), none);
  for (std::size_t l = 0; l < links.size(); ++l) place[static_cast<std::size_t>(links[l])] = l;
  std::vector<std::vector<RateChange>> changes(links.size());
  const auto add = [&](const auto& uses, double bytes, sim::Picoseconds from, sim::Picoseconds to) {
    if (to <= from) return;
    for (const auto& [link, times] : uses) {
      const auto at = place[static_cast<std::size_t>(link)];
      if (at == none) continue;
      const double share = bytes * times /
                           (program.links()[static_cast<std::size_t>(link)] *
                            static_cast<double>(to - from) * 1e-12);
      changes[at].push_back({from, share});
      changes[at].push_back({to, -share});
    }
  };
  for (const auto& op : program.ops()) {
    if (op.traffic == sim::no_traffic) continue;
    const auto& traffic = program.traffic()[op.traffic];
    add(traffic.links, traffic.bytes, trace.start[op.first] + op.duration, trace.end[op.first]);
  }
  for (const auto& op : program.ops()) {
    if (!sends_inside(lowered, op)) continue;
    const auto actor = program.participants()[op.first].actor;
    const auto& [uses, shares] = lowered.inside[static_cast<std::size_t>(actor)];
    add(uses, program.body(program.body_of(op, 0)).sent / shares, trace.start[op.first],
        trace.end[op.first]);
  }
  std::vector<LinkSample> samples;
  for (std::size_t l = 0; l < links.size(); ++l) {
    const auto of_link = summed(l, changes[l]);
    samples.insert(samples.end(), of_link.begin(), of_link.end());
  }
  return samples;
}

}  // namespace forecast
