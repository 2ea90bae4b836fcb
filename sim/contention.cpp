// SPDX-License-Identifier: Apache-2.0
#include "sim/contention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <tuple>

#include "sim/flows.hpp"
#include "sim/stepper.hpp"

namespace sim {

namespace {

// Rate of this traffic when it has its links to itself.
double idle_rate(const Program& program, const Traffic& traffic) {
  auto rate = traffic.cap;
  for (const auto& [link, times] : traffic.links)
    rate = std::min(rate, program.links()[static_cast<std::size_t>(link)] / times);
  return rate;
}

}  // namespace

Picoseconds idle_duration(const Program& program, const Op& op) {
  if (op.traffic == no_traffic) return op.duration;
  const auto& traffic = program.traffic()[op.traffic];
  const double seconds = traffic.bytes / idle_rate(program, traffic);
  return op.duration + static_cast<Picoseconds>(std::ceil(seconds * 1e12));
}

bool nothing_meets(const Program& program, const Trace& idle) {
  if (program.traffic().empty()) return true;
  struct Change {
    std::uint32_t link;
    Picoseconds when;
    double rate;
  };
  std::vector<Change> changes;
  for (const auto& op : program.ops()) {
    if (op.traffic == no_traffic) continue;
    const auto& traffic = program.traffic()[op.traffic];
    const double rate = idle_rate(program, traffic);
    const auto from = idle.start[op.first] + op.duration, to = idle.end[op.first];
    for (const auto& [link, times] : traffic.links) {
      const auto l = static_cast<std::uint32_t>(link);
      changes.push_back({l, from, rate * times});
      changes.push_back({l, to, -rate * times});
    }
  }
  // At one instant what ends makes room before what begins takes it.
  std::ranges::sort(changes, [](const Change& a, const Change& b) {
    return std::tie(a.link, a.when, a.rate) < std::tie(b.link, b.when, b.rate);
  });
  double load = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i == 0 || changes[i].link != changes[i - 1].link) load = 0;
    load += changes[i].rate;
    if (load > program.links()[changes[i].link] * (1 + 1e-9)) return false;
  }
  return true;
}

namespace {

// For each op, which ops come after it: those that wait for one of its events, and the next on each
// lane that it uses.
class Order {
 public:
  explicit Order(const Program& program) : waiting_(program.ops().size(), 0) {
    const auto& ops = program.ops();
    std::vector<std::uint32_t> op_of(program.participants().size());
    std::vector<std::array<std::uint32_t, lanes>> last(program.actors(), none_on_any_lane());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      before_.clear();
      for (auto event = ops[i].first; event < ops[i].first + ops[i].count; ++event) {
        op_of[event] = i;
        const auto& participant = program.participants()[event];
        for (auto earlier : participant.after)
          if (earlier != no_event) before_.push_back(op_of[static_cast<std::uint32_t>(earlier)]);
        const bool sends = event == ops[i].first;
        for (auto lane : lanes_of(ops[i], sends)) {
          auto& latest =
              last[static_cast<std::uint32_t>(participant.actor)][static_cast<std::size_t>(lane)];
          if (latest != none && latest != i) before_.push_back(latest);
          latest = i;
        }
      }
      std::ranges::sort(before_);
      before_.erase(std::unique(before_.begin(), before_.end()), before_.end());
      waiting_[i] = static_cast<std::uint32_t>(before_.size());
      for (auto earlier : before_) pairs.emplace_back(earlier, i);
    }
    std::ranges::sort(pairs);
    first_.assign(ops.size() + 1, 0);
    for (const auto& [earlier, later] : pairs) ++first_[earlier + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    for (const auto& [earlier, later] : pairs) after_.push_back(later);
  }

