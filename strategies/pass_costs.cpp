// SPDX-License-Identifier: Apache-2.0
#include "strategies/pass_costs.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/play.hpp"

namespace strategies {

using sim::Picoseconds;

namespace {

// A pass piece by piece, as far as it has come.
class Running {
 public:
  explicit Running(Pieces pieces) : pieces_(std::move(pieces)), over_(pieces_.size()) {}

  std::size_t size() const { return pieces_.size(); }
  // `device`, `lane`: when each is free.
  void piece(std::size_t i, Picoseconds& device, Picoseconds& lane) {
    if (i >= size()) return;
    const auto& piece = pieces_[i];
    if (piece.waits_for >= 0)
      device = std::max(device, over_[static_cast<std::size_t>(piece.waits_for)]);
    device += sim::on_compute_lane(piece.body);
    if (!piece.then) return;
    lane = std::max(lane, device) + to_ticks(piece.then->sending.time());
    over_[i] = lane;
  }
  Interference exchanges(const Software& software) const {
    Interference all(software);
    for (const auto& piece : pieces_)
      if (piece.then) all.add(piece.then->sending);
    return all;
  }
  Picoseconds computed() const {
    Picoseconds sum = 0;
    for (const auto& piece : pieces_)
      for (const auto& step : piece.body.steps)
        if (step.lane == sim::Lane::compute) sum += step.duration;
    return sum;
  }

 private:
  Pieces pieces_;
  std::vector<Picoseconds> over_;
};

Picoseconds on_device(Running pass) {
  Picoseconds device = 0, lane = 0;
  for (std::size_t i = 0; i < pass.size(); ++i) pass.piece(i, device, lane);
  return device;
}

}  // namespace

PassCosts::PassCosts(const Job& job, const std::vector<RankKind>& kinds, const Costs& costs,
                     const Segment& blocks)
    : software_(job.software) {
  for (const auto& kind : kinds)
    writers_.push_back(
        std::make_unique<PassWriter>(share_of(job, kind), costs, std::vector<Segment>{blocks}));
}

Picoseconds PassCosts::time_alone(const Segment& segment, Pass pass) {
  const auto [found, fresh] = alone_.try_emplace({segment, pass});
  if (!fresh) return found->second;
  auto& least = found->second = std::numeric_limits<Picoseconds>::max();
  for (const auto& writer : writers_)
    least = std::min(least,
                     on_device(Running(pass == Pass::forward ? writer->forward(segment)
                                                             : writer->backward(segment, pass))));
  return least;
}

Picoseconds PassCosts::pair(const Segment& forward, const Segment& backward) {
  const auto [found, fresh] = pairs_.try_emplace({forward, backward});
  if (!fresh) return found->second;
  // Where collectives of data parallelism cut its passes, they run one after the other.
  auto& least = found->second =
      time_alone(forward, Pass::forward) + time_alone(backward, Pass::backward);
  for (const auto& writer : writers_) {
    Running ahead(writer->forward(forward)), back(writer->backward(backward, Pass::backward));
    const auto slowed = [&](const Running& pass, const Running& beside) {
      return beside.exchanges(software_).slowdown(pass.computed());
    };
    const double slow_ahead = slowed(ahead, back), slow_back = slowed(back, ahead);
    ahead = Running(writer->forward(forward, slow_ahead));
    back = Running(writer->backward(backward, Pass::backward, slow_back));
    Picoseconds device = 0, lane = 0;
    for (std::size_t i = 0; i < std::max(ahead.size(), back.size()); ++i) {
      ahead.piece(i, device, lane);
      back.piece(i, device, lane);
    }
    least = std::min(least, device);
  }
  return least;
}

}  // namespace strategies
