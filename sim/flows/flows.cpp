// SPDX-License-Identifier: Apache-2.0
// Time on top of the levels: a link serves each flow it holds the same, so a flow is done when the
// link's service reaches its mark. A change of level costs a link one update, however many flows.
// A flow that is alone on its links keeps its rate, and needs none of that (flows_alone.hpp).
#include "sim/flows/flows.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/flows/flows_alone.hpp"
#include "sim/flows/flows_paths.hpp"
#include "sim/flows/flows_service.hpp"

namespace sim {
namespace {

constexpr auto nobody = WaterLevels::nobody;

// Returns the exponent with which the largest capacity takes 60 bits.
int exponent_of(std::span<const double> capacities) {
  double most = 0;
  for (const auto capacity : capacities) {
    if (!(capacity > 0) || std::isinf(capacity))
      throw std::invalid_argument("a link must have a finite capacity above zero");
    most = std::max(most, capacity);
  }
  return most > 0 ? 59 - std::ilogb(most) : 0;
}

std::vector<Units> units_of(std::span<const double> capacities, int exponent) {
  std::vector<Units> units;
  units.reserve(capacities.size());
  for (const auto capacity : capacities) {
    units.push_back(static_cast<Units>(std::ldexp(capacity, exponent)));
    if (units.back() < Units{1} << 24)
      throw std::invalid_argument("capacities must be within a factor 2^36 of one another");
  }
  return units;
}

}  // namespace

struct SharedNetwork::State {
  State(std::span<const double> capacities, double ticks)
      : scale(capacities, ticks),
        links(capacities.size()),
        levels(units_of(capacities, scale.exponent)),
        alone(capacities.size()),
        services(capacities.size()),
        due_places(capacities.size(), nobody) {}

  PathId path(double cap);
  void start(std::uint32_t path, const Member& member);
  void share(std::uint32_t path, Member member);
  Ticks soonest() {
    if (changes.levels || !changes.stale.empty()) refresh();
    return std::min(alone.next_completion(), due.empty() ? too_far : due.top().key);
  }
  void refresh();
  void reseat(std::uint32_t path);
  void leave_seat(std::uint32_t path);
  void mark_stale(std::uint32_t link);
  void find_due(std::uint32_t link);
  void complete_due();
  void complete_lone(std::uint32_t path);
  void complete_members(std::uint32_t path);

  struct Scale {
    Scale(std::span<const double> capacities, double ticks)
        : exponent(exponent_of(capacities)), need(std::ldexp(ticks, exponent)) {}
    int exponent;  // units = bytes/s * 2^exponent
    double need;   // units times ticks of a byte
  };
  struct Changes {  // since the last refresh
    bool levels = false;
    std::vector<std::uint32_t> stirred, stale;  // paths, links
  };

