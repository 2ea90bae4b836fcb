// SPDX-License-Identifier: Apache-2.0
// The ports that an all-to-all crosses: every member of a group sends to every other.
#include <algorithm>
#include <map>

#include "topology/ports.hpp"

namespace topology {

using PortKind = Port::Kind;

// Adds the ports of the members on a node, on which they send and receive. `elsewhere_at`: numbers
// of members on other nodes, by place.
void Ports::pass_on(std::span<const std::int64_t> here, std::span<const std::int64_t> elsewhere_at,
                    std::int64_t nics, std::vector<PortUse>& uses) const {
  const auto add = [&](const Port& port, std::int64_t messages) {
    if (messages > 0) uses.push_back({port, static_cast<std::uint32_t>(messages * nics)});
  };
  const auto first = here.front() / cluster_.node.gpus * cluster_.node.gpus;
  std::int64_t elsewhere = 0;
  for (const auto members : elsewhere_at) elsewhere += members;
  for (const auto gpu : here)
    for (const bool out : {true, false}) {
      const auto by_nvlink = std::ranges::count_if(here, [&](std::int64_t other) {
        return other != gpu && (out ? linked(gpu, other) : linked(other, gpu));
      });
      const auto by_pcie = std::ssize(here) - 1 - by_nvlink;
      add({PortKind::nvlink, out, gpu}, by_nvlink);
      add({PortKind::pcie, out, gpu}, by_pcie + (counts_pcie(gpu, out) ? elsewhere : 0));
    }
  if (!rails_ || cluster_.node_of(first).nvlink.kind != NvLink::Kind::nvswitch) return;
  const auto rail = [&](std::int64_t gpu) { return nics_near({&gpu, 1}, 1).front(); };
  std::vector<std::int64_t> rails;
  for (const auto gpu : here) rails.push_back(rail(gpu));
  for (std::int64_t place = 0; place < std::ssize(elsewhere_at); ++place) {
    const auto messages = elsewhere_at[static_cast<std::size_t>(place)];
    if (messages == 0) continue;
    const auto next_to = rail(first + place);
    for (std::size_t i = 0; i < here.size(); ++i) {
      if (rails[i] == next_to) continue;
      add({PortKind::nvlink, true, here[i]}, messages);
      add({PortKind::nvlink, false, first + place}, messages);
    }
  }
}

std::uint32_t Ports::all_to_all(std::span<const std::vector<std::int64_t>> nodes, int nics,
                                std::vector<PortUse>& uses) const {
  const std::int64_t per_node = cluster_.node.gpus;
  std::vector<std::int64_t> at_place(static_cast<std::size_t>(per_node), 0);
  // Members by leaf, or, where messages keep to the rail on which they leave, by the first
  // leaf of its block of nodes.
  std::map<std::int64_t, std::int64_t> under;
  std::int64_t all = 0, most = 0;
  const bool keeps_rail =
      rails_ && cluster_.node_of(nodes.front().front()).nvlink.kind == NvLink::Kind::nvswitch;
  const auto leaf_at = [&](std::int64_t gpu) {
    const auto leaf = leaf_of(nics_near({&gpu, 1}, 1).front());
    return keeps_rail ? leaf - leaf % leaves_.in_block() : leaf;
  };
  for (const auto& here : nodes) {
    for (const auto gpu : here) {
      ++at_place[static_cast<std::size_t>(gpu % per_node)];
      if (leaves_bind_ || pods_bind_) ++under[leaf_at(gpu)];
    }
    all += std::ssize(here);
  }
  const auto add = [&](PortKind kind, bool out, std::int64_t index, std::int64_t shares) {
    uses.push_back({{kind, out, index}, static_cast<std::uint32_t>(shares)});
  };
  for (const auto& here : nodes) {
    const auto members = std::ssize(here), leaving = members * (all - members);
    most = std::max(most, leaving);
    auto elsewhere_at = at_place;
    for (const auto gpu : here) --elsewhere_at[static_cast<std::size_t>(gpu % per_node)];
    pass_on(here, elsewhere_at, nics, uses);
    for (const auto nic : nics_near(here, static_cast<std::size_t>(nics))) {
      const auto leaf = leaf_of(nic);
      for (const bool out : {true, false}) add(PortKind::nic, out, nic, leaving);
      for (const auto& [first, members_there] : under) {
        const auto other = keeps_rail ? first + place_of_leaf(nic) : first;
        if (other == leaf) continue;
        const auto there =
            members_there - (keeps_rail ? 0 : std::ranges::count(here, first, leaf_at));
        for (const bool out : {true, false}) {
          if (leaves_bind_) add(PortKind::leaf_spine, out, leaf, members * there);
          if (pods_bind_ && pod_of(other) != pod_of(leaf))
            add(PortKind::spine_core, out, pod_of(leaf), members * there);
        }
      }
    }
    if (!torus_) continue;
    for (const auto& there : nodes) {
      const auto begin = uses.size();
      around(here.front() / per_node, there.front() / per_node, uses);
      for (auto i = begin; i < uses.size(); ++i)
        uses[i].times *= static_cast<std::uint32_t>(members * std::ssize(there) * nics);
    }
  }
  return static_cast<std::uint32_t>(most);
}

}  // namespace topology
