// SPDX-License-Identifier: Apache-2.0
// The actors that slowed others down: one sweep over the traffic of each link.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "sim/contention.hpp"
#include "sim/flows/water_levels.hpp"

namespace sim {

namespace {

constexpr std::uint32_t unnumbered = 0xffffffffu;

// The traffic of one op, and what it lost.
struct Sender {
  std::uint32_t op;
  std::uint8_t kind;
  Picoseconds from, to;  // it sends
  Picoseconds lost;      // because it had less bandwidth than its cap
};

std::vector<Sender> senders_of(const Program& program, const Trace& trace) {
  std::vector<Picoseconds> alone;  // by traffic
  for (const auto& traffic : program.traffic())
    // Rounds as flows are rounded: a thousandth of a picosecond late is in time.
    alone.push_back(
        static_cast<Picoseconds>(std::ceil(traffic.bytes / traffic.cap * 1e12 - 0x1p-10)));
  std::vector<Sender> senders;
  for (std::size_t i = 0; i < program.ops().size(); ++i) {
    const auto& op = program.ops()[i];
    if (op.traffic == no_traffic) continue;
    const auto from = trace.start[op.first] + op.duration, to = trace.end[op.first];
    senders.push_back({static_cast<std::uint32_t>(i), program.labels()[i].kind, from, to,
                       std::max<Picoseconds>(0, to - from - alone[op.traffic])});
  }
  return senders;
}

// Kinds of ops with traffic, numbered.
class Kinds {
 public:
  explicit Kinds(const std::vector<Sender>& senders) {
    number_.fill(unnumbered);
    for (const auto& sender : senders) number_[sender.kind] = 0;
    for (std::uint32_t kind = 0; kind < number_.size(); ++kind)
      if (number_[kind] == 0) {
        number_[kind] = static_cast<std::uint32_t>(kinds_.size());
        kinds_.push_back(static_cast<std::uint8_t>(kind));
      }
  }
  std::size_t count() const { return kinds_.size(); }
  std::size_t number(std::uint8_t kind) const { return number_[kind]; }
  std::uint8_t kind(std::size_t number) const { return kinds_[number]; }

 private:
  std::array<std::uint32_t, 256> number_{};
  std::vector<std::uint8_t> kinds_;
};

class Blame {
 public:
  Blame(const Program& program, std::vector<Sender> senders, const Recurrence* recurrence)
      : program_(program),
        recurrence_(recurrence),
        senders_(std::move(senders)),
        kinds_(senders_),
        crossing_(program.links().size()),
        then_(senders_.size() * kinds_.count()),
        others_(then_.size(), 0.0),
        most_(senders_.size(), 0.0),
        demand_(senders_.size(), 0.0),
        where_(senders_.size(), LinkId{unnumbered}) {
    // Only links on which something was lost are looked at.
    std::vector<bool> lossy(program.links().size(), false);
    const auto on_links = [&](auto seen) {
      std::uint32_t sender = 0;
      for (const auto& op : program.ops()) {
        if (op.traffic == no_traffic) continue;
        for (const auto& [link, times] : program.traffic()[op.traffic].links)
          seen(static_cast<std::uint32_t>(link), Crossing{sender, times});
        ++sender;
      }
    };
    on_links([&](std::uint32_t link, const Crossing& crossing) {
      if (senders_[crossing.sender].lost > 0) lossy[link] = true;
    });
    on_links([&](std::uint32_t link, const Crossing& crossing) {
      if (lossy[link]) crossing_[link].push_back(crossing);
    });
  }

  std::vector<Slowed> run() {
    for (std::uint32_t link = 0; link < crossing_.size(); ++link) sweep(LinkId{link});
    for (std::uint32_t sender = 0; sender < senders_.size(); ++sender) divide(sender);
    return worst();
  }

 private:
  struct Crossing {
    std::uint32_t sender, times;
  };
  struct Change {
    Picoseconds when;
    std::uint32_t sender;
    std::int64_t times;  // negative: ends
  };

  // Integrates each kind's traffic on the link over time: the amount by which it grew while an op
  // sent is what that op shared the link with.
  void sweep(LinkId link) {
    const auto kinds = kinds_.count();
    changes_.clear();
    for (const auto& [sender, times] : crossing_[static_cast<std::uint32_t>(link)]) {
      changes_.push_back({senders_[sender].from, sender, times});
      changes_.push_back({senders_[sender].to, sender, -std::int64_t{times}});
    }
    std::ranges::stable_sort(changes_, {}, &Change::when);
    std::vector<std::int64_t> load(kinds, 0);
    std::vector<Int128> sent(kinds, 0);
    Picoseconds now = 0;
    for (const auto& [when, sender, times] : changes_) {
      for (std::size_t k = 0; k < kinds; ++k) sent[k] += Int128{load[k]} * (when - now);
      now = when;
      load[kinds_.number(senders_[sender].kind)] += times;
      if (senders_[sender].lost == 0) continue;
      if (times > 0)
        std::ranges::copy(sent, then_.begin() + at(sender, 0));
      else
        weigh(sender, link, sent);
    }
  }

  std::ptrdiff_t at(std::uint32_t sender, std::size_t kind) const {
    return static_cast<std::ptrdiff_t>(sender * kinds_.count() + kind);
  }

