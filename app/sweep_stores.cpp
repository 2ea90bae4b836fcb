// SPDX-License-Identifier: Apache-2.0
// Commands on the stores of a sweep that ran: status, export, merge, plot.
#include <algorithm>
#include <charconv>
#include <ostream>
#include <set>
#include <sstream>

#include "app/sweep.hpp"
#include "report/page/page.hpp"
#include "report/sweep/sweep_plot.hpp"
#include "search/points.hpp"
#include "store/digest.hpp"

namespace app {

namespace fs = std::filesystem;

namespace {

void warn_of_missing(const StoredSweep& rows, const Common& common, Streams streams) {
  const auto summary = rows.summary();
  std::int64_t done = 0;
  for (const auto& [status, number] : summary.counts) done += number;
  if (done < summary.all)
    warn(std::to_string(summary.all - done) + " of " + std::to_string(summary.all) +
             " points are not there yet",
         common, streams);
}

// "sweep.shard-3-of-20.sqlite" without what a shard adds.
fs::path whole_of(const fs::path& shard) {
  auto stem = shard.stem().string();
  if (const auto at = stem.rfind(".shard-"); at != stem.npos) stem.resize(at);
  auto whole = shard.parent_path() / (stem + shard.extension().string());
  return whole == shard ? fs::path(shard.string() + ".merged") : whole;
}

// Points of the grid that a store lacks: how many, the first of them, and the shards they are of.
struct Missing {
  std::int64_t points = 0;
  std::vector<std::int64_t> first;
  std::set<std::int64_t> shards;
};

Missing missing_in(const store::Store& store, const scenarios::Grid& grid, std::int64_t shards) {
  constexpr std::size_t most_named = 5;
  std::vector<bool> there(static_cast<std::size_t>(positions(grid)));
  store.for_each_place(
      [&](std::int64_t position) { there[static_cast<std::size_t>(position)] = true; });
  const Labels labels(grid);
  Missing missing;
  for (std::size_t i = 0; i < there.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    if (there[i] || !holds(grid, position)) continue;
    ++missing.points;
    if (missing.first.size() < most_named) missing.first.push_back(position);
    const auto shard = store::shard_of(labels.object(position), shards);
    missing.shards.insert(shard == 0 ? shards : shard);
  }
  return missing;
}

std::string missing_text(const Missing& missing, const scenarios::Grid& grid, std::int64_t shards,
                         std::int64_t all) {
  const Labels labels(grid);
  std::string text = "stepcast: " + std::to_string(missing.points) + " of " + std::to_string(all) +
                     " points are missing:\n";
  for (const auto position : missing.first)
    text += "  " + report::place_words(scenarios::axis_names(grid), labels.values(position)) + '\n';
  if (missing.points > static_cast<std::int64_t>(missing.first.size())) text += "  …\n";
  if (shards == 1) return text + "run the sweep on this store again\n";
  text += "run these shards again, and then merge all of them: ";
  bool first = true;
  for (const auto shard : missing.shards) {
    text += (first ? "" : " ") + std::to_string(shard) + "/" + std::to_string(shards);
    first = false;
  }
  return text + '\n';
}

}  // namespace

store::Shard parse_shard(const std::string& text) {
  store::Shard shard{-1, 0};
  const auto* end = text.data() + text.size();
  const auto [slash, wrong] = std::from_chars(text.data(), end, shard.index);
  if (wrong == std::errc() && slash != end && *slash == '/') {
    const auto [stop, also] = std::from_chars(slash + 1, end, shard.count);
    if (also != std::errc() || stop != end) shard.count = 0;
  }
  if (shard.count < 1 || shard.index < 0 || shard.index > shard.count || shard.count > 1'000'000)
    throw Mistake("--shard " + text +
                  ": expected i/N with i from 1 to N (0 stands for N), such as 3/20");
  if (shard.index == 0) shard.index = shard.count;
  return shard;
}

fs::path shard_file(const fs::path& store, const store::Shard& shard) {
  return store.parent_path() / (store.stem().string() + ".shard-" + std::to_string(shard.index) +
                                "-of-" + std::to_string(shard.count) + store.extension().string());
}

fs::path store_of(const SweepRequest& request) {
  return request.store.empty() ? fs::path(request.file).filename().replace_extension(".sqlite")
                               : fs::path(request.store);
}

Output store_output(const std::string& option, const fs::path& store) {
  return {option.empty() ? "the store" : "--store", store.string(), true};
}

std::string page_of(const StoredSweep& rows) {
  std::ostringstream document;
  rows.write_json(document);
  return report::sweep_page(document.str());
}

int sweep_status(const StoresRequest& request, const Common& common, Streams streams) {
  const Outputs outputs(common);
  for (const auto& file : request.stores) outputs.spare_store(file);
  const StoredSweep rows(request.stores);
  auto options = text_options(streams);
  if (!common.output.empty()) options.colour = false;
  deliver(common.json ? report::sweep_summary_json(rows.summary(), STEPCAST_VERSION)
                      : report::sweep_text(rows.summary(), options),
          common, streams);
  return success;
}

int sweep_export(const StoresRequest& request, const Common& common, Streams streams) {
  check_report_name(common.report);
  const Outputs outputs(common, {{"--csv", request.csv}});
  for (const auto& file : request.stores) outputs.spare_store(file);
  const StoredSweep rows(request.stores);
  warn_of_missing(rows, common, streams);
  const auto table = [&](std::ostream& out) { rows.write_csv(out); };
  if (!request.csv.empty()) deliver_stream(table, request.csv, streams);
  if (!common.report.empty()) write_file(common.report, page_of(rows));
  if (common.json)
    deliver_stream([&](std::ostream& out) { rows.write_json(out); }, common.output, streams);
  else if (request.csv.empty() && common.report.empty())
    deliver_stream(table, common.output, streams);
  return success;
}

int sweep_merge(const StoresRequest& request, const Common& common, Streams streams) {
  const auto into =
      request.into.empty() ? whole_of(request.stores.front()) : fs::path(request.into);
  const Outputs outputs(common, {store_output(request.into, into)});
  outputs.spare_store(into);
  for (const auto& file : request.stores) outputs.spare_store(file);
  bool damaged = false;
  std::vector<std::string> sound;
  std::optional<store::Identity> identity;
  for (const auto& file : request.stores) {
    try {
      const auto shard = store::Store::reader(file);
      if (!identity) identity = shard.identity();
      sound.push_back(file);
    } catch (const store::Error& wrong) {
      damaged = true;
      streams.err << "stepcast: " << wrong.what() << '\n';
    }
  }
  if (!identity) return wrong_input;
  const auto shards = identity->shard.count;
  const auto grid = scenarios::read_grid(identity->definition, sound.front(), {}, identity->folder);
  identity->shard = {};
  identity->points = count(grid);
  auto store = store::Store::writer(into, *identity, figure_columns());
  for (const auto& file : sound) {
    std::error_code none;
    if (fs::equivalent(file, into, none)) continue;
    try {
      store.take(file);
    } catch (const store::Error& wrong) {
      damaged = true;
      streams.err << "stepcast: " << wrong.what() << '\n';
    }
  }
  const auto missing = missing_in(store, grid, shards);
  store.close();
  if (missing.points > 0) streams.err << missing_text(missing, grid, shards, identity->points);
  if (!common.quiet)
    streams.err << identity->points - missing.points << " points are in " << into.string() << '\n';
  return damaged ? wrong_input : missing.points > 0 ? no_answer : success;
}

}  // namespace app
