// SPDX-License-Identifier: Apache-2.0
#include "forecast/accuracy/validation.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "forecast/accuracy/quantile.hpp"

namespace forecast {
namespace {

template <class Quantity>
std::optional<double> relative_error(const std::optional<Quantity>& measured,
                                     const std::optional<Quantity>& predicted) {
  if (!measured || !predicted || !(measured->value > 0)) return std::nullopt;
  const double relative = (*predicted - *measured) / *measured;
  if (!std::isfinite(relative)) return std::nullopt;
  return relative;
}

bool is_supported(const ValidationRow& row) { return row.status == ValidationRow::Status::ok; }

std::optional<double> counted_memory_error(const ValidationRow& row) {
  return is_supported(row) && row.fitted ? memory_error(row) : std::nullopt;
}

// A running mean that is absent until something was added.
class Mean {
 public:
  void add(std::optional<double> value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
  }
  std::optional<double> value() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(count_);
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

struct Sample {
  double error = 0;
  std::string id;
};

// Gathers errors data set by data set.
class Tally {
 public:
  void add(const std::string& dataset, std::string id, std::optional<double> error) {
    if (!error) return;
    if (sets_.empty() || sets_.back().first != dataset) sets_.push_back({dataset, {}});
    sets_.back().second.push_back({*error, std::move(id)});
  }
  Errors errors() const {
    Errors result;
    result.datasets = sets_.size();
    std::vector<Vote> signed_votes, votes;
    Mean mean;
    for (const auto& [name, samples] : sets_) {
      Mean own;
      const double weight = 1 / static_cast<double>(samples.size());
      for (const auto& [error, id] : samples) {
        own.add(std::abs(error));
        signed_votes.push_back({error, weight});
        votes.push_back({std::abs(error), weight});
        if (result.worst && std::abs(error) <= *result.worst) continue;
        result.worst = std::abs(error);
        result.worst_id = sets_.size() > 1 ? name + ": " + id : id;
      }
      mean.add(own.value());
    }
    result.rows = votes.size();
    result.mape = mean.value();
    if (votes.empty()) return result;
    result.median = median(signed_votes);
    result.p90 = quantile(std::move(votes), 0.9);
    return result;
  }

 private:
  std::vector<std::pair<std::string, std::vector<Sample>>> sets_;
};

// The errors of time and of memory of some rows.
class Tallies {
 public:
  // A row counts here or among those that are shown apart.
  void add(const std::string& dataset, const ValidationRow& row) {
    time_.add(dataset, row.id, counted_error(row));
    memory_.add(dataset, row.id, counted_memory_error(row));
    if (row.fitted || !is_supported(row)) return;
    time_apart_.add(dataset, row.id, row.time_counts ? error(row) : std::nullopt);
    memory_apart_.add(dataset, row.id, memory_error(row));
  }
  Errors time() const { return time_.errors(); }
  Errors memory() const { return memory_.errors(); }
  ShownApart apart() const { return {time_apart_.errors(), memory_apart_.errors()}; }

