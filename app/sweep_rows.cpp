// SPDX-License-Identifier: Apache-2.0
// Reads the rows of stores of sweeps, in the order of their axes' values.
#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "app/sweep.hpp"
#include "scenarios/documents/value_json.hpp"
#include "search/points.hpp"
#include "store/digest.hpp"

namespace app {

namespace {

std::string mode_of(const scenarios::Grid& grid) {
  return grid.mode == scenarios::Grid::Mode::search ? "search" : "simulate";
}

// Whether points have rules of operators.
bool has_alerts(const scenarios::Grid& grid) {
  const auto* rules = grid.base.find("alerts");
  return (rules != nullptr && !rules->members.empty()) ||
         std::ranges::any_of(grid.axes, [](const auto& axis) {
           return std::ranges::any_of(axis.paths, [](const std::string& path) {
             return path == "alerts" || path.starts_with("alerts.");
           });
         });
}

// Whether the base or an axis says something of the plan.
bool says_plan(const scenarios::Grid& grid) {
  const auto* plan = grid.base.find("plan");
  return (plan != nullptr && !plan->members.empty()) || grid.base.find("job") != nullptr ||
         std::ranges::any_of(grid.axes, [](const auto& axis) {
           return std::ranges::any_of(axis.paths, [](const std::string& path) {
             return path == "plan" || path.starts_with("plan.");
           });
         });
}

// A suffix of the words for what is varied, by which stores tell corrected sweeps from others.
constexpr std::string_view corrected_words = "; corrected by measured steps";

std::vector<store::Store> opened(const std::vector<std::string>& files) {
  std::vector<store::Store> stores;
  for (const auto& file : files) stores.push_back(store::Store::reader(file));
  return stores;
}

scenarios::Grid grid_of(const store::Identity& identity, const std::string& file) {
  return scenarios::read_grid(identity.definition, file, {}, identity.folder);
}

report::SweepRow reported(const Labels& labels, store::Row row) {
  return {std::move(row.id),     labels.values(row.position), std::move(row.status),
          std::move(row.reason), std::move(row.figures),      std::move(row.result)};
}

// The index of a figure among the columns.
std::size_t index_of(std::string_view name) {
  const auto figures = search::figures();
  return static_cast<std::size_t>(std::ranges::find(figures, name, &search::Figure::name) -
                                  figures.begin());
}

}  // namespace

std::vector<store::Column> figure_columns() {
  std::vector<store::Column> columns;
  for (const auto& figure : search::figures())
    columns.push_back({std::string(figure.name), figure.kind != search::Figure::Kind::number});
  return columns;
}

store::Identity identity_of(const scenarios::Grid& grid, const store::Shard& shard,
                            std::int64_t points, const std::optional<Correcting>& correcting) {
  auto unnamed = grid;
  unnamed.name.clear();
  const std::string program = STEPCAST_VERSION;
  std::string axes = mode_of(grid) + " over ";
  for (const auto& name : scenarios::axis_names(grid))
    axes += (axes.ends_with("over ") ? "" : ", ") + name;
  if (correcting) axes += corrected_words;
  return {.program = program,
          .definition = scenarios::definition(grid),
          .axes = std::move(axes),
          .fingerprint = store::digest(program + '\n' + scenarios::definition(unnamed) + '\n' +
                                       scenarios::files_beside(grid) +
                                       (correcting ? '\n' + correcting->text : "")),
          .folder = (std::filesystem::current_path() / grid.folder).string(),
          .shard = shard,
          .points = points};
}

bool is_corrected(const store::Identity& identity) {
  return identity.axes.ends_with(corrected_words);
}

report::SweepFacts facts_of(const scenarios::Grid& grid) {
  report::SweepFacts facts{STEPCAST_VERSION, grid.name, mode_of(grid), {}, has_alerts(grid)};
  const auto order = scenarios::sorted_indices(grid);
  for (std::size_t axis = 0; axis < order.size(); ++axis)
    for (std::size_t path = 0; path < grid.axes[axis].paths.size(); ++path) {
      report::SweepAxis column{grid.axes[axis].paths[path], {}};
      for (const auto index : order[axis])
        column.values.push_back(scenarios::json_of(grid.axes[axis].values[index][path]));
      facts.axes.push_back(std::move(column));
    }
  return facts;
}

StoredSweep::StoredSweep(const std::vector<std::string>& files)
    : stores_(opened(files)),
      grid_(grid_of(stores_.front().identity(), files.front())),
      labels_(grid_) {
  check_alike(files);
}

void StoredSweep::check_alike(const std::vector<std::string>& files) const {
  const auto& first = stores_.front().identity();
  const auto columns = figure_columns();
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    const auto& one = stores_[i].identity();
    if (one.program != STEPCAST_VERSION)
      throw Mistake(files[i] + ": was written by stepcast " + one.program + ", and this is " +
                    STEPCAST_VERSION + "; read it with that version, or run the sweep again");
    if (one.fingerprint != first.fingerprint)
      throw Mistake(files[i] + ": is of another sweep than " + files.front() +
                    "; name stores of one sweep");
    if (!std::ranges::equal(stores_[i].columns(), columns, {}, &store::Column::name,
                            &store::Column::name))
      throw Mistake(files[i] + ": has other figures than this program's; run the sweep again");
  }
}

