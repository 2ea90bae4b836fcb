// SPDX-License-Identifier: Apache-2.0
// `--set path.to.key=value`.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "scenarios/document.hpp"

namespace scenarios {
namespace {

// Paths that may hold a catalog name where a mapping is wanted.
constexpr std::array<std::string_view, 5> named{"model", "cluster.node", "cluster.node.device",
                                                "cluster.fabric", "software"};

// Returns the path of one kind of node among several, cluster.node.0.node.device, as that of a
// single kind.
std::string of_any_kind(const std::string& path) {
  constexpr std::string_view list = "cluster.node.", one = ".node";
  if (!path.starts_with(list)) return path;
  const auto end = path.find_first_not_of("0123456789", list.size());
  if (end == std::string::npos || end == list.size()) return path;
  return path.compare(end, one.size(), one) == 0 ? "cluster.node" + path.substr(end + one.size())
                                                 : path;
}

bool may_be_name(const std::string& path) {
  return std::ranges::find(named, of_any_kind(path)) != named.end();
}

// Paths that may hold a word or a size where a mapping is wanted, and the key that keeps it in the
// mapping; no key: the mapping replaces the word, such as `none`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> short_forms{
    {{"plan.recompute", ""},
     {"plan.offload", ""},
     {"plan.offload.activations", "to"},
     {"plan.wrap", ""},
     {"plan.bucket", "reduce"},
     {"software.data_loader", ""}}};

struct Set {
  int number;
  std::string path;
  std::vector<std::string> keys;
  Value value;
};

void mark(Value& value, int number) {
  value.set = number;
  for (auto& item : value.items) mark(item, number);
  for (auto& member : value.members) {
    mark(member.key, number);
    mark(member.value, number);
  }
}

Set parse(const std::string& text, int number) {
  const auto place = "--set " + std::to_string(number);
  const auto equals = text.find('=');
  Set set{number, text.substr(0, equals), {}, {}};
  set.keys = keys_of(set.path);
  if (equals == std::string::npos || std::ranges::find(set.keys, "") != set.keys.end())
    throw Error({{place, "'" + text + "' is no assignment; expected path.to.key=value"}});
  if (set.keys.size() > 32)
    throw Error({{place, set.path.substr(0, 60) + "…: the path is deeper than any scenario"}});
  if (equals + 1 == text.size())
    throw Error({{place, set.path + ": no value after '='; write null to remove the key"}});
  try {
    set.value = parse_yaml(text.substr(equals + 1), place);
  } catch (const Error& wrong) {
    throw Error({{place, set.path + ": " + wrong.complaints.front().text}});
  }
  mark(set.value, number);
  return set;
}

Value empty_map(int number) {
  Value value;
  value.kind = Value::Kind::map;
  value.set = number;
  return value;
}

Value key(const std::string& name, int number) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.text = name;
  value.set = number;
  return value;
}

// Returns the element of a list whose number the key is, or null.
Value* element(Value& list, const std::string& key) {
  std::size_t index = 0;
  const auto* end = key.data() + key.size();
  const auto [stop, wrong] = std::from_chars(key.data(), end, index);
  if (wrong != std::errc() || stop != end || index >= list.items.size()) return nullptr;
  return &list.items[index];
}

// Turns the value at the path, which is no list, into a map if it can be one.
bool make_map(Value& value, const std::string& path, int number) {
  if (value.kind == Value::Kind::map) return true;
  Value map = empty_map(number);
  if (value.kind == Value::Kind::scalar) {
    const auto* known = std::ranges::find(short_forms, std::string_view(path),
                                          [](const auto& form) { return form.first; });
    if (!may_be_name(path) && known == short_forms.end()) return false;
    const auto kept = known == short_forms.end() ? std::string_view("base") : known->second;
    if (!kept.empty()) map.members.push_back({key(std::string(kept), number), value});
  }
  value = std::move(map);
  return true;
}

// Sets the value at the path; complaints point at `blamed`.
void apply(Value& document, Set set, const Value& blamed, Reading& reading) {
  Value* at = &document;
  std::string path;
  for (std::size_t i = 0; i < set.keys.size(); ++i) {
    const auto& name = set.keys[i];
    const bool last = i + 1 == set.keys.size();
    Value* next = at->kind == Value::Kind::list ? element(*at, name) : nullptr;
    if (at->kind != Value::Kind::list && make_map(*at, path, set.number)) {
      const auto known = std::ranges::find(at->members, name,
                                           [](const Member& member) { return member.key.text; });
      if (last && set.value.kind == Value::Kind::null) {
        if (known != at->members.end()) at->members.erase(known);
        return;
      }
      if (known != at->members.end()) {
        next = &known->value;
      } else {
        at->members.push_back({key(name, set.number), Value{}});
        next = &at->members.back().value;
        next->set = set.number;
      }
    }
    if (next == nullptr) {
      const std::string what = at->kind == Value::Kind::list ? "is a list without element '"
                                                             : "is a single value without key '";
      reading.complain(blamed, {{}, set.path + ": '" + path + "' " + what + name + "'"});
      return;
    }
    path += (path.empty() ? "" : ".") + name;
    at = next;
  }
  *at = std::move(set.value);
}

}  // namespace

std::vector<std::string> keys_of(const std::string& path) {
  std::vector<std::string> keys;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('.', begin), path.size());
    keys.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return keys;
}

void apply_sets(Value& document, std::span<const std::string> sets, Reading& reading, int first) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const int number = static_cast<int>(i) + first;
    Value here;
    here.set = number;
    try {
      apply(document, parse(sets[i], number), here, reading);
    } catch (const Error& wrong) {
      for (const auto& one : wrong.complaints) reading.complain(here, one);
    }
  }
}

void set_value(Value& document, const std::string& path, Value value, Reading& reading) {
  const Value blamed = value;
  apply(document, {0, path, keys_of(path), std::move(value)}, blamed, reading);
}

}  // namespace scenarios
