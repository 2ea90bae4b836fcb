// SPDX-License-Identifier: Apache-2.0
#include "forecast/link_samples.hpp"

#include <algorithm>

namespace forecast {

namespace {

struct Change {
  sim::Picoseconds when;
  double share;  // of the bandwidth; negative where traffic ends
};

std::vector<LinkSample> summed(std::size_t link, std::vector<Change>& changes) {
  std::ranges::stable_sort(changes, {}, &Change::when);
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

}  // namespace

std::vector<LinkSample> link_samples(const sim::Program& program, const sim::Trace& trace,
                                     std::span<const sim::LinkId> links) {
  constexpr auto none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> place(program.links().size(), none);
  for (std::size_t l = 0; l < links.size(); ++l) place[static_cast<std::size_t>(links[l])] = l;
  std::vector<std::vector<Change>> changes(links.size());
  for (const auto& op : program.ops()) {
    if (op.traffic == sim::no_traffic) continue;
    const auto from = trace.start[op.first] + op.duration, to = trace.end[op.first];
    if (to <= from) continue;
    const auto& traffic = program.traffic()[op.traffic];
    for (const auto& [link, times] : traffic.links) {
      const auto at = place[static_cast<std::size_t>(link)];
      if (at == none) continue;
      const double share = traffic.bytes * times /
                           (program.links()[static_cast<std::size_t>(link)] *
                            static_cast<double>(to - from) * 1e-12);
      changes[at].push_back({from, share});
      changes[at].push_back({to, -share});
    }
  }
  std::vector<LinkSample> samples;
  for (std::size_t l = 0; l < links.size(); ++l) {
    const auto of_link = summed(l, changes[l]);
    samples.insert(samples.end(), of_link.begin(), of_link.end());
  }
  return samples;
}

}  // namespace forecast
