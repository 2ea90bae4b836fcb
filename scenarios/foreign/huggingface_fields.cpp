// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/huggingface_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scenarios/documents/json_tokens.hpp"
#include "scenarios/documents/value_json.hpp"

namespace scenarios {
namespace {

using ValueKind = Value::Kind;

bool is_truth(const Value& value) {
  return value.kind == ValueKind::scalar && !value.quoted &&
         (value.text == "true" || value.text == "false");
}

// Returns the number of a field; NaN for a value that is no number.
double field_number(const Value& value) {
  const bool plain = value.kind == ValueKind::scalar && !value.quoted && !is_truth(value);
  return plain ? json_number(value.text) : std::numeric_limits<double>::quiet_NaN();
}

std::string as_written(const Value& value) {
  return value.kind == ValueKind::scalar && !value.quoted ? value.text : json_of(value);
}

// Returns a whole number from `least` to more than the size of any published model; else nothing.
std::optional<std::int64_t> whole_in(const Value& value, std::int64_t least) {
  constexpr double most = 1e9;
  const double found = field_number(value);
  if (found >= static_cast<double>(least) && found <= most && found == std::floor(found))
    return static_cast<std::int64_t>(found);
  return {};
}

// Returns the size in the first list that has one, under the first of the names; null: none has.
const ClassDefault* size_among(std::span<const std::span<const ClassDefault>> lists,
                               Fields::Names names) {
  for (const auto sizes : lists)
    for (const auto* name : names)
      if (const auto found = std::ranges::find(sizes, name, &ClassDefault::key);
          found != sizes.end())
        return &*found;
  return nullptr;
}

Place value_place(const Value& value) { return {value.line, value.column}; }

}  // namespace

std::string beginning(const std::string& text, std::size_t most) {
  auto end = std::min(most, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  return text.substr(0, end);
}

Fields::Fields(const Value& document, const std::string& file, std::vector<std::string>* defaulted,
               std::vector<std::string>* differences)
    : document_(document), defaulted_(defaulted), differences_(differences), complaints_(file) {
  for (const auto& [key, value] : document.members) fields_[key.text] = &value;
  for (const auto* inner : {"text_config", "llm_config", "language_config"})
    if (const auto found = fields_.find(inner); found != fields_.end()) merge_text(*found->second);
  if (const auto thinker = fields_.find("thinker_config"); thinker != fields_.end())
    for (const auto& [key, value] : thinker->second->members)
      if (key.text == "text_config") merge_text(value);
  for (const auto* inner : {"attn_config", "ffn_config"})
    if (const auto found = fields_.find(inner); found != fields_.end()) merge(*found->second);
}

void Fields::merge(const Value& inner) {
  std::map<std::string_view, const Value*> fields;
  for (const auto& [key, value] : inner.members) fields[key.text] = &value;
  fields_.merge(fields);
}

void Fields::merge_text(const Value& inner) {
  if (inner.kind != ValueKind::map) return;
  // A wrapper's class prints a value of its own, and transformers asks the text part.
  if (const auto tied = fields_.find("tie_word_embeddings");
      !wraps_text_ && tied != fields_.end() && is_truth(*tied->second))
    fields_.erase(tied);
  wraps_text_ = true;
  for (const auto& [key, value] : inner.members) {
    if (key.text == "model_type" && value.kind == ValueKind::scalar && value.quoted)
      text_type_ = value.text;
    // These describe the wrapper; all others of the text part hold, as for transformers.
    const bool outer =
        key.text == "model_type" || key.text == "architectures" || key.text == "_name_or_path";
    if (!outer && value.kind != ValueKind::null) fields_[key.text] = &value;
  }
  merge(inner);
}

Fields::Field Fields::find(Names names) const {
  for (const auto* name : names)
    if (const auto found = fields_.find(name);
        found != fields_.end() && found->second->kind != ValueKind::null)
      return {found->second, name};
  return {};
}

void Fields::refuse(const Field& field, const std::string& text) {
  complaints_.add(value_place(*field.value), field.name + ": " + text);
}

void Fields::complain(Names names, const std::string& text, bool unsupported) {
  const auto field = find(names);
  complaints_.add(value_place(field.value == nullptr ? document_ : *field.value),
                  {{}, text, unsupported});
}

std::optional<std::int64_t> Fields::whole_of(const Field& field, std::int64_t least) {
  if (field.value == nullptr) return {};
  if (const auto found = whole_in(*field.value, least)) return found;
  refuse(field, beginning(as_written(*field.value), 60) + " where a whole number from " +
                    std::to_string(least) + " to 1,000,000,000 belongs");
  return {};
}

std::optional<std::int64_t> Fields::whole(Names names, std::int64_t least) {
  return whole_of(find(names), least);
}

std::optional<std::int64_t> Fields::same_in_layers(Names names, std::int64_t least) {
  const auto field = find(names);
  if (field.value == nullptr || field.value->kind != ValueKind::list || field.value->items.empty())
    return whole_of(field, least);
  const auto& items = field.value->items;
  const auto first = whole_of({&items.front(), field.name}, least);
  const auto differs = [&](const Value& item) { return item.text != items.front().text; };
  if (first && std::ranges::any_of(items, differs))
    complain(names, field.name + ": layers differ; only one number for all can be described", true);
  return first;
}

bool Fields::gives_size(Names names) const {
  const auto* value = find(names).value;
  return value == nullptr ? size_among(sizes_, names) != nullptr : whole_in(*value, 1).has_value();
}

std::optional<std::int64_t> Fields::class_default(Names names) {
  const auto* size = size_among(sizes_, names);
  if (size == nullptr) return {};
  note(std::string(size->key) + " = " + std::to_string(size->value) +
       ": absent; the default of the class");
  return size->value;
}

std::int64_t Fields::needed(Names names) {
  if (has(names)) return whole(names).value_or(1);
  if (const auto known = class_default(names)) return *known;
  complain({}, "missing key '" + std::string(*names.begin()) + "'");
  return 1;
}

std::int64_t Fields::whole_or(Names names, std::int64_t otherwise, const std::string& field,
                              const std::string& why) {
  if (has(names)) return whole(names).value_or(otherwise);
  if (const auto known = class_default(names)) return *known;
  note(field + " = " + std::to_string(otherwise) + ": " + why);
  return otherwise;
}

bool Fields::yes_no(const char* name, bool otherwise, const char* field) {
  const auto found = find({name});
  if (found.value != nullptr && is_truth(*found.value)) return found.value->text == "true";
  if (found.value != nullptr)
    refuse(found, "expected true or false");
  else if (field != nullptr)
    note(std::string(field) + " = " + (otherwise ? "true" : "false") + ": '" + name +
         "' is absent; the family's default");
  return otherwise;
}

double Fields::share(Names names, double otherwise) {
  const auto field = find(names);
  if (field.value == nullptr) return otherwise;
  const double found = field_number(*field.value);
  if (found >= 0 && found < 1) return found;
  refuse(field, "expected a number from 0 to below 1");
  return otherwise;
}

std::string Fields::word(Names names) {
  const auto field = find(names);
  if (field.value == nullptr) return {};
  if (field.value->kind == ValueKind::scalar && field.value->quoted) return field.value->text;
  refuse(field, "expected text");
  return {};
}

std::vector<std::int64_t> Fields::list(const char* name) {
  const auto field = find({name});
  if (field.value == nullptr) return {};
  const auto is_whole = [](const Value& item) {
    const double found = field_number(item);
    return std::abs(found) <= 1e9 && found == std::floor(found);
  };
  if (field.value->kind == ValueKind::list && std::ranges::all_of(field.value->items, is_whole)) {
    std::vector<std::int64_t> wholes;
    for (const auto& item : field.value->items)
      wholes.push_back(static_cast<std::int64_t>(field_number(item)));
    return wholes;
  }
  refuse(field, "expected a list of whole numbers");
  return {};
}

std::vector<bool> Fields::truths(const char* name) {
  const auto field = find({name});
  if (field.value == nullptr) return {};
  std::vector<bool> found;
  if (field.value->kind == ValueKind::list && std::ranges::all_of(field.value->items, is_truth))
    for (const auto& item : field.value->items) found.push_back(item.text == "true");
  else
    refuse(field, "expected a list of true and false");
  return found;
}

bool Fields::is_null(const char* name) const {
  const auto found = fields_.find(name);
  return found != fields_.end() && found->second->kind == ValueKind::null;
}

std::vector<std::string> Fields::words(Names names) {
  const auto field = find(names);
  if (field.value == nullptr) return {};
  const auto is_word = [](const Value& item) {
    return item.kind == ValueKind::scalar && item.quoted;
  };
  std::vector<std::string> found;
  if (field.value->kind == ValueKind::list && std::ranges::all_of(field.value->items, is_word))
    for (const auto& item : field.value->items) found.push_back(item.text);
  else
    refuse(field, "expected a list of texts");
  return found;
}

}  // namespace scenarios
