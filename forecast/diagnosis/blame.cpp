// SPDX-License-Identifier: Apache-2.0
#include "forecast/diagnosis/blame.hpp"

#include <algorithm>
#include <numeric>

namespace forecast {

namespace {

double ns(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

class Chain {
 public:
  explicit Chain(const SeenStep& step)
      : step_(step), on_(step.ranks.size()), used_(step.meetings.size(), false) {}

  std::vector<OnChain> follow(std::size_t from) {
    rank_ = from;
    now_ = step_.ranks[rank_].end_ns;
    while (now_ > step_.ranks[rank_].start_ns) back();
    return std::move(on_);
  }

 private:
  // Follows the chain back over one stretch, or the rest of it.
  void back() {
    const auto& rank = step_.ranks[rank_];
    const auto found = std::ranges::lower_bound(rank.stretches, now_, {}, &SeenStretch::end_ns);
    if (found == rank.stretches.end()) {
      now_ = rank.end_ns;  // another's kernel lasted beyond the step
      return;
    }
    if (found->work == none_seen) {
      idle(*found);
    } else if (const auto& work = rank.works[found->work]; is_communication(work.of.kind)) {
      if (communicate(*found, work)) return;
    } else if (work.of.kind == GpuWork::copy) {
      on_[rank_].copying += ns(now_ - found->start_ns);
    } else {
      on_[rank_].computing[static_cast<std::size_t>(work.of.sort)] += ns(now_ - found->start_ns);
    }
    now_ = found->start_ns;
  }

  void idle(const SeenStretch& stretch) {
    const auto& all = step_.ranks[rank_].stretches;
    auto& on = on_[rank_];
    auto& kind = &stretch == &all.front()  ? on.before_first
                 : &stretch == &all.back() ? on.after_last
                                           : on.gaps;
    kind += ns(now_ - stretch.start_ns);
  }

  // Returns true if the chain goes on at another rank.
  bool communicate(const SeenStretch& stretch, const SeenWork& work) {
    auto& on = on_[rank_].communicating[static_cast<std::size_t>(work.part)];
    const auto* meeting = work.meeting == none_seen ? nullptr : &step_.meetings[work.meeting];
    if (meeting && meeting->last != rank_ && !used_[work.meeting]) {
      const auto all_came = work.of.end_ns - meeting->transfer_ns;
      // All ranks meet at the end of the step, so the chain may begin at any of them: it leaves the
      // first one only if that waited for more than a thousandth of the step.
      const auto felt = left_ ? 0 : (now_ - step_.ranks[rank_].start_ns) / 1000;
      if (all_came > stretch.start_ns + felt) {
        left_ = true;
        on += ns(std::max<std::int64_t>(0, now_ - all_came));
        used_[work.meeting] = true;
        rank_ = meeting->last;
        now_ = step_.ranks[rank_].works[meeting->last_work].of.start_ns;
        return true;
      }
    }
    on += ns(now_ - stretch.start_ns);
    on_[rank_].waiting += waiting(stretch, work, meeting);
    return false;
  }

  // The seconds of a stretch in which the rank waits for others; of a meeting of ranks of which
  // some are not traced, all.
  double waiting(const SeenStretch& stretch, const SeenWork& work, const Meeting* meeting) const {
    if (!meeting || !meeting->complete) return ns(now_ - stretch.start_ns);
    const auto all_came = work.of.end_ns - meeting->transfer_ns;
    return ns(std::clamp<std::int64_t>(all_came - stretch.start_ns, 0, now_ - stretch.start_ns));
  }

  const SeenStep& step_;
  std::vector<OnChain> on_;
  std::vector<bool> used_;  // meetings from which the chain has left a rank
  std::size_t rank_ = 0;
  std::int64_t now_ = 0;
  bool left_ = false;  // the rank that it began at
};

}  // namespace

double OnChain::total() const {
  return std::accumulate(computing.begin(), computing.end(), 0.0) +
         std::accumulate(communicating.begin(), communicating.end(), 0.0) + copying + before_first +
         gaps + after_last;
}

std::vector<OnChain> chain_of(const SeenStep& step) {
  std::vector<OnChain> best;
  double least = 0;
  for (std::size_t from = 0; from < step.ranks.size(); ++from) {
    auto chain = Chain(step).follow(from);
    double waiting = 0;
    for (const auto& on : chain) waiting += on.waiting;
    if (!best.empty() && waiting >= least) continue;
    best = std::move(chain);
    least = waiting;
  }
  return best;
}

}  // namespace forecast
