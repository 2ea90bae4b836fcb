// SPDX-License-Identifier: Apache-2.0
// A catalog name, or a mapping laid over one.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>

#include "scenarios/catalog.hpp"
#include "scenarios/keys.hpp"

namespace scenarios {

// Returns the parsed entry of that name, which the reading remembers; null, after a complaint, if
// there is none.
const Value* catalog_entry(Kind kind, const Cursor& name);

// Complains of each of these keys that the mapping lacks, unless another key was probably meant to
// be it.
void require(std::initializer_list<std::string_view> keys, std::string_view why, const Cursor& at);

// Adds the three keys that every entry of the catalog may have, and `base`.
template <class Draft>
void add_entry_keys(Table<Draft>& table) {
  const Form words{
      .type = Type::either,
      .forms = {{.type = Type::text}, {.type = Type::list, .forms = {{.type = Type::text}}}}};
  table.push_back(unread<Draft>("base", {.type = Type::text}, "Catalog name to start from"));
  table.push_back(unread<Draft>("source", words, "Where the figures come from"));
  table.push_back(
      unread<Draft>("from_memory", words, "Keys whose figures were not seen at a source"));
  table.push_back(unread<Draft>("note", words, "A remark for people"));
}

// Whether keys were read over an entry of the catalog. `unnamed` is the name that the reader gives
// to a mapping without base.
inline bool has_base(const std::string& name, std::string_view unnamed) {
  return name != unnamed && !name.empty();
}

// Returns the keys laid over the catalog entry that they started from. A key that the entry has and
// `keys` lack is shown as zero or empty.
Value over_base(const std::string& name, std::string_view unnamed, Value keys);

// Returns the place of the catalog name: the value itself, or its member `base`; nothing without
// either.
std::optional<Cursor> name_place(const Cursor& at);

// Reads a name or a mapping into the draft, the entry underneath first; Draft::finish(), if there
// is one, runs after each layer. Returns the name underneath, known or not; nothing if there is
// none.
template <class Draft>
std::optional<std::string> read_named(Kind kind, const Table<Draft>& table, Draft& draft,
                                      const Cursor& at, int depth = 0) {
  constexpr int deepest = 8;  // entries rest on entries; a ring of them would never end
  const auto name = name_place(at);
  if (name && depth < deepest && check({.type = Type::text}, *name)) {
    if (const auto* entry = catalog_entry(kind, *name))
      read_named(kind, table, draft, at.entry(*entry, name->value()), depth + 1);
    else
      at.reading().doubt(at.path());
  }
  if (!name || at.value().kind == Value::Kind::map) read_map(table, draft, at);
  if constexpr (requires { draft.finish(); }) draft.finish();
  if (!name) return {};
  return name->value().text;
}

}  // namespace scenarios
