// SPDX-License-Identifier: Apache-2.0
// One table per mapping: its keys, the form of their values, the members that they fill and the way
// they are shown. The reader, the JSON Schema and the resolved scenario are all driven by it, so
// they cannot disagree.
#pragma once
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "scenarios/documents/form.hpp"
#include "scenarios/shown.hpp"
#include "units/text.hpp"
#include "units/words.hpp"

namespace scenarios {

template <class Target>
struct Key {
  Field field;
  std::function<void(Target&, const Cursor&)> assign;  // only called with a value of the form
  // The inverse of `assign`: returns a value from which `assign` would make the same target;
  // nothing if the key is as if left out. Empty for a key that is never shown.
  std::function<std::optional<Value>(const Target&)> show{};
};

template <class Target>
using Table = std::vector<Key<Target>>;

template <class Target>
std::vector<Field> fields_of(const Table<Target>& table) {
  std::vector<Field> fields;
  for (const auto& key : table) fields.push_back(key.field);
  return fields;
}

// Reads a mapping into the target; complains of wrong values and leaves their members as they were.
template <class Target>
void read_map(const Table<Target>& table, Target& target, const Cursor& at) {
  if (at.value().kind != Value::Kind::map) {
    check({.type = Type::map}, at);
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& key : table) names.push_back(key.field.name);
  for (const auto& member : at.value().members) {
    if (!check_key(member, at, names)) continue;
    const auto key =
        std::ranges::find(table, member.key.text, [](const auto& k) { return k.field.name; });
    const auto value = at.member(member);
    if (check(key->field.form, value, false)) key->assign(target, value);
  }
}

// Shows a mapping: the keys that have something to show, in the order of the table.
template <class Target>
Value show_map(const Table<Target>& table, const Target& target) {
  Value map;
  map.kind = Value::Kind::map;
  for (const auto& key : table)
    if (key.show)
      if (auto value = key.show(target)) show_key(map, key.field.name, std::move(*value));
  return map;
}

// Complains of values that are not of the form of their key, whether they were read, come from a
// base or follow from other keys: an accepted value can be shown and read again. Checks only a
// mapping that could be read.
template <class Target>
void check_values(const Table<Target>& table, const Target& target, const Cursor& at) {
  if (at.reading().doubtful(at.path())) return;
  for (const auto& key : table)
    if (key.show)
      if (const auto value = key.show(target))
        check(key.field.form, at.in_the_end(key.field.name, *value));
}

using units::Named;

// Return all words of an enum, or those of some values.
template <class E>
std::vector<Named<E>> all_words() {
  const auto& all = words_of(E{});
  return {all.begin(), all.end()};
}
template <class E>
std::vector<Named<E>> words_for(std::initializer_list<E> values) {
  std::vector<Named<E>> some;
  for (const auto value : values) some.push_back({units::word(value), value});
  return some;
}

template <class E>
std::vector<std::string_view> names_of(const std::vector<Named<E>>& named) {
  std::vector<std::string_view> names;
  for (const auto& one : named) names.push_back(one.name);
  return names;
}

// Returns the value that the word names; the word must be in the list.
template <class E>
E meaning(const std::vector<Named<E>>& named, const Value& word) {
  return std::ranges::find(named, word.text, &Named<E>::name)->value;
}

// A list of at least one of these words.
template <class E>
Form words_form(const std::vector<Named<E>>& named) {
  return {.type = Type::list,
          .range = {1, static_cast<double>(named.size()), ""},
          .forms = {{.type = Type::choice, .choices = names_of(named)}}};
}

// Returns the values that the words of a list name, in the order of `named`. Complains of a word
// that stands there twice.
template <class E>
std::vector<E> values_named(const std::vector<Named<E>>& named, const Cursor& list) {
  const auto& items = list.value().items;
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      if (items[earlier].text == items[i].text)
        list.item(i).complain("'" + items[i].text + "' stands there twice; keep one of them");
  std::vector<E> all;
  for (const auto& one : named)
    if (std::ranges::find(items, one.name, &Value::text) != items.end()) all.push_back(one.value);
  return all;
}

// Returns a list of the values, each shown by `show`.
template <class T, class Show>
Value shown_list(const std::vector<T>& values, Show show) {
  Value list;
  list.kind = Value::Kind::list;
  for (const auto& value : values) list.items.push_back(show(value));
  return list;
}

// The inverse of `values_named`.
template <class E>
Value shown_words(const std::vector<E>& values) {
  return shown_list(values, [](E value) { return shown_text(units::word(value)); });
}

// --- makers of keys; `get` is a pointer to member or a function that gives the member's reference.
// A key is shown where `get` takes a target that is constant.

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// Returns a function that shows the member by `show`, which may return nothing; an optional member
// only if it has a value.
template <class Target, class Get, class Show>
std::function<std::optional<Value>(const Target&)> shown_by(Get get, Show show) {
  if constexpr (std::is_invocable_v<Get, const Target&>)
    return [get, show](const Target& target) -> std::optional<Value> {
      const auto& member = std::invoke(get, target);
      if constexpr (!is_optional<std::decay_t<decltype(member)>>)
        return show(member);
      else if (member)
        return show(*member);
      else
        return {};
    };
  else
    return {};
}

// Returns the key, shown only for targets for which `shows` is true.
template <class Target, class Shows>
Key<Target> shown_if(Shows shows, Key<Target> key) {
  key.show = [shows, show = key.show](const Target& target) {
    return shows(target) ? show(target) : std::nullopt;
  };
  return key;
}

// Returns the key of a quantity that is zero if it is not known. Zero is shown only for a target
// that `has_base`, because the entry underneath may know the quantity.
template <class Target, class HasBase>
Key<Target> unless_zero(HasBase has_base, Key<Target> key) {
  key.show = [has_base, show = key.show](const Target& target) {
    auto value = show(target);
    return value && to_number(*value) == 0 && !has_base(target) ? std::nullopt : value;
  };
  return key;
}

template <class Target, class Get>
Key<Target> whole(std::string_view name, std::string_view fallback, Range range,
                  std::string_view description, Get get) {
  return {{name, description, fallback, {.type = Type::whole, .range = range}},
          [get](Target& target, const Cursor& at) {
            auto& member = std::invoke(get, target);
            if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::optional<int>>)
              member = static_cast<int>(to_whole(at.value()));
            else
              member = static_cast<std::decay_t<decltype(member)>>(to_whole(at.value()));
          },
          shown_by<Target>(
              get, [](auto value) { return shown_whole(static_cast<std::int64_t>(value)); })};
}

