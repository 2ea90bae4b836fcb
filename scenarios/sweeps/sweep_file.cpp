// SPDX-License-Identifier: Apache-2.0
#include "scenarios/sweeps/sweep_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "scenarios/catalog.hpp"
#include "scenarios/document.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/file_kind.hpp"
#include "scenarios/job_document.hpp"
#include "scenarios/keys.hpp"
#include "scenarios/sweeps/sweep_keys.hpp"
#include "scenarios/sweeps/sweep_paths.hpp"
#include "scenarios/sweeps/swept_job.hpp"

namespace scenarios {
namespace {

constexpr Limits grid_limits{.bytes = std::uintmax_t{64} << 20, .nodes = 5'000'000, .depth = 64};

// --- Overrides

bool of_sweep(const std::string& set) {
  const auto key = set.substr(0, set.find_first_of(".="));
  const auto keys = sweep_fields();
  return std::ranges::find(keys, key, &Field::name) != keys.end();
}

// Sets an axis, whose path is one key, however many dots it has.
void set_axis(Value& document, const std::string& set, Reading& reading, int number) {
  constexpr std::string_view vary = "vary.";
  const auto equals = std::min(set.find('='), set.size());
  Value holder;
  holder.kind = Value::Kind::map;
  const auto one = "value" + set.substr(equals);
  apply_sets(holder, std::span(&one, 1), reading, number);
  const auto* value = holder.find("value");
  if (value == nullptr && !holder.members.empty()) return;
  if (document.find("vary") == nullptr) {
    const std::string empty = "vary={}";
    apply_sets(document, std::span(&empty, 1), reading, number);
  }
  auto& axes = document.find("vary")->members;
  const auto path = set.substr(vary.size(), equals - vary.size());
  const auto known = std::ranges::find(axes, path, [](const auto& axis) { return axis.key.text; });
  if (value == nullptr) {  // null removes the axis
    if (known != axes.end()) axes.erase(known);
    return;
  }
  if (known != axes.end()) {
    known->value = *value;
    return;
  }
  Value key;
  key.kind = Value::Kind::scalar;
  key.text = path;
  key.set = number;
  axes.push_back({std::move(key), *value});
}

void apply_to_sweep(Value& document, std::span<const std::string> sets, Reading& reading) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    if (sets[i].starts_with("vary."))
      set_axis(document, sets[i], reading, number);
    else if (of_sweep(sets[i]) && !sets[i].starts_with("base."))
      apply_sets(document, sets.subspan(i, 1), reading, number);
  }
}

// A key of the base with its value, and which `--set` says so.
struct BaseSet {
  std::string text;
  int number;
};

std::vector<BaseSet> sets_of_base(std::span<const std::string> sets) {
  constexpr std::string_view prefix = "base.";
  std::vector<BaseSet> theirs;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const bool explicitly = sets[i].starts_with(prefix);
    if (of_sweep(sets[i]) && !explicitly) continue;
    theirs.push_back(
        {explicitly ? sets[i].substr(prefix.size()) : sets[i], static_cast<int>(i) + 1});
  }
  return theirs;
}

// --- What the keys lead to

// Reads a scenario that stands in the sweep itself, and the job that it may name.
void read_inline_base(Grid& grid, const Cursor& at) {
  if (grid.base.find("job") == nullptr) return;
  try {
    grid.base = opening_of(at.value(), at.reading(), nullptr).under({}).document;
  } catch (const Error& wrong) {
    for (const auto& one : wrong.complaints) at.reading().complain(at.value(), one);
  }
}

void read_base(Grid& grid, const Cursor& at) {
  grid.folder = at.reading().base();
  grid.base = at.value();
  if (at.value().kind != Value::Kind::scalar) return read_inline_base(grid, at);
  const auto file = at.reading().base() / at.value().text;
  try {
    grid.base = open_base(file, at.reading());
    grid.folder = file.parent_path();
  } catch (const Error& wrong) {
    return at.complain("cannot be read: " + std::string(wrong.what()));
  }
  if (grid.base.kind != Value::Kind::map)
    at.complain(file.string() + " holds no scenario; expected a map with model, cluster, training");
}

