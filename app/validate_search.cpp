// SPDX-License-Identifier: Apache-2.0
// Plans that people tuned beside those that searches find.
#include <atomic>
#include <chrono>
#include <ostream>

#include "app/command.hpp"
#include "app/parallel.hpp"
#include "app/published.hpp"
#include "app/stopping.hpp"
#include "report/search/given_plans.hpp"
#include "scenarios/documents/error.hpp"
#include "scenarios/search_file.hpp"

namespace app {
namespace {

// Smaller runs are hardly tuned: there is little to choose.
constexpr int least_gpus = 16;

// Searches around the plan of a published run and compares. `ended` becomes true if the user
// stopped the search, so that the comparison is not whole.
report::GivenPlan compared(const scenarios::PublishedRow& row, const Common& common, bool& ended) {
  report::GivenPlan result{.id = row.id, .reason = {}, .comparison = {}, .wall = {}};
  const auto began = std::chrono::steady_clock::now();
  try {
    const auto question = scenarios::reopened(row, common.sets);
    const Stopping stopping(question.time_limit, common.caller);
    const auto threads = threads_of(common);
    search::Options options{.top = 1, .stop = &stopping.flag()};
    options.for_each = [threads](std::size_t count, const std::function<void(std::size_t)>& work) {
      for_each_index(count, threads, work);
    };
    result.comparison = search::compare(question, row.scenario->plan, options);
    ended = stopping.by_user();
  } catch (const scenarios::Error& error) {
    result.reason = error.complaints.front().text;
  } catch (const std::invalid_argument& why) {
    result.reason = why.what();
  }
  result.wall = {std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count()};
  return result;
}

}  // namespace

int validate_search(const std::vector<std::string>& datasets, const std::string& folder,
                    const Common& common, Streams streams) {
  const auto where = published_folder(folder);
  check_names(datasets, scenarios::dataset_names(where));
  const Outputs outputs(common);
  scenarios::Files read;
  const auto published = scenarios::load_datasets(where, datasets, &read);
  outputs.spare(read);
  std::vector<report::GivenPlans> all;
  bool ended = false;
  for (const auto& dataset : published) {
    if (!dataset.tuned) continue;
    auto& into = all.emplace_back(report::GivenPlans{dataset.name, {}});
    for (const auto& row : dataset.rows) {
      if (ended || !row.scenario || row.scenario->cluster.gpus < least_gpus) continue;
      if (!common.quiet && streams.err_terminal)
        streams.err << dataset.name << ' ' << row.id << '\n';
      into.rows.push_back(compared(row, common, ended));
    }
  }
  deliver(common.json ? report::given_plans_json(all)
                      : report::given_plans_text(all, text_options(streams)),
          common, streams);
  return ended ? interrupted : success;
}

}  // namespace app
