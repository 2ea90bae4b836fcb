// SPDX-License-Identifier: Apache-2.0
#include "scenarios/jobs/variables.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace scenarios {
namespace {

constexpr int most_references = 16;             // of one value, one inside of another
constexpr std::size_t longest_value = 1 << 16;  // bytes of a value with its references replaced

std::optional<std::string> value_of(std::string_view name, std::span<const std::string> env) {
  std::optional<std::string> value;
  for (const auto& one : env)
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      value = one.substr(name.size() + 1);
  return value;
}

// Returns the end of the reference that begins at `begin` with "${": behind its last brace.
std::size_t end_of(const std::string& text, std::size_t begin) {
  int depth = 0;
  for (auto i = begin; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i + 1;
  }
  return text.npos;
}

// Returns the text with every "${…}" replaced by resolve(), innermost first; those without a value
// stay.
template <class Resolve>
std::string replaced(std::string text, const Resolve& resolve) {
  std::size_t before = text.npos;
  for (int done = 0; done < 8 * most_references && text.size() < longest_value; ++done) {
    const auto begin = text.rfind("${", before);
    if (begin == text.npos) break;
    const auto end = end_of(text, begin);
    std::optional<std::string> value;
    if (end != text.npos) value = resolve(text.substr(begin + 2, end - begin - 3));
    if (value) {
      text.replace(begin, end - begin, *value);
      before = text.npos;
    } else if (begin == 0) {
      break;
    } else {
      before = begin - 1;
    }
  }
  return text;
}

// Makes a plain text that was put together null if YAML would read it as null.
void settle(Value& value) {
  if (!value.quoted && (value.text == "null" || value.text == "~")) {
    value.kind = Value::Kind::null;
    value.text.clear();
  }
}

template <class Resolve>
void replace_all(Value& value, const Resolve& resolve) {
  if (value.kind == Value::Kind::scalar && value.text.find("${") != value.text.npos) {
    value.text = replaced(std::move(value.text), resolve);
    value.quoted = false;
    settle(value);
  }
  for (auto& item : value.items) replace_all(item, resolve);
  for (auto& member : value.members) replace_all(member.value, resolve);
}

// --- Hydra

using Path = std::vector<const Value*>;  // the maps from the document to where a reference stands

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t'\"");
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t'\"") - first + 1));
}

const Value* found_at(const Value* from, std::string_view path) {
  while (from != nullptr && !path.empty()) {
    const auto dot = std::min(path.find('.'), path.size());
    from = from->kind == Value::Kind::map ? from->find(path.substr(0, dot)) : nullptr;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return from;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr std::int64_t largest = std::int64_t{1} << 31;
  if (wrong != std::errc() || stop != text.data() + text.size()) return {};
  return number < 0 || number > largest ? std::nullopt : std::optional(number);
}

std::optional<std::string> calculated(std::string_view name, std::string_view arguments) {
  const auto comma = arguments.find(',');
  if (comma == arguments.npos) return {};
  const auto left = whole(trimmed(arguments.substr(0, comma))),
             right = whole(trimmed(arguments.substr(comma + 1)));
  if (!left || !right) return {};
  if (name == "multiply") return std::to_string(*left * *right);
  if (name == "add" || name == "sum") return std::to_string(*left + *right);
  if (*right == 0) return {};
  if (name == "divide_ceil") return std::to_string((*left + *right - 1) / *right);
  if (name == "divide_floor") return std::to_string(*left / *right);
  return {};
}

class References {
 public:
  References(const Value& document, std::span<const std::string> env)
      : document_(document), env_(env) {}

  std::optional<std::string> text_of(const std::string& inside, const Path& path, int depth) const {
    if (depth > most_references) return {};
    if (const auto colon = inside.find(':'); colon != inside.npos) {
      const auto name = inside.substr(0, colon), arguments = inside.substr(colon + 1);
      return name == "oc.env" ? of_environment(arguments) : calculated(name, arguments);
    }
    const auto* value = found(inside, path);
    if (value == nullptr || value->kind == Value::Kind::map || value->kind == Value::Kind::list)
      return {};
    if (value->kind == Value::Kind::null) return "null";
    if (value->text.size() > longest_value / most_references) return {};
    const auto text = replaced(
        value->text, [&](const std::string& other) { return text_of(other, path, depth + 1); });
    return text.find("${") == text.npos ? std::optional(text) : std::nullopt;
  }

 private:
  std::optional<std::string> of_environment(std::string_view arguments) const {
    const auto comma = std::min(arguments.find(','), arguments.size());
    auto value = value_of(trimmed(arguments.substr(0, comma)), env_);
    if (!value && comma < arguments.size()) value = trimmed(arguments.substr(comma + 1));
    return value;
  }

  // Finds the value of a name: ".key" is beside the reference, "..key" one map above; the
  // launcher's files are "training" of a larger document.
  const Value* found(std::string_view name, const Path& path) const {
    std::size_t dots = 0;
    while (dots < name.size() && name[dots] == '.') ++dots;
    const auto key = name.substr(dots);
    if (dots > path.size()) return nullptr;
    if (dots > 0) return found_at(path[path.size() - dots], key);
    if (const auto* value = found_at(&document_, key)) return value;
    constexpr std::string_view launcher = "training.";
    return key.starts_with(launcher) ? found_at(&document_, key.substr(launcher.size())) : nullptr;
  }

  const Value& document_;
  std::span<const std::string> env_;
};

// Replaces references in a value. `same`: the unchanged copy of the value, through which paths
// lead.
void replace_in(Value& value, const Value& same, const References& references, Path& path) {
  if (value.kind == Value::Kind::scalar && value.text.find("${") != value.text.npos) {
    value.text = replaced(
        value.text, [&](const std::string& inside) { return references.text_of(inside, path, 0); });
    value.quoted = false;
    settle(value);
    return;
  }
  for (std::size_t i = 0; i < value.items.size(); ++i)
    replace_in(value.items[i], same.items[i], references, path);
  if (value.kind != Value::Kind::map) return;
  path.push_back(&same);
  for (std::size_t i = 0; i < value.members.size(); ++i)
    replace_in(value.members[i].value, same.members[i].value, references, path);
  path.pop_back();
}

}  // namespace

void replace_variables(Value& document, std::span<const std::string> env) {
  replace_all(document, [&](const std::string& inside) -> std::optional<std::string> {
    const auto colon = std::min(inside.find(':'), inside.size());
    auto value = value_of(inside.substr(0, colon), env);
    if (value || colon == inside.size()) return value;
    const auto dash = inside.substr(colon).starts_with(":-") ? 2 : 1;  // as a shell has it
    return inside.substr(colon + static_cast<std::size_t>(dash));
  });
}

void replace_references(Value& document, std::span<const std::string> env) {
  const Value original = document;
  const References references(original, env);
  Path path;
  replace_in(document, original, references, path);
}

void mark_unresolved(FrameworkJob& job) {
  for (auto& argument : job.arguments)
    for (auto& value : argument.values)
      if (value.text.find("${") != value.text.npos || value.text == "???")
        value.trouble = "'" + value.text +
                        "' cannot be told from this file; add --env NAME=VALUE "
                        "for a variable, or write the value";
}

}  // namespace scenarios