std::optional<report::SweepRow> StoredSweep::row(std::int64_t position) const {
  for (const auto& store : stores_)
    if (auto row = store.row(position)) return reported(labels_, std::move(*row));
  return {};
}

report::SweepSummary StoredSweep::summary() const {
  report::SweepSummary summary{
      grid_.name, mode_of(grid_), 0, {}, {}, {}, scenarios::axis_names(grid_)};
  summary.corrected = is_corrected(stores_.front().identity());
  std::map<std::string, std::int64_t> counts;
  const auto rate = index_of("tokens_per_s"), rate_per_gpu = index_of("tokens_per_s_per_gpu");
  const auto keep_better = [&](const store::Row& row, std::size_t figure,
                               std::optional<report::SweepRow>& best) {
    if (row.status == "ok" && (!best || row.figures[figure] > best->figures[figure]))
      best = reported(labels_, row);
  };
  // Several stores are held against the whole sweep. Each point counts once, because a store that
  // was merged holds those of others.
  summary.all = stores_.size() == 1 ? stores_.front().identity().points : count(grid_);
  std::set<std::int64_t> seen;
  for (const auto& store : stores_) {
    store.for_each_row([&](const store::Row& row) {
      if (stores_.size() > 1 && !seen.insert(row.position).second) return;
      ++counts[row.status];
      keep_better(row, rate, summary.fastest);
      keep_better(row, rate_per_gpu, summary.thriftiest);
    });
  }
  summary.counts.assign(counts.begin(), counts.end());
  if (!summary.fastest) summary.nothing_ok = nothing_ok();
  return summary;
}

std::optional<report::NothingOk> StoredSweep::nothing_ok() const {
  report::ReasonCounts reasons;
  report::NothingOk why;
  const auto memory = index_of("peak_bytes");
  bool any = false, ok = false;
  for (const auto& store : stores_)
    store.for_each_row([&](const store::Row& row) {
      any = true;
      ok = ok || row.status == "ok";
      if (ok) return;
      reasons.add(row.status, row.reason);
      if (row.status == "does-not-fit" &&
          (!why.closest || row.figures[memory] < why.closest->figures[memory]))
        why.closest = reported(labels_, row);
    });
  if (ok || !any) return {};
  why.reasons = reasons.most_first();
  why.has_plan = says_plan(grid_);
  return why;
}

report::SweepFacts StoredSweep::facts() const {
  auto facts = facts_of(grid_);
  facts.corrected = is_corrected(stores_.front().identity());
  return facts;
}

void StoredSweep::write_json(std::ostream& out, bool stopped) const {
  const auto facts = this->facts();
  out << report::sweep_json_begin(facts);
  bool first = true;
  scenarios::for_each_sorted(grid_, [&](std::int64_t position) {
    if (const auto found = row(position))
      out << report::sweep_json_row(facts, *found, std::exchange(first, false));
  });
  out << report::sweep_json_end(nothing_ok(), scenarios::axis_names(grid_), stopped);
}

void StoredSweep::write_csv(std::ostream& out) const {
  const auto facts = this->facts();
  out << report::sweep_csv_header(facts);
  scenarios::for_each_sorted(grid_, [&](std::int64_t position) {
    if (const auto found = row(position)) out << report::sweep_csv_row(facts, *found);
  });
}

void deliver_stream(const std::function<void(std::ostream&)>& write, const std::string& file,
                    Streams streams) {
  if (file.empty()) {
    write(streams.out);
    return check_told(streams);
  }
  write_file(file, write);
}

}  // namespace app
