// SPDX-License-Identifier: Apache-2.0
// Names of ports, and what a user may have meant by one.
#include <algorithm>
#include <array>
#include <charconv>

#include "topology/ports.hpp"

namespace topology {
namespace {

using PortKind = Port::Kind;

constexpr std::array<const char*, 6> steps{"x+", "x-", "y+", "y-", "z+", "z-"};

// Takes `word` and a whole number off the front of the text.
std::optional<std::int64_t> take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return {};
  const auto* begin = text.data() + word.size();
  const auto* end = text.data() + text.size();
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc{} || number < 0 || *begin == '-') return {};
  if (*begin == '0' && stop > begin + 1) return {};  // one name for one link
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

std::string range(const char* before, std::int64_t count, const char* after = "") {
  const auto one = [&](std::int64_t i) { return before + std::to_string(i) + after; };
  return count == 1 ? one(0) : one(0) + " to " + one(count - 1);
}

}  // namespace

std::string Ports::name(const Port& port) const {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::int64_t nics = std::max(1, cluster_.node.nics.count);
  const char* way = port.out ? ":out" : ":in";
  const char* up = port.out ? ":up" : ":down";
  switch (port.kind) {
    case PortKind::nvlink:
      return "gpu" + number(port.index) + ".nvlink" + way;
    case PortKind::pcie:
      return "gpu" + number(port.index) + ".pcie" + way;
    case PortKind::nic:
      return "nic" + number(port.index / nics) + "." + number(port.index % nics) + way;
    case PortKind::leaf_spine:
      return "leaf" + number(port.index) + up;
    case PortKind::spine_core:
      return "pod" + number(port.index) + up;
    case PortKind::torus:
      return "node" + number(port.index / 6) + "." +
             steps[static_cast<std::size_t>(port.index % 6)];
  }
  return {};
}

// The port (outwards) that the text begins with.
std::optional<Port> Ports::taken(std::string_view& text) const {
  const std::int64_t nics = cluster_.node.nics.count;
  if (const auto gpu = take(text, "gpu")) {
    if (*gpu >= cluster_.gpus) return {};
    const auto kind = cluster_.node_of(*gpu).nvlink.kind;
    constexpr std::string_view nvlink = ".nvlink", pcie = ".pcie";
    if (text.starts_with(nvlink)) {
      text.remove_prefix(nvlink.size());
      if (kind == NvLink::Kind::none) return {};
      return Port{PortKind::nvlink, true, *gpu};
    }
    if (text.starts_with(pcie)) {
      text.remove_prefix(pcie.size());
      return Port{PortKind::pcie, true, *gpu};
    }
    return Port{kind == NvLink::Kind::none ? PortKind::pcie : PortKind::nvlink, true, *gpu};
  }
  if (cluster_.nodes() == 1) return {};
  if (const auto node = take(text, "nic")) {
    const auto nic = take(text, ".");
    if (!nic || *node >= cluster_.nodes() || *nic >= nics) return {};
    return Port{PortKind::nic, true, *node * nics + *nic};
  }
  if (const auto leaf = take(text, "leaf")) {
    if (*leaf >= leaves_.count || leaf_capacity_ == 0) return {};
    return Port{PortKind::leaf_spine, true, *leaf};
  }
  if (const auto pod = take(text, "pod")) {
    if (*pod >= pods_) return {};
    return Port{PortKind::spine_core, true, *pod};
  }
  if (const auto node = take(text, "node"); node && torus_ && *node < cluster_.nodes())
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (text.starts_with("." + std::string(steps[i]))) {
        text.remove_prefix(3);
        return Port{PortKind::torus, true, 6 * *node + static_cast<std::int64_t>(i)};
      }
  return {};
}

// The other end of a cable of the port: 1 if the port is that cable, a part if it has several.
std::optional<double> Ports::share_to(const Port& port, std::string_view& text) const {
  if (port.kind == PortKind::nic) {
    const auto leaf = take(text, "leaf");
    return leaf && !torus_ && *leaf == leaf_of(port.index) ? std::optional(1.0) : std::nullopt;
  }
  if (port.kind == PortKind::leaf_spine) {
    const auto spine = take(text, "spine");
    const auto first = pods_ > 0 ? pod_of(port.index) * spines_ : 0;
    if (!spine || *spine < first || *spine >= first + spines_) return {};
    return 1.0 / static_cast<double>(spines_);
  }
  return {};
}

std::optional<Ports::Named> Ports::named(std::string_view link) const {
  auto text = link;
  const auto port = taken(text);
  if (!port) return {};
  Named what{{*port}, 1.0};
  if (text.starts_with("-")) {
    text.remove_prefix(1);
    const auto end = text;
    const auto share = share_to(*port, text);
    if (!share) return {};
    what.share = *share;
    what.cable = end.substr(0, end.size() - text.size());
  }
  if (port->kind == PortKind::torus) return text.empty() ? std::optional(what) : std::nullopt;
  const bool upward = port->kind == PortKind::leaf_spine || port->kind == PortKind::spine_core;
  auto back = *port;
  back.out = false;
  if (text.empty())
    what.ports.push_back(back);
  else if (text == (upward ? ":down" : ":in"))
    what.ports.front() = back;
  else if (text != (upward ? ":up" : ":out"))
    return {};
  return what;
}

bool Ports::overlap(std::string_view a, std::string_view b) const {
  const auto one = named(a), other = named(b);
  if (!one || !other) return false;
  if (one->share < 1 && other->share < 1 && one->cable != other->cable) return false;
  return std::ranges::any_of(one->ports, [&](const Port& port) {
    return std::ranges::find(other->ports, port) != other->ports.end();
  });
}

std::optional<std::string> Ports::complaint(std::string_view link) const {
  if (named(link)) return {};
  const auto last = std::to_string(std::max(0, cluster_.node.nics.count - 1));
  const auto kind = cluster_.node.nvlink.kind;
  const bool both = kind != NvLink::Kind::none;
  std::string all = range("gpu", cluster_.gpus, both ? ".nvlink" : ".pcie");
  if (both) all += ", " + range("gpu", cluster_.gpus, ".pcie");
  if (cluster_.nodes() > 1) {
    const auto nodes = cluster_.nodes();
    all += ", nic0.0 to nic" + std::to_string(nodes - 1) + "." + last;
    if (torus_) all += ", " + range("node", nodes, ".x+") + " (x- y+ y- z+ z-)";
    if (leaf_capacity_ > 0) all += ", " + range("leaf", leaves_.count);
    if (leaf_capacity_ > 0) all += " (one cable of it: leaf0-spine0)";
    if (pods_ > 0) all += ", " + range("pod", pods_);
  }
  std::string ways = torus_ ? ":out or :in to all but those of a node" : ":out or :in";
  if (leaf_capacity_ > 0) ways += " (to a leaf or pod :up or :down)";
  return "this cluster has no link '" + std::string(link) + "'; its links are " + all + "; add " +
         ways + " for one direction";
}

}  // namespace topology
