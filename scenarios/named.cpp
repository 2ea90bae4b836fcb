// SPDX-License-Identifier: Apache-2.0
#include "scenarios/named.hpp"

namespace scenarios {

const Value* catalog_entry(Kind kind, const Cursor& name) {
  const auto& text = name.value().text;
  const auto key = std::string(to_text(kind)) + "/" + text;
  if (const auto* known = name.reading().entry(key)) return known;
  const auto yaml = catalog_text(kind, text);
  if (!yaml) {
    name.complain(unknown_name(kind, text));
    return nullptr;
  }
  return name.reading().remember(key, parse_yaml(*yaml, "catalog/" + key));
}

void require(std::initializer_list<std::string_view> keys, std::string_view why, const Cursor& at) {
  if (at.value().kind != Value::Kind::map) return;
  for (const auto key : keys)
    if (at.value().find(key) == nullptr && !at.reading().doubted_itself(at.inner_path(key)))
      at.missing(key, why);
}

Value over_base(const std::string& name, std::string_view unnamed, Value keys) {
  if (has_base(name, unnamed))
    keys.members.insert(keys.members.begin(), {shown_text("base"), shown_text(name)});
  return keys;
}

std::optional<Cursor> name_place(const Cursor& at) {
  if (at.value().kind == Value::Kind::scalar) return at;
  for (const auto& member : at.value().members)
    if (member.key.text == "base") return at.member(member);
  return {};
}

Form name_or_map(const std::vector<Field>& fields) {
  return {.type = Type::either, .forms = {{.type = Type::text}, map_of(fields)}};
}

}  // namespace scenarios
