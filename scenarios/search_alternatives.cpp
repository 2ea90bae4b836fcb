// SPDX-License-Identifier: Apache-2.0
#include "scenarios/search_alternatives.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "model/narrow.hpp"
#include "scenarios/checks/checker.hpp"
#include "scenarios/plan_keys.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using search::Question;

// A key of `search`, and the section whose key it stands for.
struct Varied {
  std::string section;
  std::string_view key;
};
const std::array<Varied, 4>& varied() {
  static const std::array<Varied, 4> all{{{"training", "precision"},
                                          {"plan", "offload"},
                                          {"plan", "gradient_compression"},
                                          {"plan", "shard_group"}}};
  return all;
}

Field field_of(const Varied& one) {
  const auto fields = one.section == "plan" ? plan_fields() : training_fields();
  return *std::ranges::find(fields, one.key, &Field::name);
}

// One value or a list of them.
Form varied_form(const Varied& one) {
  const auto single = field_of(one).form;
  Form form{.type = Type::either};
  form.forms = single.type == Type::either ? single.forms : std::vector{single};
  form.forms.push_back({.type = Type::list, .range = {1, 100, ""}, .forms = {single}});
  return form;
}

Key<Question> key_of(const Varied& one) {
  const auto field = field_of(one);
  const auto form = varied_form(one);
  return {{field.name, field.description, "as the scenario has it", form},
          [form](Question&, const Cursor& at) { check(form, at); }};
}

bool is_sound(const Form& form, const Value& value) {
  Reading unheard("", {});
  return check(form, Cursor(value, "", unheard));
}

// Returns the member of that name, and makes it if there is none.
Value& member(Value& map, std::string_view name) {
  if (auto* there = map.find(name)) return *there;
  map.kind = Value::Kind::map;
  Value key;
  key.kind = Value::Kind::scalar;
  key.text = name;
  map.members.push_back({key, {}});
  return map.members.back().value;
}

// Removes from a precision what only others have: the recipe of fp8, and what stays in 16 bit.
void drop_of_others(Value& document) {
  auto& training = member(document, "training");
  const auto precision = meaning(all_words<units::Precision>(), *training.find("precision"));
  std::erase_if(training.members, [&](const Member& m) {
    if (m.key.text == "fp8_recipe") return precision != units::Precision::fp8;
    return m.key.text == "in_bf16" && !model::is_narrow(precision);
  });
}

const Value* written(const Value& document, std::string_view section, std::string_view key) {
  const auto* outer = document.find(section);
  return outer == nullptr ? nullptr : outer->find(key);
}

// Whether a given key contradicts the alternatives: a key of the plan always does, a precision
// unless it is one of them.
bool disagrees(const Varied& one, const std::vector<Value>& values, const Value& document) {
  const auto* given = written(document, one.section, one.key);
  if (given == nullptr) return false;
  return one.section == "plan" ||
         std::ranges::find(values, given->text, &Value::text) == values.end();
}

}  // namespace

Table<Question> alternative_keys() {
  Table<Question> keys;
  for (const auto& one : varied()) keys.push_back(key_of(one));
  return keys;
}

std::vector<Value> alternatives_of(const Value& document, Reading& reading) {
  std::vector<Value> all{document};
  for (const auto& one : varied()) {
    const auto* asked = written(document, "search", one.key);
    if (asked == nullptr || !is_sound(varied_form(one), *asked)) continue;
    const auto values =
        asked->kind == Value::Kind::list ? asked->items : std::vector<Value>{*asked};
    const std::string key(one.key);
    if (disagrees(one, values, document)) {
      Checker(document, reading)
          .complain("search", key,
                    one.section + "." + key + " says what every plan has; leave one of them out" +
                        (one.section == "plan" ? "" : ", or write its value here too"));
      continue;
    }
    std::vector<Value> more;
    for (const auto& before : all)
      for (const auto& value : values) {
        more.push_back(before);
        member(member(more.back(), one.section), one.key) = value;
        if (one.key == "precision" && values.size() > 1) drop_of_others(more.back());
      }
    all = std::move(more);
  }
  return all;
}

}  // namespace scenarios