template <class Target, class Get>
Key<Target> number(std::string_view name, std::string_view fallback, Range range,
                   std::string_view description, Get get) {
  return {
      {name, description, fallback, {.type = Type::number, .range = range}},
      [get](Target& target, const Cursor& at) { std::invoke(get, target) = to_number(at.value()); },
      shown_by<Target>(get, shown_number)};
}

// A number that is shown without a fraction if it has none.
template <class Target, class Get>
Key<Target> amount(std::string_view name, std::string_view fallback, Range range,
                   std::string_view description, Get get) {
  auto key = number<Target>(name, fallback, range, description, get);
  key.show = shown_by<Target>(get, shown_count);
  return key;
}

template <class Target, class Get>
Key<Target> yes_no(std::string_view name, std::string_view fallback, std::string_view description,
                   Get get) {
  return {
      {name, description, fallback, {.type = Type::yes_no}},
      [get](Target& target, const Cursor& at) { std::invoke(get, target) = to_yes_no(at.value()); },
      shown_by<Target>(get, shown_yes_no)};
}

template <class Target, class Get>
Key<Target> text(std::string_view name, std::string_view description, Get get) {
  return {{name, description, "", {.type = Type::text}},
          [get](Target& target, const Cursor& at) { std::invoke(get, target) = at.value().text; },
          shown_by<Target>(get, [](const std::string& text) {
            return text.empty() ? std::nullopt : std::optional(shown_text(text));
          })};
}

