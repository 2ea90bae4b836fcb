// SPDX-License-Identifier: Apache-2.0
#include "sim/contention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "sim/flows/flows.hpp"
#include "sim/stepper.hpp"
#include "sim/successors.hpp"

namespace sim {

double idle_rate(const Program& program, const Traffic& traffic) {
  auto rate = traffic.cap;
  for (const auto& [link, times] : traffic.links)
    rate = std::min(rate, program.links()[static_cast<std::size_t>(link)] / times);
  return rate;
}

Picoseconds idle_duration(const Program& program, const Op& op) {
  if (op.traffic == no_traffic) return op.duration;
  const auto& traffic = program.traffic()[op.traffic];
  const double seconds = traffic.bytes / idle_rate(program, traffic);
  // Rounds as flows are rounded: a thousandth of a picosecond late is in time.
  return op.duration + static_cast<Picoseconds>(std::ceil(seconds * 1e12 - 0x1p-10));
}

namespace {

// The spans of time in which links are in use.
class Occupied {
 public:
  explicit Occupied(std::size_t links) : of_link_(links) {}

  // Marks the link as in use from `from` to `to`; false if it is in use at some time between. Times
  // come mostly in rising order.
  bool add(LinkId link, Picoseconds from, Picoseconds to) {
    auto& spans = of_link_[static_cast<std::size_t>(link)];
    if (from == to) return true;
    if (spans.empty() || spans.back().to <= from) {
      spans.push_back({from, to});
      return true;
    }
    const auto after = std::ranges::upper_bound(spans, from, {}, &Span::from);
    if (after != spans.end() && after->from < to) return false;
    if (after != spans.begin() && std::prev(after)->to > from) return false;
    spans.insert(after, {from, to});
    return true;
  }

 private:
  struct Span {
    Picoseconds from, to;
  };
  std::vector<std::vector<Span>> of_link_;  // rising, apart
};

// The program's links, and the path of each of its traffics.
struct Network {
  explicit Network(const Program& program) : flows(program.links()) {
    std::size_t hops = 0;
    for (const auto& traffic : program.traffic()) hops += traffic.links.size() + 1;  // and a cap
    flows.reserve(program.traffic().size(), hops, program.ops().size());
    std::vector<LinkUse> uses;
    for (const auto& traffic : program.traffic()) {
      uses.clear();
      for (const auto& [link, times] : traffic.links)
        uses.push_back({static_cast<std::uint32_t>(link), times});
      paths.push_back(flows.path(uses, traffic.cap));
    }
  }
  SharedNetwork flows;
  std::vector<PathId> paths;
};

// Plays the program in one sweep in its order; nothing where two flows would be on one link at
// once.
std::optional<Trace> run_apart(const Program& program, Detail detail, const Network& network) {
  std::vector<std::optional<Picoseconds>> alone;
  for (std::size_t i = 0; i < network.paths.size(); ++i)
    alone.push_back(network.flows.alone(network.paths[i], program.traffic()[i].bytes));
  Stepper stepper(program, detail);
  Occupied occupied(program.links().size());
  for (const auto& op : program.ops()) {
    if (op.kind == Op::Kind::pass) {
      stepper.pass(op);
      continue;
    }
    const auto start = stepper.ready(op);
    const auto from = start + op.duration;
    auto end = from;
    if (op.traffic != no_traffic) {
      if (!alone[op.traffic]) return {};
      end += *alone[op.traffic];
      for (const auto& use : program.traffic()[op.traffic].links)
        if (!occupied.add(use.link, from, end)) return {};
    }
    stepper.settle(op, start, end);
  }
  return stepper.take();
}

class ContendedRun {
 public:
  ContendedRun(const Program& program, Detail detail, Network network)
      : program_(program),
        successors_(program),
        stepper_(program, detail),
        network_(std::move(network.flows)),
        paths_(std::move(network.paths)) {}

  Trace run() {
    for (std::uint32_t op = 0; op < program_.ops().size(); ++op)
      if (successors_.ready(op)) ready_.push_back(op);
    for (;;) {
      while (!ready_.empty()) {
        const auto op = ready_.back();
        ready_.pop_back();
        play(op);
      }
      const auto done =
          network_.advance_to_completion(starts_.empty() ? end_of_time : starts_.top().first);
      if (!done.empty())
        complete(done);
      else if (!starts_.empty())
        start_next();
      else
        break;
    }
    return stepper_.take();
  }

 private:
  static constexpr auto end_of_time = std::numeric_limits<Picoseconds>::max();
  using Start = std::pair<Picoseconds, std::uint32_t>;

  void start_next() {
    const auto [when, op] = starts_.top();
    starts_.pop();
    const auto traffic = program_.ops()[op].traffic;
    network_.start(paths_[traffic], program_.traffic()[traffic].bytes);
    sending_.push_back({when, op});
  }

  void complete(std::span<const SharedNetwork::Completion> done) {
    for (const auto& [at, flow] : done) {
      const auto [since, index] = sending_[static_cast<std::size_t>(flow)];
      const auto& op = program_.ops()[index];
      stepper_.settle(op, since - op.duration, at);
      release(index);
    }
  }

  void play(std::uint32_t index) {
    const auto& op = program_.ops()[index];
    if (op.kind == Op::Kind::pass) {
      stepper_.pass(op);
    } else {
      const auto start = stepper_.ready(op);
      if (op.traffic != no_traffic) {
        starts_.emplace(start + op.duration, index);
        return;
      }
      stepper_.settle(op, start, start + op.duration);
    }
    release(index);
  }

  void release(std::uint32_t op) {
    successors_.release(op, [&](std::uint32_t later) { ready_.push_back(later); });
  }

  const Program& program_;
  Successors successors_;
  Stepper stepper_;
  SharedNetwork network_;
  std::vector<PathId> paths_;
  std::vector<std::uint32_t> ready_;
  std::vector<Start> sending_;  // by flow
  std::priority_queue<Start, std::vector<Start>, std::greater<>> starts_;
};

}  // namespace

Trace run_contended(const Program& program, Detail detail) {
  Network network(program);
  if (auto apart = run_apart(program, detail, network)) return std::move(*apart);
  return ContendedRun(program, detail, std::move(network)).run();
}

std::vector<double> utilisation(const Program& program, const Trace& trace,
                                const Recurrence* recurrence) {
  std::vector<std::int64_t> sent(program.traffic().size(), 0);  // times
  for (std::uint32_t index = 0; index < program.ops().size(); ++index)
    if (const auto traffic = program.ops()[index].traffic; traffic != no_traffic)
      sent[traffic] += times_of(index, recurrence);
  std::vector<double> share(program.links().size(), 0.0);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto& traffic = program.traffic()[i];
    for (const auto& [link, times] : traffic.links)
      share[static_cast<std::size_t>(link)] += traffic.bytes * static_cast<double>(times * sent[i]);
  }
  const double seconds = static_cast<double>(finish_of(trace, recurrence)) * 1e-12;
  for (std::size_t l = 0; l < share.size(); ++l)
    share[l] = seconds > 0 ? share[l] / (program.links()[l] * seconds) : 0;
  return share;
}

}  // namespace sim