 private:
  Tally time_, memory_, time_apart_, memory_apart_;
};

std::optional<double> share_true(std::optional<bool> inside) {
  return inside ? std::optional(*inside ? 1.0 : 0.0) : std::nullopt;
}

std::optional<bool> inside_interval(const ValidationRow& row) {
  if (!row.low_s || !row.high_s || !counted_error(row)) return std::nullopt;
  return *row.low_s <= *row.measured_s && *row.measured_s <= *row.high_s;
}

void add_outcome(Outcomes& outcomes, const ValidationRow& row) {
  if (!is_supported(row) || !row.fitted || !row.predicted_fits) return;
  if (row.out_of_memory)
    ++(*row.predicted_fits ? outcomes.overflowed_against_forecast
                           : outcomes.overflowed_as_forecast);
  else
    ++(*row.predicted_fits ? outcomes.ran_as_forecast : outcomes.ran_against_forecast);
}

// Forecast over measured rate; the source's own way of counting is a factor of all its rows.
std::optional<double> rate_ratio(const ValidationRow& row) {
  if (!is_supported(row) || !row.measured_rate || !row.predicted_rate) return std::nullopt;
  if (!(row.measured_rate->value > 0 && row.predicted_rate->value > 0)) return std::nullopt;
  return *row.predicted_rate / *row.measured_rate;
}

Errors compare_rates(const std::string& dataset, std::vector<ValidationRow>& rows) {
  std::vector<Vote> ratios;
  for (const ValidationRow& row : rows)
    if (const auto ratio = rate_ratio(row)) ratios.push_back({*ratio});
  Tally tally;
  if (ratios.empty()) return tally.errors();
  const double common = median(ratios);
  for (ValidationRow& row : rows) {
    if (const auto ratio = rate_ratio(row)) row.relative_error = *ratio / common - 1;
    tally.add(dataset, row.id, row.relative_error);
  }
  return tally.errors();
}

DatasetScore score_one(DatasetRows dataset) {
  DatasetScore result;
  result.name = std::move(dataset.name);
  result.added = std::move(dataset.added);
  result.rows = std::move(dataset.rows);
  result.relative = compare_rates(result.name, result.rows);
  Tallies tallies;
  Mean inside, inside_left_out;
  for (const ValidationRow& row : result.rows) {
    if (is_supported(row)) ++result.supported;
    tallies.add(result.name, row);
    inside.add(share_true(inside_interval(row)));
    inside_left_out.add(share_true(row.inside_left_out));
    add_outcome(result.outcomes, row);
  }
  result.time = tallies.time();
  result.memory = tallies.memory();
  result.apart = tallies.apart();
  result.coverage = inside.value();
  result.coverage_left_out = inside_left_out.value();
  return result;
}

// "<=8" before "<=64" before ">512".
struct ByNumber {
  bool operator()(const std::string& a, const std::string& b) const {
    const auto key = [](const std::string& text) {
      long number = 0;
      const auto digit = std::min(text.find_first_of("0123456789"), text.size());
      if (text.starts_with('<') || text.starts_with('>'))
        std::from_chars(text.data() + digit, text.data() + text.size(), number);
      return std::tuple(number, text.starts_with('>'), text);
    };
    return key(a) < key(b);
  }
};

CauseScore score_cause(const std::vector<DatasetScore>& datasets, std::size_t cause) {
  std::map<std::string, std::pair<Tally, Tally>, ByNumber> groups;
  for (const auto& dataset : datasets)
    for (const ValidationRow& row : dataset.rows) {
      if (row.groups[cause].empty()) continue;
      auto& [time, memory] = groups[row.groups[cause]];
      time.add(dataset.name, row.id, counted_error(row));
      memory.add(dataset.name, row.id, counted_memory_error(row));
    }
  CauseScore result{std::string(causes[cause]), {}};
  for (const auto& [name, tallies] : groups) {
    GroupScore group{name, tallies.first.errors(), tallies.second.errors()};
    if (group.time.rows + group.memory.rows > 0) result.groups.push_back(std::move(group));
  }
  return result;
}

std::vector<PassScore> score_passes(const std::vector<DatasetScore>& datasets) {
  std::vector<std::pair<std::string, Tally>> kinds;
  for (const auto& dataset : datasets)
    for (const ValidationRow& row : dataset.rows)
      for (const auto& pass : row.passes) {
        auto at = std::ranges::find(kinds, pass.kind, [](const auto& k) { return k.first; });
        if (at == kinds.end()) at = kinds.insert(at, {pass.kind, {}});
        at->second.add(dataset.name, row.id, error(pass));
      }
  std::vector<PassScore> result;
  for (const auto& [kind, tally] : kinds) result.push_back({kind, tally.errors()});
  return result;
}

void add(Outcomes& sum, const Outcomes& one) {
  sum.ran_as_forecast += one.ran_as_forecast;
  sum.ran_against_forecast += one.ran_against_forecast;
  sum.overflowed_as_forecast += one.overflowed_as_forecast;
  sum.overflowed_against_forecast += one.overflowed_against_forecast;
}

}  // namespace

std::optional<double> error(const ValidationRow& row) {
  return relative_error(row.measured_s, row.predicted_s);
}

std::optional<double> memory_error(const ValidationRow& row) {
  return relative_error(row.measured_bytes, row.predicted_bytes);
}

std::optional<double> error(const PassTime& pass) {
  return relative_error(pass.measured, pass.predicted);
}

std::optional<double> counted_error(const ValidationRow& row) {
  return is_supported(row) && row.time_counts && row.fitted ? error(row) : std::nullopt;
}

namespace {

// log(measured / predicted) of a row whose error counts.
std::optional<double> row_log_ratio(const ValidationRow& row) {
  if (!row.run || !counted_error(row) || !(row.predicted_s->value > 0)) return std::nullopt;
  return std::log(*row.measured_s / *row.predicted_s);
}

}  // namespace

std::vector<Residual> residuals_of(const std::vector<DatasetRows>& datasets) {
  std::vector<Residual> residuals;
  for (const auto& dataset : datasets)
    for (const ValidationRow& row : dataset.rows)
      if (const auto off = row_log_ratio(row)) residuals.push_back({dataset.name, *row.run, *off});
  return residuals;
}

void leave_out(std::vector<DatasetRows>& datasets) {
  const auto all = residuals_of(datasets);
  for (auto& dataset : datasets) {
    auto others = all;
    std::erase_if(others, [&](const auto& one) { return one.dataset == dataset.name; });
    if (others.empty()) continue;
    const auto intervals = intervals_of(others);
    for (ValidationRow& row : dataset.rows) {
      const auto off = row_log_ratio(row);
      if (!off) continue;
      const auto interval = interval_of(*row.run, intervals);
      row.inside_left_out = interval.low <= *off && *off <= interval.high;
    }
  }
}

namespace {

std::vector<CohortScore> score_cohorts(const std::vector<DatasetScore>& datasets) {
  std::map<std::string, std::pair<CohortScore, Tallies>> cohorts;
  for (const auto& dataset : datasets) {
    auto& [cohort, tallies] = cohorts[dataset.added];
    ++cohort.datasets;
    cohort.rows += dataset.rows.size();
    cohort.supported += dataset.supported;
    for (const ValidationRow& row : dataset.rows) tallies.add(dataset.name, row);
  }
  std::vector<CohortScore> result;
  for (auto& [added, parts] : cohorts) {
    auto& [cohort, tallies] = parts;
    cohort.added = added;
    cohort.time = tallies.time();
    cohort.memory = tallies.memory();
    result.push_back(std::move(cohort));
  }
  return result;
}

}  // namespace

Score score(std::vector<DatasetRows> datasets) {
  Score total;
  Tallies tallies;
  Mean inside, inside_left_out;
  for (DatasetRows& dataset : datasets) {
    total.datasets.push_back(score_one(std::move(dataset)));
    const DatasetScore& latest = total.datasets.back();
    for (const ValidationRow& row : latest.rows) tallies.add(latest.name, row);
    total.rows += latest.rows.size();
    total.unsupported += latest.rows.size() - latest.supported;
    inside.add(latest.coverage);
    inside_left_out.add(latest.coverage_left_out);
    add(total.outcomes, latest.outcomes);
  }
  total.time = tallies.time();
  total.memory = tallies.memory();
  total.apart = tallies.apart();
  total.cohorts = score_cohorts(total.datasets);
  total.coverage = inside.value();
  total.coverage_left_out = inside_left_out.value();
  total.passes = score_passes(total.datasets);
  for (std::size_t cause = 0; cause < causes.size(); ++cause)
    total.causes.push_back(score_cause(total.datasets, cause));
  return total;
}

}  // namespace forecast