// A quantity; `parse` is one of units/text.hpp and fixes the type.
template <class Target, class Get, class Q>
Key<Target> quantity(Type type, Q (*parse)(std::string_view), std::string_view name,
                     std::string_view fallback, Range range, std::string_view description,
                     Get get) {
  return {{name, description, fallback, {.type = type, .range = range}},
          [get, parse](Target& target, const Cursor& at) {
            std::invoke(get, target) = parse(at.value().text);
          },
          shown_by<Target>(get, [type](Q value) {
            return type == Type::duration ? shown_number(value.value) : shown_count(value.value);
          })};
}

// Tokens of a whole training; `get` gives a double, or an optional one.
template <class Target, class Get>
Key<Target> tokens_key(std::string_view name, std::string_view fallback,
                       std::string_view description, Get get) {
  return {{name,
           description,
           fallback,
           {.type = Type::tokens, .range = {1, 1e18, "a training has some tokens"}}},
          [get](Target& target, const Cursor& at) {
            std::invoke(get, target) = units::parse_tokens(at.value().text);
          },
          shown_by<Target>(get, shown_count)};
}

template <class Target, class Get>
Key<Target> bytes(std::string_view name, std::string_view fallback, std::string_view description,
                  Get get, Range range = {0, 1e18, "no machine here holds an exabyte"}) {
  return quantity<Target>(Type::bytes, units::parse_bytes, name, fallback, range, description, get);
}

template <class Target, class Get>
Key<Target> bandwidth(std::string_view name, std::string_view fallback,
                      std::string_view description, Get get,
                      Range range = {1e6, 1e15,
                                     "a link moves something, and no more than 1 PB/s; a bare "
                                     "number is in bytes/s: write e.g. '450 GB/s'"}) {
  const auto never = [](const Target&) { return false; };  // no file can say zero
  return unless_zero(never, quantity<Target>(Type::bandwidth, units::parse_bandwidth, name,
                                             fallback, range, description, get));
}

template <class Target, class Get>
Key<Target> duration(std::string_view name, std::string_view fallback, std::string_view description,
                     Get get) {
  return quantity<Target>(Type::duration, units::parse_duration, name, fallback,
                          {0, 60, "an overhead or latency is not negative and below a minute"},
                          description, get);
}

template <class Target, class Get, class E>
Key<Target> choice(std::string_view name, std::string_view fallback, std::vector<Named<E>> named,
                   std::string_view description, Get get) {
  return {{name, description, fallback, {.type = Type::choice, .choices = names_of(named)}},
          [get, named](Target& target, const Cursor& at) {
            std::invoke(get, target) = meaning(named, at.value());
          },
          shown_by<Target>(get, [named](const E& value) {
            const auto found = std::ranges::find(named, value, &Named<E>::value);
            return found == named.end() ? std::nullopt : std::optional(shown_text(found->name));
          })};
}

// A key whose value is any word of the enum that `get` returns.
template <class Target, class Get>
Key<Target> choice(std::string_view name, std::string_view fallback, std::string_view description,
                   Get get) {
  using E = std::decay_t<std::invoke_result_t<Get, Target&>>;
  return choice<Target>(name, fallback, all_words<E>(), description, get);
}

// A mapping inside the mapping, read by its own table.
template <class Target, class Get, class Inner>
Key<Target> inner(std::string_view name, std::string_view description, const Table<Inner>& table,
                  Get get) {
  return {{name, description, "", map_of(fields_of(table))},
          [get, &table](Target& target, const Cursor& at) {
            read_map(table, std::invoke(get, target), at);
          },
          shown_by<Target>(get, [&table](const Inner& member) {
            auto map = show_map(table, member);
            return map.members.empty() ? std::nullopt : std::optional(std::move(map));
          })};
}

// Returns the key, shown by `show`.
template <class Target, class Show>
Key<Target> shown_as(Show show, Key<Target> key) {
  key.show = show;
  return key;
}

// A key whose value this reader ignores: a note for people, or one that another reader takes.
template <class Target>
Key<Target> unread(std::string_view name, Form form, std::string_view description) {
  return {{name, description, "", form}, [form](Target&, const Cursor& at) { check(form, at); }};
}

}  // namespace scenarios
