// SPDX-License-Identifier: Apache-2.0
#include "scenarios/sweeps/sweep_paths.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "scenarios/document.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/documents/value_json.hpp"

namespace scenarios {
namespace {

const Form& scenario_form() {
  static const auto form = map_of(scenario_fields());
  return form;
}

// A step of a path: the forms that may stand there.
struct Step {
  std::vector<const Form*> forms;  // what stands there
  std::string_view fallback;       // what holds where nothing does
  bool anything = false;           // a map of any keys
  std::vector<std::string_view>
      known;  // keys that may stand there, where the one asked for may not
};

void step_into(const Form& form, const std::string& key, Step& step) {
  for (const auto& one : form.forms)
    if (form.type == Type::either) step_into(one, key, step);
  if (form.type == Type::list && key.find_first_not_of("0123456789") == key.npos)
    step.forms.push_back(&form.forms.front());
  if (form.type != Type::map) return;
  step.anything = step.anything || form.keys.empty();
  for (std::size_t i = 0; i < form.keys.size(); ++i) {
    step.known.push_back(form.keys[i].name);
    if (form.keys[i].name != key) continue;
    step.forms.push_back(&form.forms[i]);
    step.fallback = form.keys[i].fallback;
  }
}

// Follows the keys from a scenario and returns the last step, which has neither forms nor
// `anything` if a key does not exist.
Step walk(std::span<const std::string> keys) {
  Step step{.forms = {&scenario_form()}, .fallback = {}, .known = {}};
  for (const auto& key : keys) {
    Step next;
    for (const auto* form : step.forms) step_into(*form, key, next);
    const bool ends = next.forms.empty();
    step = std::move(next);
    if (ends) break;
  }
  return step;
}

const Value* find(const Value& document, std::span<const std::string> keys) {
  const auto* at = &document;
  for (const auto& key : keys) {
    if (at->kind == Value::Kind::list) {
      std::size_t index = 0;
      const auto* end = key.data() + key.size();
      if (std::from_chars(key.data(), end, index).ptr != end || index >= at->items.size())
        return nullptr;
      at = &at->items[index];
    } else if (at = at->find(key); at == nullptr) {
      return nullptr;
    }
  }
  return at;
}

std::optional<Operand> operand_of(const Value& value) {
  if (value.kind != Value::Kind::scalar) return {};
  if (const auto number = number_of(value)) return *number;
  if (!value.quoted && (value.text == "true" || value.text == "false")) return value.text == "true";
  return value.text;
}

// Returns the value of the key if it is left out, provided that the tables name it as a value that
// the key could have.
std::optional<Operand> fallback_of(std::span<const std::string> keys) {
  const auto step = walk(keys);
  Value value;
  value.kind = Value::Kind::scalar;
  value.text = step.fallback;
  Reading unheard("", {});
  for (const auto* form : step.forms)
    if (!value.text.empty() && form->type != Type::text && check(*form, Cursor(value, "", unheard)))
      return operand_of(value);
  return {};
}

// A number that the reader computes if it is left out, and the sections that decide it.
struct Derived {
  std::string_view path;
  std::array<std::string_view, 2> sections;
  double (*of)(const forecast::Scenario&);
};
constexpr std::array<Derived, 3> derived{
    {{"cluster.gpus",
      {"cluster", "cluster"},
      [](const forecast::Scenario& s) { return static_cast<double>(s.cluster.gpus); }},
     {"cluster.nodes",
      {"cluster", "cluster"},
      [](const forecast::Scenario& s) { return static_cast<double>(s.cluster.nodes()); }},
     {"plan.data", {"cluster", "plan"}, [](const forecast::Scenario& s) {
        const auto& plan = s.plan;
        return static_cast<double>(std::max<std::int64_t>(
            1, s.cluster.gpus / (plan.tensor * plan.context * plan.pipeline)));
      }}}};

bool within(const std::string& path, std::string_view section) {
  return path.starts_with(section) &&
         (path.size() == section.size() || path[section.size()] == '.');
}

// The keys of `path` that follow those of `outer`, which it lies within.
std::vector<std::string> keys_behind(const std::string& outer, const std::string& path) {
  return keys_of(path.substr(outer.size() + 1));
}

class Terms {
 public:
  explicit Terms(Grid& grid) : grid_(grid), reading_("", grid.folder, grid.texts) {}

  Term of(const Condition::Path& path) {
    const auto keys = keys_of(path.name);
    for (std::size_t axis = 0; axis < grid_.axes.size(); ++axis) {
      const auto& paths = grid_.axes[axis].paths;
      for (std::size_t column = 0; column < paths.size(); ++column) {
        if (paths[column] == path.name) return along(axis, column, keys, path);
        if (within(path.name, paths[column]) || within(paths[column], path.name))
          throw ConditionError(path.at, paths[column] + " is varied, and " + path.name +
                                            " with it; compare what is varied");
      }
    }
    for (const auto& follower : grid_.followers)
      if (follower.path == path.name) return following(follower, keys, path);
    if (const auto* value = find(grid_.base, keys); value != nullptr)
      return {{}, {single(*value, keys, path)}};
    const auto known = std::ranges::find(derived, path.name, &Derived::path);
    if (known != derived.end()) return worked_out(*known, path);
    return {{}, {left_out(keys, path)}};
  }

