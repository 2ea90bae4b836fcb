// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"
#include "topology/words.hpp"

namespace scenarios {
namespace {

using topology::Fabric;

template <class T>
auto of_fabric(T Fabric::*member) {
  return [member](auto& draft) -> auto& { return draft.fabric.*member; };
}

constexpr const char* unnamed_fabric = "fabric";  // the name of a mapping without base

bool based_fabric(const FabricDraft& draft) { return has_base(draft.fabric.name, unnamed_fabric); }

constexpr Range blocking{1, 1000, "ports down over ports up, 1 is non-blocking"};

void read_oversubscription(FabricDraft& draft, const Cursor& at) {
  Form form{.type = Type::either,
            .forms = {{.type = Type::number, .range = blocking},
                      {.type = Type::list,
                       .range = {1, 5, ""},
                       .forms = {{.type = Type::number, .range = blocking}}}}};
  if (!check(form, at)) return;
  const auto& value = at.value();
  draft.fabric.oversubscription.clear();
  if (value.kind == Value::Kind::scalar) draft.fabric.oversubscription = {to_number(value)};
  for (const auto& item : value.items) draft.fabric.oversubscription.push_back(to_number(item));
}

std::optional<Value> show_oversubscription(const FabricDraft& draft) {
  const auto& tiers = draft.fabric.oversubscription;
  return tiers.empty() ? std::nullopt : std::optional(shown_list(tiers, shown_number));
}

using Measured = topology::MeasuredCollective;

const Form& point_form() {
  static const Form form{
      .type = Type::list, .range = {2, 2, "a size and a time"}, .forms = {{.type = Type::text}}};
  return form;
}

// [bytes, seconds], both with or without a unit.
void read_measured_points(Measured& measured, const Cursor& at) {
  const Form size{.type = Type::bytes, .range = {1, 1e18, "a buffer holds something"}};
  const Form time{.type = Type::duration, .range = {1e-9, 1e6, "a collective takes some time"}};
  for (std::size_t i = 0; i < at.value().items.size(); ++i) {
    const auto point = at.item(i);
    if (!check(point_form(), point, false)) continue;
    if (!check(size, point.item(0)) || !check(time, point.item(1))) continue;
    const auto bytes = units::parse_bytes(point.value().items[0].text);
    if (!measured.points.empty() && !(bytes > measured.points.back().first))
      point.complain("the sizes of a measured table must rise");
    measured.points.emplace_back(bytes, units::parse_duration(point.value().items[1].text));
  }
}

std::optional<Value> show_measured_points(const Measured& measured) {
  return shown_list(measured.points, [](const auto& point) {
    return shown_list(std::vector{point.first.value, point.second.value}, shown_number);
  });
}

const Table<Measured>& measured_collective_table() {
  static const Table<Measured> table{
      choice<Measured>("collective", "all_reduce", "What was measured", &Measured::collective),
      whole<Measured>("ranks", "", {2, 10'000'000, "a collective has at least two ranks"},
                      "GPUs that took part", &Measured::ranks),
      whole<Measured>("nodes", "", {1, 10'000'000, "a collective takes place on some node"},
                      "Nodes that they lay on, equally many on each", &Measured::nodes),
      {{"points",
        "Size of the whole buffer and time, sizes rising",
        "",
        {.type = Type::list, .range = {1, 1000, "a table has a point"}, .forms = {point_form()}}},
       read_measured_points,
       show_measured_points}};
  return table;
}

void read_measured(FabricDraft& draft, const Cursor& at) {
  draft.fabric.measured.clear();
  for (std::size_t i = 0; i < at.value().items.size(); ++i) {
    Measured measured;
    const auto item = at.item(i);
    if (item.value().kind != Value::Kind::map) {
      check({.type = Type::map}, item);
      continue;
    }
    require({"collective", "ranks", "nodes", "points"}, "a measured table needs all four", item);
    read_map(measured_collective_table(), measured, item);
    draft.fabric.measured.push_back(std::move(measured));
  }
}

std::optional<Value> show_measured(const FabricDraft& draft) {
  if (draft.fabric.measured.empty() && !based_fabric(draft)) return {};
  return shown_list(draft.fabric.measured, [](const Measured& measured) {
    return show_map(measured_collective_table(), measured);
  });
}

Table<FabricDraft> make_fabric_table() {
  Table<FabricDraft> table{
      choice<FabricDraft>("kind", "rail-fat-tree", "How the switches are joined",
                          of_fabric(&Fabric::kind)),
      bandwidth<FabricDraft>("link_bandwidth", "", "Per link and direction",
                             of_fabric(&Fabric::link_bandwidth)),
      duration<FabricDraft>("latency", "1 us", "Per hop", of_fabric(&Fabric::latency)),
      whole<FabricDraft>("tiers", "as many as the size needs", {1, 5, "layers of switches"},
                         "Layers of switches", of_fabric(&Fabric::tiers)),
      whole<FabricDraft>("radix", "40", {2, 4096, "ports of one switch"}, "Ports per switch",
                         of_fabric(&Fabric::radix)),
      {{"oversubscription",
        "One number, or one per tier, lowest first",
        "1",
        {.type = Type::either,
         .forms = {{.type = Type::number, .range = blocking},
                   {.type = Type::list, .forms = {{.type = Type::number, .range = blocking}}}}}},
       read_oversubscription,
       show_oversubscription},
      number<FabricDraft>("efficiency", "0.9",
                          {0.01, 1, "payload is part of what the wire carries"},
                          "Payload over link rate", of_fabric(&Fabric::efficiency)),
      yes_no<FabricDraft>("collectives_in_network", "false",
                          "Reduction inside the switches (SHARP)",
                          of_fabric(&Fabric::collectives_in_network)),
      unless_zero(based_fabric,
                  duration<FabricDraft>("launch", "0 us",
                                        "What its software adds to a collective between nodes",
                                        of_fabric(&Fabric::launch))),
      number<FabricDraft>(
          "ramp", "0.7", {0, 10, "0 is no ramp at all, 3 the slowest that was seen"},
          "How slowly collectives between nodes gain speed with size", of_fabric(&Fabric::ramp)),
      unless_zero(based_fabric,
                  quantity<FabricDraft>(Type::power, units::parse_power, "switch_power",
                                        "not known", {0, 1e6, "no switch draws a megawatt"},
                                        "Power of one switch", of_fabric(&Fabric::switch_power))),
      unless_zero(based_fabric,
                  quantity<FabricDraft>(Type::money, units::parse_money, "switch_price",
                                        "not known", {0, 1e8, "no switch costs so much"},
                                        "Price of one switch", of_fabric(&Fabric::switch_price))),
      whole<FabricDraft>("nics_per_node", "all", {1, 1024, "a node has so many slots at most"},
                         "NICs of a node that this fabric connects", &FabricDraft::nics_per_node),
      {{"measured",
        "Collectives measured on this fabric, used instead of the model",
        "none",
        {.type = Type::list, .forms = {map_of(fields_of(measured_collective_table()))}}},
       read_measured,
       show_measured}};
  add_entry_keys(table);
  return table;
}

const Table<FabricDraft>& fabric_table() {
  static const auto made = make_fabric_table();
  return made;
}

// Complains of keys about tiers in fabrics that are no fat trees.
void refuse_tiers(Fabric::Kind kind, const Cursor& at) {
  if (kind == Fabric::Kind::fat_tree || kind == Fabric::Kind::rail_fat_tree) return;
  for (const char* key : {"tiers", "oversubscription"})
    if (const auto given = at.find(key))
      given->complain("only fat-tree and rail-fat-tree have tiers of switches; leave " +
                      std::string(key) + " out");
}

}  // namespace

std::vector<Field> fabric_fields() { return fields_of(fabric_table()); }

FabricDraft read_fabric(const Cursor& at) {
  FabricDraft draft;
  const auto name = read_named(Kind::fabric, fabric_table(), draft, at);
  if (!name)
    require({"kind", "link_bandwidth"},
            "a fabric without `base` needs kind and link_bandwidth; to change one of the catalog "
            "name it: base: ndr-rail-fat-tree, or --set " +
                at.path() + "=ndr-rail-fat-tree first",
            at);
  draft.fabric.name = name.value_or(unnamed_fabric);
  refuse_tiers(draft.fabric.kind, at);
  return draft;
}

Value shown(const Fabric& fabric) {
  return over_base(fabric.name, unnamed_fabric,
                   show_map(fabric_table(), FabricDraft{.fabric = fabric}));
}

}  // namespace scenarios
