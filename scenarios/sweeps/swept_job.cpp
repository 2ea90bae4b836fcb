// SPDX-License-Identifier: Apache-2.0
#include "scenarios/sweeps/swept_job.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/document.hpp"
#include "scenarios/documents/value_json.hpp"

namespace scenarios {
namespace {

constexpr std::size_t most_tried = 32;    // values of an axis that are tried for what they decide
constexpr std::size_t most_read = 2'000;  // readings of the job
constexpr int on_command_line = 1;  // a job's defaults follow from values of `--set`, so of an axis

void mark(Value& value) {
  value.set = on_command_line;
  for (auto& item : value.items) mark(item);
  for (auto& member : value.members) mark(member.value);
}

using Leaves = std::map<std::string, Value>;

// Adds the single values and lists inside by their paths.
void add_leaves(const Value& value, const std::string& path, Leaves& leaves) {
  const bool pathlike = std::ranges::none_of(value.members, [](const Member& member) {
    return member.key.text.find('.') != std::string::npos;
  });
  if (value.kind != Value::Kind::map || !pathlike) {
    leaves[path] = value;
    return;
  }
  for (const auto& member : value.members)
    add_leaves(member.value, path + (path.empty() ? "" : ".") + member.key.text, leaves);
}

bool equal(const Value& a, const Value& b) { return json_of(a) == json_of(b); }

bool equal(const Leaves& a, const Leaves& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.first == other.first && equal(one.second, other.second);
  });
}

using Chosen = std::vector<std::optional<std::size_t>>;  // a value of each axis, or the base's

// The job that a sweep varies, read anew under values of its axes.
class SweptJob {
 public:
  SweptJob(const Grid& grid, const Value& base, std::span<const std::string> sets, Reading& reading)
      : grid_(grid),
        sets_(sets),
        reading_(reading),
        opening_(opening_of(base, reading, grid.mode == Grid::Mode::search ? open_plan : nullptr)),
        first_(opening_.under({})) {}

  bool is_job() const { return first_.job.has_value(); }
  const std::vector<WantedKey>& wanted() const { return first_.wanted; }

  // Whether the sweep changes the key, something in it, or what it is in.
  bool varied(const std::string& key) const {
    const auto names = changed();
    return std::ranges::any_of(names, [&](const auto& name) {
      return (name + ".").starts_with(key + ".") || (key + ".").starts_with(name + ".");
    });
  }

  // Returns the job's scenario under `--set` and the chosen values.
  Value derived(const Chosen& chosen) const {
    Reading reading("", opening_.folder, reading_.texts());
    auto opened = first_;
    apply_sets(opened.document, sets_, reading);
    set_values(opened.document, chosen, reading);
    read_again(opened, opening_, sets_, reading);
    set_values(opened.document, chosen, reading);
    settle_size(opened.document);
    return std::move(opened.document);
  }

  // Returns what the job gives under the chosen values, but for keys that the sweep changes itself.
  Leaves given(const Chosen& chosen) const {
    Leaves leaves;
    try {
      add_leaves(derived(chosen), "", leaves);
    } catch (const Error&) {  // the point itself says why
      add_leaves(grid_.base, "", leaves);
    }
    const auto names = changed();
    for (const auto& name : names) name_base(leaves, name);
    std::erase_if(leaves, [&](const auto& leaf) {
      return leaf.first == "name" || std::ranges::any_of(names, [&](const auto& name) {
               return (leaf.first + ".").starts_with(name + ".");
             });
    });
    return leaves;
  }

 private:
  // The paths that the sweep itself changes.
  std::vector<std::string> changed() const {
    auto names = axis_names(grid_);
    for (const auto& follower : grid_.followers) names.push_back(follower.path);
    return names;
  }

  // Names what stands on the way to a path as setting that path does: NODE becomes {base: NODE}.
  static void name_base(Leaves& leaves, const std::string& path) {
    for (auto dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
      auto named = leaves.extract(path.substr(0, dot));
      if (named.empty()) continue;
      named.key() += ".base";
      leaves.insert(std::move(named));
    }
  }

  void set_values(Value& document, const Chosen& chosen, Reading& reading) const {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (!chosen[i]) continue;
      const auto& [paths, values] = grid_.axes[i];
      for (std::size_t path = 0; path < paths.size(); ++path) {
        auto value = values[*chosen[i]][path];
        mark(value);
        set_value(document, paths[path], std::move(value), reading);
      }
    }
    for (const auto& [path, axes, values] : grid_.followers) {
      std::vector<std::size_t> indices(chosen.size());
      bool all = true;
      for (const auto axis : axes) {
        all = all && chosen[axis];
        indices[axis] = chosen[axis].value_or(0);
      }
      if (!all) continue;
      auto value = values[combination_of(grid_, axes, indices)];
      mark(value);
      set_value(document, path, std::move(value), reading);
    }
  }

  const Grid& grid_;
  std::span<const std::string> sets_;
  Reading& reading_;
  Opening opening_;
  OpenedDocument first_;
};

// Returns some values of an axis: all, or the first, the last and others between them.
std::vector<std::size_t> tried(const Axis& axis) {
  const auto size = axis.values.size();
  const auto count = std::min(size, most_tried);
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < count; ++i)
    some.push_back(count == size ? i : i * (size - 1) / (count - 1));
  return some;
}

