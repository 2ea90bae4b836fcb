// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "scenarios/named.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using topology::Fabric;

using Draft = FabricDraft;

template <class T>
auto of_fabric(T Fabric::*member) {
  return [member](Draft& draft) -> T& { return draft.fabric.*member; };
}

constexpr Range blocking{1, 1000, "ports down over ports up, 1 is non-blocking"};

void read_oversubscription(Draft& draft, const Cursor& at) {
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

Table<Draft> make_table() {
  using enum Fabric::Kind;
  const std::vector<Named<Fabric::Kind>> kinds{
      {"fat-tree", fat_tree},   {"rail-fat-tree", rail_fat_tree},
      {"rail-only", rail_only}, {"dragonfly-plus", dragonfly_plus},
      {"torus-3d", torus_3d},   {"single-switch", single_switch}};
  Table<Draft> table{
      choice<Draft>("kind", "rail-fat-tree", kinds, "How the switches are joined",
                    of_fabric(&Fabric::kind)),
      bandwidth<Draft>("link_bandwidth", "", "Per link and direction",
                       of_fabric(&Fabric::link_bandwidth)),
      duration<Draft>("latency", "1 us", "Per hop", of_fabric(&Fabric::latency)),
      whole<Draft>("tiers", "as many as the size needs", {1, 5, "layers of switches"},
                   "Layers of switches", of_fabric(&Fabric::tiers)),
      whole<Draft>("radix", "40", {2, 4096, "ports of one switch"}, "Ports per switch",
                   of_fabric(&Fabric::radix)),
      {{"oversubscription",
        "One number, or one per tier, lowest first",
        "1",
        {.type = Type::either,
         .forms = {{.type = Type::number, .range = blocking},
                   {.type = Type::list, .forms = {{.type = Type::number, .range = blocking}}}}}},
       read_oversubscription},
      number<Draft>("efficiency", "0.9", {0.01, 1, "payload is part of what the wire carries"},
                    "Payload over link rate", of_fabric(&Fabric::efficiency)),
      yes_no<Draft>("collectives_in_network", "false", "Reduction inside the switches (SHARP)",
                    of_fabric(&Fabric::collectives_in_network)),
      whole<Draft>("nics_per_node", "all", {1, 1024, "a node has so many slots at most"},
                   "NICs of a node that this fabric connects", &Draft::nics_per_node)};
  add_entry_keys(table);
  return table;
}

const Table<Draft>& table() {
  static const auto made = make_table();
  return made;
}

}  // namespace

std::vector<Field> fabric_fields() { return fields_of(table()); }

FabricDraft read_fabric(const Cursor& at) {
  Draft draft;
  const auto name = read_named(Kind::fabric, table(), draft, at);
  if (!name)
    require({"kind", "link_bandwidth"}, "a fabric without `base` needs kind and link_bandwidth",
            at);
  draft.fabric.name = name.value_or("fabric");
  return draft;
}

}  // namespace scenarios