void read_where(Grid& grid, const Cursor& at) { grid.only_if = at.value().text; }

// Returns the mistake in a varied path, or an empty text.
std::string mistake_in(const std::string& path, bool twice, const Grid& grid) {
  if (twice) return "is varied twice; keep one of them";
  if (auto mistake = path_mistake(path); !mistake.empty()) return mistake;
  const auto lost = overwritten_by(path, grid);
  return lost.empty() ? ""
                      : "overwrites values of " + lost + ", which is varied too; keep one of them";
}

// Checks that each path is varied once, leads to a key of a scenario, and overwrites no other.
void check_paths(const Grid& grid, const Cursor& root) {
  std::set<std::string> known;
  auto all = axis_names(grid);
  for (const auto& follower : grid.followers) all.push_back(follower.path);
  for (const auto& path : all) {
    const bool twice = !known.insert(path).second;
    const auto mistake = mistake_in(path, twice, grid);
    if (mistake.empty()) continue;
    const auto [map, key] = axis_place(path, twice, root);
    root.reading().complain(key, {{}, map + path + ": " + mistake});
  }
}

// Returns the varied path that decides the value at `path` of every point, or an empty text.
std::string decided_by(const std::string& path, const Grid& grid) {
  auto all = axis_names(grid);
  for (const auto& follower : grid.followers) all.push_back(follower.path);
  const auto found = std::ranges::find_if(
      all, [&](const std::string& varied) { return (path + ".").starts_with(varied + "."); });
  return found == all.end() ? "" : *found;
}

// Complains of every `--set` of the base that no point heeds, because an axis sets its key.
void check_base_sets(const Grid& grid, const Cursor& root, std::span<const std::string> sets) {
  for (const auto& [set, number] : sets_of_base(sets)) {
    const auto equals = set.find('=');
    if (equals == set.npos) continue;
    const auto path = set.substr(0, equals);
    const auto varied = decided_by(path, grid);
    if (varied.empty()) continue;
    const auto map = axis_place(varied, false, root).first;
    auto text = path + ": ";
    if (varied != path) text += varied + ", which holds it, ";
    text += "is varied; change ";
    if (varied == path && map == "vary.")
      text += "the axis: --set '" + map + path + "=[" + set.substr(equals + 1) + "]'";
    else
      text += map + varied + " in the sweep";
    Value here;
    here.set = number;
    root.reading().complain(here, {{}, text});
  }
}

// Returns the place of byte `at` of the condition, behind its opening quote if it has one.
Value place_in(const Value& text, std::size_t at) {
  Value place = text;
  place.column += static_cast<int>(at) + (text.quoted ? 1 : 0);
  return place;
}

// Checks the condition. Mistakes in its text and its paths are told with all others; the values of
// paths, and whether a point is left, are checked only in a sweep that is otherwise correct.
void check_condition(Grid& grid, const Cursor& root) {
  const auto* text = root.value().find("only_if");
  if (text == nullptr || grid.only_if.empty()) return;
  const auto complain = [&](std::size_t at, const std::string& what) {
    root.reading().complain(place_in(*text, at), {{}, "only_if: " + what});
  };
  try {
    grid.condition = Condition(grid.only_if);
    for (const auto& path : grid.condition.paths())
      if (const auto mistake = path_mistake(path.name); !mistake.empty())
        complain(path.at, path.name + ": " + mistake);
    if (root.reading().complains()) return;
    find_terms(grid);
    if (count(grid) == 0) complain(0, no_point_left);
  } catch (const ConditionError& wrong) {
    complain(wrong.at, wrong.what());
  }
}

void check_size(const Grid& grid, const Cursor& root) {
  if (grid.axes.empty())
    return root.missing("vary", "a sweep needs axes: paths with a list or a range of values");
  if (const auto size = positions(grid); size > most_positions)
    root.complain("the axes make " + plain(static_cast<double>(size)) + " combinations; at most " +
                  plain(static_cast<double>(most_positions)) + " make a sweep");
}

