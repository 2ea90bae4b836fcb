// SPDX-License-Identifier: Apache-2.0
#include "scenarios/faults.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "scenarios/named.hpp"
#include "topology/ports.hpp"

namespace scenarios {
namespace {

using topology::Cluster;
using topology::DegradedLink;
using topology::Straggler;

const Table<Straggler>& straggler_table() {
  const Form numbers{
      .type = Type::list,
      .range = {1, 1e7, ""},
      .forms = {{.type = Type::whole, .range = {0, 1e7, "numbers count from zero"}}}};
  static const Table<Straggler> table{
      shown_as([](const Straggler& one) { return shown_list(one.gpus, shown_whole); },
               unread<Straggler>("gpus", numbers, "Numbers of GPUs, from zero")),
      unread<Straggler>("nodes", numbers, "Numbers of nodes, from zero: all of their GPUs"),
      number<Straggler>("slowdown", "",
                        {1, 1000, "a straggler is slower than its kind, not faster"},
                        "Every kernel takes so many times as long", &Straggler::slowdown)};
  return table;
}

const Table<DegradedLink>& link_table() {
  static const Table<DegradedLink> table{
      text<DegradedLink>("link", "Name of the link, such as nic3.2", &DegradedLink::link),
      number<DegradedLink>("factor", "", {0, 1, "what is left of it; 0: the link has failed"},
                           "Share of the bandwidth that is left", &DegradedLink::factor)};
  return table;
}

// Adds the GPUs that the list counts, each `each` GPUs wide; `named` were named before.
void add_gpus(Straggler& straggler, const Cursor& list, const Cluster& cluster, bool nodes,
              std::set<std::int64_t>& named) {
  const std::int64_t each = nodes ? cluster.node.gpus : 1;
  const std::int64_t count = nodes ? cluster.nodes() : cluster.gpus;
  for (std::size_t i = 0; i < list.value().items.size(); ++i) {
    const auto item = list.item(i);
    const auto number = to_whole(item.value());
    if (number >= count) {
      item.complain(std::to_string(number) + " is out of range; expected 0 to " +
                    std::to_string(count - 1) + ": the cluster has " + std::to_string(count) +
                    (nodes ? " nodes" : " GPUs"));
      continue;
    }
    for (auto gpu = number * each; gpu < std::min((number + 1) * each, cluster.gpus); ++gpu) {
      if (!named.insert(gpu).second) {
        item.complain("GPU " + std::to_string(gpu) +
                      " is named twice; a GPU has one slowdown: keep one of them");
        break;
      }
      straggler.gpus.push_back(gpu);
    }
  }
}

constexpr double least_factor = 1e-3;

bool is_map(const Cursor& at) { return check({.type = Type::map}, at, false); }

}  // namespace

Form stragglers_form() {
  return {.type = Type::list, .forms = {map_of(fields_of(straggler_table()))}};
}

Form degraded_links_form() {
  return {.type = Type::list, .forms = {map_of(fields_of(link_table()))}};
}

Value show_stragglers(const Cluster& cluster) {
  return shown_list(cluster.stragglers,
                    [](const Straggler& one) { return show_map(straggler_table(), one); });
}

Value show_degraded_links(const Cluster& cluster) {
  return shown_list(cluster.degraded_links,
                    [](const DegradedLink& link) { return show_map(link_table(), link); });
}

void read_stragglers(Cluster& cluster, bool known, const Cursor& at) {
  std::set<std::int64_t> named;
  for (std::size_t i = 0; i < at.value().items.size(); ++i) {
    const auto item = at.item(i);
    if (!is_map(item)) continue;
    Straggler straggler;
    read_map(straggler_table(), straggler, item);
    require({"slowdown"}, "a straggler takes so many times as long as its kind", item);
    const auto gpus = item.find("gpus"), nodes = item.find("nodes");
    if (gpus && nodes) item.complain("both gpus and nodes are given; keep one of them");
    if (!gpus && !nodes)
      item.missing("gpus", "a straggler needs gpus: [N, ...] or nodes: [N, ...]");
    if (!known || at.reading().doubtful(item.path())) continue;
    add_gpus(straggler, gpus ? *gpus : *nodes, cluster, nodes.has_value(), named);
    std::ranges::sort(straggler.gpus);
    cluster.stragglers.push_back(std::move(straggler));
  }
}

void read_degraded_links(Cluster& cluster, bool known, const Cursor& at) {
  std::optional<topology::Ports> ports;
  if (known) ports.emplace(cluster);
  std::vector<DegradedLink> links;
  for (std::size_t i = 0; i < at.value().items.size(); ++i) {
    const auto item = at.item(i);
    if (!is_map(item)) continue;
    DegradedLink link;
    read_map(link_table(), link, item);
    require({"link", "factor"}, "a degraded link has a name and a share that is left", item);
    if (!known || at.reading().doubtful(item.path())) continue;
    const auto place = *item.find("link");
    if (const auto wrong = ports->complaint(link.link)) {
      place.complain(*wrong);
      continue;
    }
    if (link.factor > 0 && link.factor < least_factor)
      item.find("factor")->complain(
          "a link that carries less than a thousandth of what it should "
          "has failed: write 0, or at least 0.001");
    for (const auto& other : links)
      if (ports->overlap(link.link, other.link)) {
        place.complain("'" + link.link + "' is also named as '" + other.link +
                       "'; a link has one factor: keep one of them");
        break;
      }
    links.push_back(std::move(link));
  }
  if (!known || at.reading().doubtful(at.path())) return;
  ports.reset();
  cluster.degraded_links = std::move(links);
  try {
    topology::Ports(static_cast<const Cluster&>(cluster));
  } catch (const std::invalid_argument& cut) {
    at.complain(cut.what());
  }
}

}  // namespace scenarios