  Scale scale;
  std::size_t links;  // those with a cap for a capacity come after them
  Ticks now = 0;
  Changes changes;
  WaterLevels levels;
  LoneFlows alone;
  PathTable paths;
  std::vector<Service> services;  // by link
  std::vector<Class> classes;     // by path
  PlacedHeap<Ticks> due;          // links by next completion
  std::vector<std::uint32_t> due_places, seat_places;
  std::vector<std::uint32_t> path_of;  // by flow; nobody: done
  std::vector<Completion> done;
  std::vector<LinkUse> uses;  // scratch
};

// The path of `uses`.
PathId SharedNetwork::State::path(double cap) {
  if (uses.empty()) throw std::invalid_argument("a path must cross at least one link");
  if (!(cap > 0)) throw std::invalid_argument("a cap must be above zero");
  std::ranges::sort(uses, {}, &LinkUse::link);
  if (uses.back().link >= links) throw std::invalid_argument("a path crosses an unknown link");
  std::size_t kept = 0;
  for (const auto& use : uses) {
    if (use.times == 0) throw std::invalid_argument("a path loads each of its links at least once");
    if (kept > 0 && uses[kept - 1].link == use.link)
      uses[kept - 1].times += use.times;
    else
      uses[kept++] = use;
  }
  uses.resize(kept);
  const double units = std::ldexp(cap, scale.exponent);
  const auto limit =
      units < 0x1p60 ? std::max(Units{1}, static_cast<Units>(units)) : WaterLevels::never;
  const auto number = paths.number(path_hash(uses, limit), [&](std::uint32_t known) {
    return levels.same_path(known, uses, limit);
  });
  if (number == classes.size()) {
    levels.add_path(uses, limit);
    classes.emplace_back();
    seat_places.push_back(nobody);
    services.resize(levels.links());
    due_places.resize(levels.links(), nobody);
  }
  return PathId{number};
}

// Starts flows on a path; `member.mark` is the service that they need. A flow that was alone on one
// of its links no longer is.
void SharedNetwork::State::start(std::uint32_t id, const Member& member) {
  const auto hops = levels.hops(id);
  const bool vacant = std::ranges::all_of(hops, [&](const auto& hop) {
    return levels.vacant(hop.link) && alone.on(hop.link) == nobody;
  });
  if (vacant &&
      alone.begin(id, hops, member, now, [&] { return levels.lone_level(id, member.count); }))
    return;
  for (const auto& hop : hops)
    if (const auto met = alone.on(hop.link); met != nobody)
      share(met, alone.end(met, levels.hops(met), now));
  share(id, member);
}

// Starts flows on a path that shares links. `member.mark` is the service that they need; here it
// becomes the service of the path by which they are done.
void SharedNetwork::State::share(std::uint32_t id, Member member) {
  auto& path = classes[id];
  levels.change(id, member.count);
  changes.levels = true;
  member.mark += path.lead;
  if (path.seat != nobody) {
    services[path.seat].catch_up(now);
    member.mark += services[path.seat].given;
  }
  path.add(member);
  if (path.stirred) return;
  path.stirred = true;
  changes.stirred.push_back(id);
}

void SharedNetwork::State::refresh() {
  if (changes.levels) {
    changes.levels = false;
    levels.solve();
    for (const auto l : levels.changed_links()) services[l].catch_up(now);
    for (const auto p : levels.moved_paths()) reseat(p);
    for (const auto p : changes.stirred) {
      classes[p].stirred = false;
      reseat(p);
    }
    changes.stirred.clear();
    for (const auto l : levels.changed_links()) {
      services[l].rate = levels.level(l);
      mark_stale(l);
    }
  }
  for (const auto l : changes.stale) find_due(l);
  changes.stale.clear();
}

void SharedNetwork::State::reseat(std::uint32_t id) {
  auto& path = classes[id];
  if (!path.busy) return;
  const auto holder = levels.holder(id);
  const auto mark = path.next.mark;
  auto& service = services[holder];
  mark_stale(holder);
  if (path.seat == holder) return service.paths.update(id, mark - path.lead, seat_places);
  if (path.seat != nobody) leave_seat(id);
  service.catch_up(now);
  path.lead -= service.given;
  path.seat = holder;
  service.paths.insert(id, mark - path.lead, seat_places);
}

void SharedNetwork::State::leave_seat(std::uint32_t id) {
  auto& path = classes[id];
  auto& service = services[path.seat];
  service.catch_up(now);
  service.paths.erase(id, seat_places);
  path.lead += service.given;
  mark_stale(path.seat);
  path.seat = nobody;
}

void SharedNetwork::State::mark_stale(std::uint32_t l) {
  if (services[l].stale) return;
  services[l].stale = true;
  changes.stale.push_back(l);
}

void SharedNetwork::State::find_due(std::uint32_t l) {
  services[l].stale = false;
  const auto when = services[l].next_completion();
  const bool known = due_places[l] != nobody;
  if (when < too_far) {
    known ? due.update(l, when, due_places) : due.insert(l, when, due_places);
  } else if (known) {
    due.erase(l, due_places);
    due_places[l] = nobody;
  }
}

// Completes all flows that are due now.
void SharedNetwork::State::complete_due() {
  const auto first = std::ssize(done);
  while (alone.next_completion() == now) complete_lone(alone.next_path());
  while (!due.empty() && due.top().key == now) {
    const auto l = due.top().item;
    due.erase(l, due_places);
    due_places[l] = nobody;
    mark_stale(l);
    auto& service = services[l];
    service.catch_up(now);
    while (!service.paths.empty() && service.paths.top().key <= service.given + slack(service.rate))
      complete_members(service.paths.top().item);
  }
  std::sort(done.begin() + first, done.end());
}

void SharedNetwork::State::complete_lone(std::uint32_t id) {
  const auto flow = alone.end(id, levels.hops(id), now).id;
  done.push_back({now, flow});
  path_of[static_cast<std::uint32_t>(flow)] = nobody;
}

void SharedNetwork::State::complete_members(std::uint32_t id) {
  auto& path = classes[id];
  auto& service = services[path.seat];
  for (; path.busy && path.next.mark - path.lead <= service.given + slack(service.rate);
       path.pop()) {
    done.push_back({now, path.next.id});
    path_of[static_cast<std::uint32_t>(path.next.id)] = nobody;
    levels.change(id, -path.next.count);
  }
  changes.levels = true;
  if (path.busy)
    service.paths.update(id, path.next.mark - path.lead, seat_places);
  else
    leave_seat(id);
}

SharedNetwork::SharedNetwork(std::span<const double> capacities, double ticks_per_second)
    : state_(std::make_unique<State>(capacities, ticks_per_second)) {
  if (!(ticks_per_second > 0)) throw std::invalid_argument("a second must have ticks");
}
bool SharedNetwork::can_join(std::span<const double> capacities) {
  double most = 0, least = std::numeric_limits<double>::infinity();
  for (const auto capacity : capacities) {
    most = std::max(most, capacity);
    least = std::min(least, capacity);
  }
  if (!(most > 0)) return capacities.empty();
  return std::isfinite(most) && std::ldexp(least, 59 - std::ilogb(most)) >= 0x1p24;
}

SharedNetwork::SharedNetwork(SharedNetwork&&) noexcept = default;
SharedNetwork& SharedNetwork::operator=(SharedNetwork&&) noexcept = default;
SharedNetwork::~SharedNetwork() = default;

void SharedNetwork::reserve(std::size_t paths, std::size_t links, std::size_t flows) {
  auto& s = *state_;
  s.levels.reserve(paths, links);
  s.paths.make_room(paths);
  s.classes.reserve(paths);
  s.seat_places.reserve(paths);
  s.changes.stirred.reserve(paths);
  s.path_of.reserve(flows);
}

PathId SharedNetwork::path(std::span<const LinkUse> links, double cap) {
  state_->uses.assign(links.begin(), links.end());
  return state_->path(cap);
}

PathId SharedNetwork::path(std::span<const std::uint32_t> links, double cap) {
  state_->uses.clear();
  for (const auto link : links) state_->uses.push_back({link, 1});
  return state_->path(cap);
}

FlowId SharedNetwork::start(PathId path, double bytes, std::int64_t count) {
  auto& s = *state_;
  const auto p = static_cast<std::uint32_t>(path);
  if (p >= s.classes.size()) throw std::invalid_argument("a flow must have a path of its network");
  if (count < 1) throw std::invalid_argument("a flow must stand for at least one");
  const double needed = bytes * s.scale.need;
  if (!(needed >= 0) || needed >= 0x1p125)
    throw std::invalid_argument("a flow must have bytes, at least zero and not too many to count");
  const FlowId id{static_cast<std::uint32_t>(s.path_of.size())};
  s.start(p, {static_cast<Int128>(needed), id, count});
  s.path_of.push_back(p);
  return id;
}

std::optional<Ticks> SharedNetwork::alone(PathId path, double bytes) const {
  const double needed = bytes * state_->scale.need;
  if (!(needed >= 0) || needed >= 0x1p125) return std::nullopt;
  const auto rate = state_->levels.lone_level(static_cast<std::uint32_t>(path), 1);
  const auto lasts = ticks_for(static_cast<Int128>(needed), rate);
  return lasts >= too_far ? std::nullopt : std::optional(lasts);
}

Ticks SharedNetwork::now() const { return state_->now; }

std::optional<Ticks> SharedNetwork::next_completion() {
  const auto next = state_->soonest();
  if (next == too_far) return std::nullopt;
  return next;
}

std::span<const SharedNetwork::Completion> SharedNetwork::advance_to_completion(Ticks latest) {
  auto& s = *state_;
  if (latest < s.now) throw std::invalid_argument("time does not go back");
  s.done.clear();
  const auto next = s.soonest();
  s.now = std::min(next < too_far ? next : latest, latest);
  if (s.now == next) s.complete_due();
  return s.done;
}

double SharedNetwork::rate(FlowId flow) {
  auto& s = *state_;
  s.refresh();
  const auto path = s.path_of.at(static_cast<std::uint32_t>(flow));
  if (path == nobody) return 0;
  const auto level = s.alone.has(path) ? s.alone.rate(path) : s.levels.level(s.levels.holder(path));
  return std::ldexp(static_cast<double>(level), -s.scale.exponent);
}

double SharedNetwork::load(std::uint32_t link) {
  auto& s = *state_;
  if (link >= s.links) throw std::invalid_argument("there is no such link");
  s.refresh();
  const auto path = s.alone.on(link);
  const auto load = path == nobody ? s.levels.load(link) : s.alone.load(link, s.levels.hops(path));
  return std::ldexp(static_cast<double>(load), -s.scale.exponent);
}

}  // namespace sim