// Complains of keys of a scenario beside those of the sweep, and removes them.
void refuse_scenario_keys(Value& document, Reading& reading) {
  const auto theirs = scenario_fields();
  const auto ours = sweep_fields();
  const auto has = [](const auto& fields, const std::string& name) {
    return std::ranges::find(fields, name, &Field::name) != fields.end();
  };
  std::erase_if(document.members, [&](const Member& member) {
    const auto& name = member.key.text;
    if (has(ours, name) || !has(theirs, name)) return false;
    reading.complain(member.key,
                     {{},
                      name + ": is a key of the scenario; write it under base, or into the "
                             "file that base names"});
    return true;
  });
}

Grid read_sweep(Value& document, std::span<const std::string> sets, Reading& reading) {
  refuse_scenario_keys(document, reading);
  const Cursor root(document, "", reading);
  Grid grid;
  if (document.kind != Value::Kind::map) {
    root.complain("expected a map with base, vary and perhaps mode, together, only_if");
    return grid;
  }
  read_map(sweep_table(), grid, root);
  if (document.find("base") == nullptr)
    root.missing("base", "a sweep needs a scenario: a file, or the scenario itself");
  std::vector<std::string> of_base;
  for (const auto& [set, number] : sets_of_base(sets)) {
    of_base.push_back(set);
    apply_sets(grid.base, std::span(&set, 1), reading, number);
  }
  if (const auto followers = root.find("follow")) read_followers(grid, *followers);
  check_paths(grid, root);
  check_base_sets(grid, root, sets);
  if (!reading.complains()) check_size(grid, root);
  if (const auto* base = document.find("base"); base != nullptr && !reading.complains())
    fit_to_job(grid, Cursor(*base, "base", reading), of_base);
  read_beside(grid);
  check_condition(grid, root);
  // A point's name follows from its values, so the name and the measurement of the base are
  // dropped.
  for (const std::string_view key : {"name", "published"})
    std::erase_if(grid.base.members, [&](const Member& m) { return m.key.text == key; });
  return grid;
}

}  // namespace

const Table<Grid>& sweep_table() {
  static const Table<Grid> table{
      text<Grid>("name", "A name for reports", &Grid::name),
      {{"base",
        "The scenario that is varied: a file, or the scenario itself",
        "",
        {.type = Type::either, .forms = {{.type = Type::text}, {.type = Type::map}}}},
       read_base},
      choice<Grid, Grid::Mode Grid::*, Grid::Mode>(
          "mode", "simulate", {{"simulate", Grid::Mode::simulate}, {"search", Grid::Mode::search}},
          "Whether each point is one plan, or searched for its best", &Grid::mode),
      {{"vary", "Paths of the scenario, each with a list or a range of values", "", axes_form()},
       read_axes},
      {{"together", "Maps of paths whose lists move together", "", joined_axes_form()},
       read_joined_axes},
      {{"follow",
        "Paths whose values follow from axes: {PATH: {of: [PATH], values: [a value for each "
        "combination, the last axis fastest]}}",
        "what a job derives", followers_form()},
       [](Grid&, const Cursor&) {}},  // read_sweep reads them once all axes are there
      {{"only_if",
        "Condition over paths: plan.tensor * plan.pipeline <= 64",
        "every combination",
        {.type = Type::text}},
       read_where}};
  return table;
}

Grid read_grid(std::string_view text, const std::string& file_name,
               std::span<const std::string> sets, const std::filesystem::path& folder,
               Files* read) {
  Value document = parse_yaml(text, file_name, grid_limits);
  refuse_other_kind(document, FileKind::sweep, file_name);
  Reading reading(file_name, folder);
  apply_to_sweep(document, sets, reading);
  auto grid = read_sweep(document, sets, reading);
  reading.throw_if_any();
  reading.texts().tell(read);
  grid.texts.tell(read);
  return grid;
}

Grid load_grid(const Source& source, std::span<const std::string> sets, Files* read) {
  source.tell(read);
  auto grid =
      read_grid(source.read(grid_limits), source.file.string(), sets, source.folder(), read);
  if (grid.name.empty()) grid.name = source.file.stem().string();
  return grid;
}

}  // namespace scenarios