 private:
  Operand left_out(std::span<const std::string> keys, const Condition::Path& path) const {
    if (auto value = fallback_of(keys)) return *value;
    throw ConditionError(path.at,
                         path.name + " is neither varied nor written in the base; write it there");
  }
  Operand single(const Value& value, std::span<const std::string> keys,
                 const Condition::Path& path) const {
    if (value.kind == Value::Kind::null) return left_out(keys, path);
    if (auto operand = operand_of(value)) return *operand;
    throw ConditionError(path.at, path.name + " is not a single value; only those can be compared");
  }
  Term along(std::size_t axis, std::size_t column, std::span<const std::string> keys,
             const Condition::Path& path) const {
    Term term{{axis}, {}};
    for (const auto& values : grid_.axes[axis].values)
      term.values.push_back(single(values[column], keys, path));
    return term;
  }
  Term following(const Follower& follower, std::span<const std::string> keys,
                 const Condition::Path& path) const {
    Term term{follower.axes, {}};
    for (const auto& value : follower.values) term.values.push_back(single(value, keys, path));
    return term;
  }
  // Whether values of the axis lead into a section that decides the number.
  bool decides(std::size_t axis, const Derived& number) const {
    const auto within_any = [&](const std::string& path) {
      return std::ranges::any_of(number.sections,
                                 [&](auto section) { return within(path, section); });
    };
    return std::ranges::any_of(grid_.axes[axis].paths, within_any) ||
           std::ranges::any_of(grid_.followers, [&](const Follower& follower) {
             return within_any(follower.path) &&
                    std::ranges::find(follower.axes, axis) != follower.axes.end();
           });
  }
  // Returns the term of a derived number, read for every combination of the axes that decide it.
  Term worked_out(const Derived& number, const Condition::Path& path) {
    Term term;
    for (std::size_t axis = 0; axis < grid_.axes.size(); ++axis)
      if (decides(axis, number)) term.axes.push_back(axis);
    for (std::size_t i = 0; i < combinations(grid_, term.axes); ++i)
      term.values.emplace_back(number.of(scenario_at(term.axes, i, path)));
    return term;
  }
  forecast::Scenario scenario_at(const std::vector<std::size_t>& axes, std::size_t combination,
                                 const Condition::Path& path) {
    reading_.start_over("");
    Value document = grid_.base;
    set_point(document, grid_, indices_of(grid_, axes, combination), reading_);
    forecast::Scenario scenario;
    if (document.find("cluster") == nullptr)
      throw ConditionError(path.at, path.name + " follows from cluster, which is not there");
    for (const std::string_view section : {"cluster", "plan"})
      if (const auto* value = document.find(section)) {
        const Cursor at(*value, std::string(section), reading_);
        if (section == "cluster") scenario.cluster = read_cluster(at);
        if (section == "plan") read_plan(scenario.plan, at);
      }
    try {
      reading_.throw_if_any();
    } catch (const Error& wrong) {
      throw ConditionError(path.at, path.name + " cannot be worked out everywhere: " +
                                        wrong.complaints.front().text);
    }
    return scenario;
  }

  Grid& grid_;
  Reading reading_;
};

}  // namespace

std::string path_mistake(const std::string& path) {
  const auto keys = keys_of(path);
  for (std::size_t length = 1; length <= keys.size(); ++length) {
    const auto step = walk(std::span(keys).first(length));
    if (step.anything) return {};
    if (!step.forms.empty()) continue;
    const auto& key = keys[length - 1];
    if (step.known.empty()) return "'" + key + "' leads nowhere: no scenario has keys there";
    return "unknown key '" + key + "'; expected one of " + listed(step.known) +
           suggestion(key, step.known);
  }
  return {};
}

std::string overwritten_by(const std::string& path, const Grid& grid) {
  bool set = false;  // whether `path` is set before the one that is looked at
  std::string lost;
  // A value that stands within another is set after it, or it is lost.
  const auto look = [&](const std::string& other, const auto& holds) {
    if (other == path)
      set = true;
    else if (!set && lost.empty() &&
             (within(other, path) || (within(path, other) && holds(keys_behind(other, path)))))
      lost = other;
  };
  for (const auto& follower : grid.followers)
    look(follower.path, [&](const auto& keys) {  // lists that a job gives have what is varied
      return std::ranges::any_of(follower.values, [&](const Value& value) {
        return value.kind == Value::Kind::map && find(value, keys) != nullptr;
      });
    });
  for (const auto& axis : grid.axes)
    for (std::size_t column = 0; column < axis.paths.size(); ++column)
      look(axis.paths[column], [&](const auto& keys) {
        return std::ranges::any_of(
            axis.values, [&](const auto& each) { return find(each[column], keys) != nullptr; });
      });
  return lost;
}

void set_point(Value& document, const Grid& grid, std::span<const std::size_t> indices,
               Reading& reading) {
  for (const auto& [path, axes, values] : grid.followers)
    set_value(document, path, values[combination_of(grid, axes, indices)], reading);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto& [paths, values] = grid.axes[i];
    for (std::size_t path = 0; path < paths.size(); ++path)
      set_value(document, paths[path], values[indices[i]][path], reading);
  }
}

void find_terms(Grid& grid) {
  Terms terms(grid);
  for (const auto& path : grid.condition.paths()) grid.terms.push_back(terms.of(path));
}

Grid narrowed(Grid grid, const std::string& only_if) {
  grid.only_if = only_if;
  grid.condition = Condition(only_if);
  std::string mistakes;
  std::size_t first = 0;
  for (const auto& path : grid.condition.paths()) {
    const auto mistake = path_mistake(path.name);
    if (mistake.empty()) continue;
    if (mistakes.empty()) first = path.at;
    mistakes += (mistakes.empty() ? "" : "; ") + path.name + ": " + mistake;
  }
  if (!mistakes.empty()) throw ConditionError(first, mistakes);
  grid.terms.clear();
  find_terms(grid);
  if (count(grid) == 0) throw ConditionError(0, no_point_left);
  return grid;
}

}  // namespace scenarios