// Whether the job gives other keys along the axis, while the other axes have the base's values,
// their first, or their last.
bool decides(const SweptJob& job, const Grid& grid, std::size_t axis, const Leaves& of_base) {
  std::vector<Chosen> others(3, Chosen(grid.axes.size()));
  for (std::size_t i = 0; i < grid.axes.size(); ++i) {
    others[1][i] = 0;
    others[2][i] = grid.axes[i].values.size() - 1;
  }
  for (auto& chosen : others) {
    std::optional<Leaves> first;
    if (&chosen == &others.front()) first = of_base;
    for (const auto index : tried(grid.axes[axis])) {
      chosen[axis] = index;
      auto leaves = job.given(chosen);
      if (!first)
        first = std::move(leaves);
      else if (!equal(leaves, *first))
        return true;
    }
  }
  return false;
}

// Leaves out the axes on which the values do not depend.
void reduce(Follower& follower, const Grid& grid) {
  for (std::size_t i = 0; i < follower.axes.size();) {
    auto axes = follower.axes;
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    std::vector<const Value*> values(combinations(grid, axes));
    bool depends = false;
    for (std::size_t at = 0; at < follower.values.size() && !depends; ++at) {
      const auto indices = indices_of(grid, follower.axes, at);
      auto& value = values[combination_of(grid, axes, indices)];
      if (value == nullptr) value = &follower.values[at];
      depends = !equal(*value, follower.values[at]);
    }
    if (depends) {
      ++i;
      continue;
    }
    std::vector<Value> kept;
    for (const auto* value : values) kept.push_back(*value);
    follower = {follower.path, std::move(axes), std::move(kept)};
  }
}

// Returns what follows from the axes: for each key that is anywhere otherwise than in the base, its
// values.
std::vector<Follower> followers_of(const SweptJob& job, const Grid& grid,
                                   const std::vector<std::size_t>& axes, const Leaves& of_base) {
  std::vector<Leaves> given;
  std::set<std::string> keys;
  for (std::size_t at = 0; at < combinations(grid, axes); ++at) {
    Chosen chosen(grid.axes.size());
    const auto indices = indices_of(grid, axes, at);
    for (const auto axis : axes) chosen[axis] = indices[axis];
    given.push_back(job.given(chosen));
    for (const auto& [key, value] : given.back())
      if (const auto kept = of_base.find(key); kept == of_base.end() || !equal(kept->second, value))
        keys.insert(key);
    for (const auto& [key, value] : of_base)
      if (!given.back().contains(key)) keys.insert(key);
  }
  std::vector<Follower> followers;
  for (const auto& key : keys) {
    Follower follower{key, axes, {}};
    for (const auto& leaves : given) {
      const auto found = leaves.find(key);
      follower.values.push_back(found == leaves.end() ? Value{} : found->second);
    }
    reduce(follower, grid);
    followers.push_back(std::move(follower));
  }
  return followers;
}

std::string listed_paths(const Grid& grid, const std::vector<std::size_t>& axes) {
  std::string list;
  for (const auto axis : axes)
    for (const auto& path : grid.axes[axis].paths) list += (list.empty() ? "" : ", ") + path;
  return list;
}

}  // namespace

Opening opening_of(const Value& base, Reading& reading, void (*loosen)(Value&)) {
  auto& texts = reading.texts();
  const auto folder = reading.base();
  if (base.kind == Value::Kind::map)
    return {
        folder, {}, [&base, &texts, file = reading.file(), folder, loosen](const JobHints& hints) {
          return open_document(base, file, folder, hints, texts, loosen);
        }};
  const auto file = folder / base.text;
  return {file.parent_path(), {}, [&texts, file, loosen](const JobHints& hints) {
            return open_document(texts.of(file), file.string(), file.parent_path(), hints, texts,
                                 loosen);
          }};
}

void fit_to_job(Grid& grid, const Cursor& base, std::span<const std::string> sets) {
  const SweptJob job(grid, base.value(), sets, base.reading());
  if (!job.is_job()) return;
  const Chosen none(grid.axes.size());
  grid.base = job.derived(none);
  for (const auto& wanted : job.wanted())
    if (!says(grid.base, wanted.path) && !job.varied(wanted.path))
      base.complain(wanted.path + ": " + wanted.text);
  const auto of_base = job.given(none);
  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < grid.axes.size(); ++axis)
    if (decides(job, grid, axis, of_base)) axes.push_back(axis);
  if (axes.empty()) return;
  if (combinations(grid, axes) > most_read) {
    grid.notes.push_back("in the job, other keys would change with " + listed_paths(grid, axes) +
                         ", but these make more than 2,000 combinations, so every point of this "
                         "sweep has what the base has; say under follow: what follows");
    return;
  }
  auto followers = followers_of(job, grid, axes, of_base);
  for (const auto& follower : followers)
    if (follower.axes.empty())
      set_value(grid.base, follower.path, follower.values.front(), base.reading());
  std::erase_if(followers, [](const Follower& one) { return one.axes.empty(); });
  grid.followers.insert(grid.followers.begin(), followers.begin(), followers.end());
}

}  // namespace scenarios