  std::vector<std::uint32_t>& waiting() { return waiting_; }
  std::span<const std::uint32_t> after(std::uint32_t op) const {
    return {after_.data() + first_[op], after_.data() + first_[op + 1]};
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  static std::array<std::uint32_t, lanes> none_on_any_lane() {
    std::array<std::uint32_t, lanes> array;
    array.fill(none);
    return array;
  }
  // A pass's other lanes are used by passes only, which its compute lane orders.
  static std::vector<Lane> lanes_of(const Op& op, bool sends) {
    switch (op.kind) {
      case Op::Kind::pass:
        return {Lane::compute};
      case Op::Kind::collective:
        return {op.lane};
      case Op::Kind::transfer:
        return sends ? std::vector{Lane::send} : std::vector<Lane>{};
      case Op::Kind::blocking:
        return sends ? std::vector{Lane::send, Lane::compute} : std::vector<Lane>{};
      case Op::Kind::latency:
        break;
    }
    return {};
  }

  std::vector<std::uint32_t> waiting_, first_, after_, before_;
};

class ContendedRun {
 public:
  ContendedRun(const Program& program, Detail detail)
      : program_(program),
        order_(program),
        stepper_(program, detail),
        network_(program.links()),
        started_(program.ops().size(), 0) {
    std::vector<LinkUse> uses;
    for (const auto& traffic : program.traffic()) {
      uses.clear();
      for (const auto& [link, times] : traffic.links)
        uses.push_back({static_cast<std::uint32_t>(link), times});
      paths_.push_back(network_.path(uses, traffic.cap));
    }
  }

  Trace run() {
    for (std::uint32_t op = 0; op < program_.ops().size(); ++op)
      if (order_.waiting()[op] == 0) ready_.push_back(op);
    for (;;) {
      while (!ready_.empty()) {
        const auto op = ready_.back();
        ready_.pop_back();
        play(op);
      }
      const auto completion = network_.next_completion();
      const bool starts = !starts_.empty();
      if (!starts && !completion) break;
      if (completion && (!starts || *completion <= starts_.top().first)) {
        complete(*completion);
      } else {
        const auto [when, op] = starts_.top();
        starts_.pop();
        network_.advance(when);
        const auto& traffic = program_.traffic()[program_.ops()[op].traffic];
        const auto flow = static_cast<std::size_t>(
            network_.start(paths_[program_.ops()[op].traffic], traffic.bytes));
        if (op_of_flow_.size() <= flow) op_of_flow_.resize(flow + 1);
        op_of_flow_[flow] = op;
      }
    }
    return stepper_.take();
  }

 private:
  using Start = std::pair<Picoseconds, std::uint32_t>;

  void complete(Picoseconds when) {
    left_.clear();
    for (const auto& [at, flow] : network_.advance(when))
      left_.emplace_back(at, op_of_flow_[static_cast<std::size_t>(flow)]);
    for (const auto& [at, op] : left_) {
      stepper_.settle(program_.ops()[op], started_[op], at);
      release(op);
    }
  }

  void play(std::uint32_t index) {
    const auto& op = program_.ops()[index];
    if (op.kind == Op::Kind::pass) {
      stepper_.pass(op);
    } else {
      const auto start = stepper_.ready(op);
      if (op.traffic != no_traffic) {
        started_[index] = start;
        starts_.emplace(start + op.duration, index);
        return;
      }
      stepper_.settle(op, start, start + op.duration);
    }
    release(index);
  }

  void release(std::uint32_t op) {
    for (auto later : order_.after(op))
      if (--order_.waiting()[later] == 0) ready_.push_back(later);
  }

  const Program& program_;
  Order order_;
  Stepper stepper_;
  SharedNetwork network_;
  std::vector<PathId> paths_;
  std::vector<Picoseconds> started_;
  std::vector<std::uint32_t> ready_, op_of_flow_;
  std::vector<Start> left_;
  std::priority_queue<Start, std::vector<Start>, std::greater<>> starts_;
};

}  // namespace

Trace run_contended(const Program& program, Detail detail) {
  return ContendedRun(program, detail).run();
}

std::vector<double> utilisation(const Program& program, const Trace& trace) {
  std::vector<double> share(program.links().size(), 0.0);
  for (const auto& op : program.ops()) {
    if (op.traffic == no_traffic) continue;
    const auto& traffic = program.traffic()[op.traffic];
    for (const auto& [link, times] : traffic.links)
      share[static_cast<std::size_t>(link)] += traffic.bytes * times;
  }
  const double seconds = static_cast<double>(trace.finish) * 1e-12;
  for (std::size_t l = 0; l < share.size(); ++l)
    share[l] = seconds > 0 ? share[l] / (program.links()[l] * seconds) : 0;
  return share;
}

}  // namespace sim
