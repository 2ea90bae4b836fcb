// SPDX-License-Identifier: Apache-2.0
// One point of a sweep: read, answered, and made a row of its store.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "app/sweep.hpp"
#include "forecast/warnings.hpp"
#include "plans/schedules/refusal.hpp"
#include "report/search/search.hpp"
#include "scenarios/documents/value_json.hpp"
#include "search/objectives.hpp"
#include "search/points.hpp"
#include "store/digest.hpp"

namespace app {
namespace {

using search::PointStatus;

// Its flag rises when the user stops everything, or when the time of this search is over.
class Deadline {
 public:
  Deadline(std::optional<units::Seconds> limit, const Stopping& stopping) : stopping_(&stopping) {
    if (limit)
      watch_ = std::jthread([this, limit = *limit](const std::stop_token& over) {
        const auto end =
            std::chrono::steady_clock::now() + std::chrono::duration<double>(limit.value);
        while (!over.stop_requested() && !stopping_->flag() &&
               std::chrono::steady_clock::now() < end)
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        raised_ = true;
      });
  }
  const std::atomic<bool>* flag() const {
    return watch_.joinable() ? &raised_ : &stopping_->flag();
  }

 private:
  const Stopping* stopping_;
  std::atomic<bool> raised_ = false;
  std::jthread watch_;
};

std::string salt_of(const scenarios::Grid& grid, const std::optional<Correcting>& correcting) {
  const auto files = scenarios::files_beside(grid);
  return std::string(STEPCAST_VERSION) + '\n' + (files.empty() ? "" : store::digest(files)) + '\n' +
         (correcting ? "corrected " + store::digest(correcting->text) + '\n' : "");
}

void take(store::Row& row, PointStatus status, std::string reason) {
  row.status = search::to_text(status);
  row.reason = std::move(reason);
}

}  // namespace

Labels::Labels(const scenarios::Grid& grid) : grid_(&grid) {
  for (const auto& axis : grid.axes) {
    auto& texts = values_.emplace_back();
    auto& members = members_.emplace_back();
    for (const auto& values : axis.values) {
      auto& text = texts.emplace_back();
      auto& member = members.emplace_back();
      for (std::size_t path = 0; path < values.size(); ++path) {
        text.push_back(scenarios::json_of(values[path]));
        member += (path == 0 ? "\"" : ", \"") + axis.paths[path] + "\": " + text.back();
      }
    }
  }
}

std::vector<std::string> Labels::values(std::int64_t position) const {
  std::vector<std::string> all;
  const auto indices = scenarios::indices_at(*grid_, position);
  for (std::size_t axis = 0; axis < indices.size(); ++axis)
    for (const auto& text : values_[axis][indices[axis]]) all.push_back(text);
  return all;
}

std::string Labels::object(std::int64_t position) const {
  std::string text = "{";
  const auto indices = scenarios::indices_at(*grid_, position);
  for (std::size_t axis = 0; axis < indices.size(); ++axis)
    (text += axis == 0 ? "" : ", ") += members_[axis][indices[axis]];
  return text + "}";
}

Answering::Answering(const scenarios::Grid& grid, const Labels& labels,
                     const std::vector<std::string>& known, const forecast::Intervals& intervals,
                     const std::optional<Correcting>& correcting, const Stopping& stopping,
                     strategies::KnownOrders& orders)
    : grid_(grid),
      labels_(labels),
      known_(known),
      intervals_(intervals),
      correcting_(correcting),
      stopping_(stopping),
      reader_(grid),
      orders_(orders),
      salt_(salt_of(grid, correcting)) {}

std::optional<store::Row> Answering::answer(std::int64_t position) {
  store::Row row{.position = position, .axes = labels_.object(position)};
  try {
    grid_.mode == scenarios::Grid::Mode::search ? search(row) : simulate(row);
  } catch (const strategies::Refusal& refused) {
    take(row, PointStatus::invalid, refused.keys.front() + ": " + refused.what());
  } catch (const std::invalid_argument& wrong) {
    take(row, PointStatus::invalid, wrong.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& fault) {
    throw std::runtime_error("at " + row.axes + ": " + fault.what());
  }
  if (stopping_.by_user() && grid_.mode == scenarios::Grid::Mode::search) return {};
  return row;
}

// Names the point after its question; true where it is known already.
bool Answering::name(store::Row& row, const std::string& question) const {
  row.id = store::digest(salt_ + question);
  return std::ranges::binary_search(known_, row.id);
}

void Answering::simulate(store::Row& row) {
  auto read = reader_.scenario(row.position);
  row.scenario = read.value ? report::scenario_line(*read.value) : reader_.document(row.position);
  if (name(row, row.scenario)) return;
  if (!read.value) return take(row, PointStatus::invalid, std::move(read.reason));
  auto forecast = forecast::simulate(*read.value, {.network = false, .orders = &orders_});
  forecast::add_interval(forecast, *read.value, intervals_);
  const auto correction = correct(forecast, *read.value, correcting_);
  take(row, search::status_of(forecast), forecast::misfit_of(*read.value, forecast.memory));
  row.figures = search::figures_of(*read.value, forecast);
  row.result =
      report::point_json(*read.value, forecast, nullptr, correction ? &*correction : nullptr);
}

void Answering::search(store::Row& row) {
  auto read = reader_.question(row.position);
  row.scenario = reader_.document(row.position);
  const auto resolved = read.value ? report::scenario_line(read.value->scenario) : "";
  if (name(row, "search\n" + resolved + '\n' + row.scenario)) return;
  if (!read.value) return take(row, PointStatus::invalid, std::move(read.reason));
  if (correcting_) check_objective(*read.value);
  const Deadline deadline(read.value->time_limit, stopping_);
  auto outcome = search::optimise(*read.value, {.top = 1, .stop = deadline.flag()});
  if (outcome.answer.plans.empty() || (!outcome.tried.empty() && !outcome.chosen))
    return take(row, PointStatus::no_plan, report::no_plan_text(outcome));
  auto& best = outcome.answer.plans.front();
  auto scenario = outcome.question.scenario_of(best.alternative);
  scenario.plan = best.plan;
  forecast::add_interval(best.forecast, scenario, intervals_);
  const auto correction = correct(best.forecast, scenario, correcting_);
  take(row, PointStatus::ok, "");
  row.figures = search::figures_of(scenario, best.forecast);
  row.result = report::point_json(scenario, best.forecast, &scenario.plan,
                                  correction ? &*correction : nullptr, outcome.answer.gap);
  row.scenario = report::scenario_line(scenario);
}

}  // namespace app