  // Finds the link that the op is charged on, the one most in demand while it sent: flows over
  // capacity. Among equals it takes the one whose traffic of the first kinds is greatest, which
  // does not depend on how links are numbered.
  void weigh(std::uint32_t sender, LinkId link, const std::vector<Int128>& sent) {
    const auto& [op, kind, from, to, lost] = senders_[sender];
    weights_.clear();
    double sum = 0, all = 0;
    for (std::size_t k = 0; k < sent.size(); ++k) {
      auto met = sent[k] - then_[static_cast<std::size_t>(at(sender, k))];
      all += static_cast<double>(met);
      if (k == kinds_.number(kind)) met -= to - from;  // itself
      weights_.push_back(static_cast<double>(met));
      sum += weights_.back();
    }
    if (sum <= 0) return;
    const auto known = others_.begin() + at(sender, 0);
    const double demand = all / program_.links()[static_cast<std::size_t>(link)];
    if (demand < demand_[sender]) return;
    if (demand == demand_[sender] &&
        !std::lexicographical_compare(known, known + static_cast<std::ptrdiff_t>(weights_.size()),
                                      weights_.begin(), weights_.end()))
      return;
    demand_[sender] = demand;
    most_[sender] = sum;
    where_[sender] = link;
    std::ranges::copy(weights_, known);
  }

  void divide(std::uint32_t sender) {
    if (where_[sender] == LinkId{unnumbered}) return;
    const auto first = others_.begin() + at(sender, 0);
    const auto last = first + static_cast<std::ptrdiff_t>(kinds_.count());
    const auto heaviest = std::max_element(first, last);
    auto rest = senders_[sender].lost;
    for (auto weight = first; weight != last; ++weight) {
      if (weight == heaviest) continue;
      const auto share = static_cast<Picoseconds>(static_cast<double>(senders_[sender].lost) *
                                                  (*weight / most_[sender]));
      charge(sender, static_cast<std::size_t>(weight - first), share);
      rest -= share;
    }
    charge(sender, static_cast<std::size_t>(heaviest - first), rest);
  }

  // The number of times that the whole program loses what this sender does. Messages of the steady
  // phase that begin within the window's first period stand for others: all that they meet is
  // inside the window.
  std::int64_t times(const Sender& sender) const {
    if (recurrence_ == nullptr) return 1;
    const auto& [begin, last, end, left_out, period, from, to, whole] = *recurrence_;
    const bool stands_for_others = sender.op >= begin.op && sender.op < end.op &&
                                   sender.from >= from && sender.from < from + period;
    return stands_for_others ? 1 + left_out : 1;
  }

  // Charges the loss to all that take part in a collective, or to a message's sender.
  void charge(std::uint32_t sender, std::size_t by, Picoseconds lost) {
    if (lost == 0) return;
    const auto& op = program_.ops()[senders_[sender].op];
    const auto count = op.kind == Op::Kind::collective ? op.count : 1;
    for (auto event = op.first; event < op.first + count; ++event)
      charged_[{senders_[sender].kind, kinds_.kind(by), program_.participants()[event].actor,
                where_[sender]}] += lost * times(senders_[sender]);
  }

  // For each pair of kinds, the time of the actor that lost most, and the link where it lost most
  // of it.
  std::vector<Slowed> worst() const {
    std::vector<Slowed> found;
    for (auto next = charged_.begin(); next != charged_.end();) {
      const auto [of, by, actor, link] = next->first;
      Slowed here{of, by, link, 0};
      Picoseconds most = 0;
      for (; next != charged_.end(); ++next) {
        const auto& [also_of, also_by, same_actor, where] = next->first;
        if (std::tie(also_of, also_by, same_actor) != std::tie(of, by, actor)) break;
        here.lost += next->second;
        if (next->second > most) here.where = where;
        most = std::max(most, next->second);
      }
      if (found.empty() || found.back().of != of || found.back().by != by)
        found.push_back(here);
      else if (here.lost > found.back().lost)
        found.back() = here;
    }
    std::ranges::stable_sort(found, std::greater<>(), &Slowed::lost);
    return found;
  }

  const Program& program_;
  const Recurrence* recurrence_;  // null: nothing is left out
  std::vector<Sender> senders_;
  Kinds kinds_;
  std::vector<std::vector<Crossing>> crossing_;  // by link
  std::vector<Int128> then_;    // by sender and kind: traffic on a link when the sender began
  std::vector<double> others_;  // by sender and kind: met where it is charged
  std::vector<double> most_;    // by sender: their sum
  std::vector<double> demand_;  // by sender: flows over capacity there, summed over time
  std::vector<LinkId> where_;   // by sender
  std::map<std::tuple<std::uint8_t, std::uint8_t, ActorId, LinkId>, Picoseconds> charged_;
  std::vector<Change> changes_;
  std::vector<double> weights_;
};

}  // namespace

std::vector<Slowed> slowed(const Program& program, const Trace& trace,
                           const Recurrence* recurrence) {
  auto senders = senders_of(program, trace);
  if (std::ranges::all_of(senders, [](const Sender& sender) { return sender.lost == 0; }))
    return {};
  return Blame(program, std::move(senders), recurrence).run();
}

}  // namespace sim
