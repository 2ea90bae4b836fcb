// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "report/document.hpp"
#include "report/validation.hpp"

namespace report {
namespace {

using forecast::DatasetScore;
using forecast::Errors;
using forecast::ValidationRow;

Document passes_document(const ValidationRow& row) {
  Document passes = Document::array();
  for (const auto& pass : row.passes)
    passes.push_back(Object()
                         .put("kind", pass.kind)
                         .optional("measured_s", pass.measured)
                         .optional("predicted_s", pass.predicted)
                         .optional("error", forecast::error(pass))
                         .take());
  return passes;
}

Document row_document(const ValidationRow& row) {
  const bool supported = row.status == ValidationRow::Status::ok;
  const auto if_supported = [&](auto value) { return supported ? value : std::nullopt; };
  const Document reason = supported && row.reason.empty() ? Document() : Document(row.reason);
  const Document kind = row.memory_kind.empty() ? Document() : Document(row.memory_kind);
  const auto fits = if_supported(row.predicted_fits);
  return Object()
      .put("id", row.id)
      .put("status", supported ? "ok" : "unsupported")
      .put("reason", reason)
      .optional("measured_s", row.measured_s)
      .optional("predicted_s", if_supported(row.predicted_s))
      .optional("error", if_supported(forecast::error(row)))
      .optional("low_s", if_supported(row.low_s))
      .optional("high_s", if_supported(row.high_s))
      .put("time_counts", row.time_counts)
      .put("device_fitted", row.fitted)
      .optional("measured_flops_per_gpu", row.measured_rate)
      .optional("predicted_flops_per_gpu", if_supported(row.predicted_rate))
      .optional("relative_error", row.relative_error)
      .optional("measured_bytes", row.measured_bytes)
      .optional("predicted_bytes", if_supported(row.predicted_bytes))
      .optional("memory_error", if_supported(forecast::memory_error(row)))
      .put("memory_kind", kind)
      .put("out_of_memory", row.out_of_memory)
      .put("predicted_fits", fits ? Document(*fits) : Document())
      .put("passes", passes_document(row))
      .put("regime", row.run ? Document(row.run->regime) : Document())
      .take();
}

// `mape`, `median`, …, with a prefix where it is not of step time.
void put_errors(Object& object, const std::string& prefix, const Errors& errors) {
  const auto key = [&](const char* name) { return prefix + name; };
  object.optional(key("mape").c_str(), errors.mape)
      .optional(key("median").c_str(), errors.median)
      .optional(key("p90").c_str(), errors.p90)
      .optional(key("worst").c_str(), errors.worst)
      .put(key("worst_id").c_str(), errors.worst ? Document(errors.worst_id) : Document());
}

Document outcomes_document(const forecast::Outcomes& outcomes) {
  const auto row = [](std::size_t fits, std::size_t does_not) {
    return Object().put("forecast_fits", fits).put("forecast_does_not_fit", does_not).take();
  };
  return Object()
      .put("ran", row(outcomes.ran_as_forecast, outcomes.ran_against_forecast))
      .put("out_of_memory",
           row(outcomes.overflowed_against_forecast, outcomes.overflowed_as_forecast))
      .take();
}

// Returns the errors of rows on devices that nothing is fitted to; null without any.
Document apart_document(const forecast::ShownApart& apart) {
  if (apart.time.rows + apart.memory.rows == 0) return {};
  Object object;
  object.put("rows", apart.time.rows);
  put_errors(object, "", apart.time);
  object.put("memory_rows", apart.memory.rows);
  put_errors(object, "memory_", apart.memory);
  return object.take();
}

Document relative_document(const Errors& relative) {
  if (relative.rows == 0) return {};
  Object object;
  object.put("rows", relative.rows);
  put_errors(object, "", relative);
  return object.take();
}

Document text_or_null(const std::string& text) {
  return text.empty() ? Document() : Document(text);
}

Document dataset_document(const DatasetScore& dataset) {
  Document rows = Document::array();
  for (const ValidationRow& row : dataset.rows) rows.push_back(row_document(row));
  Object object;
  object.put("name", dataset.name)
      .put("added", text_or_null(dataset.added))
      .put("rows", std::move(rows));
  put_errors(object, "", dataset.time);
  put_errors(object, "memory_", dataset.memory);
  return object.optional("coverage", dataset.coverage)
      .optional("coverage_left_out", dataset.coverage_left_out)
      .put("outcomes", outcomes_document(dataset.outcomes))
      .put("devices_not_fitted", apart_document(dataset.apart))
      .put("relative", relative_document(dataset.relative))
      .take();
}

Document cohorts_document(const forecast::Score& score) {
  Document cohorts = Document::array();
  for (const auto& cohort : score.cohorts) {
    Object object;
    object.put("added", text_or_null(cohort.added))
        .put("datasets", cohort.datasets)
        .put("rows", cohort.rows)
        .put("supported", cohort.supported);
    put_errors(object, "", cohort.time);
    put_errors(object, "memory_", cohort.memory);
    cohorts.push_back(object.take());
  }
  return cohorts;
}

Document group_document(const forecast::GroupScore& group) {
  Object object;
  object.put("group", group.group)
      .put("rows", group.time.rows)
      .put("datasets", group.time.datasets);
  put_errors(object, "", group.time);
  object.put("memory_rows", group.memory.rows);
  put_errors(object, "memory_", group.memory);
  return object.take();
}

Document cause_scores_document(const forecast::Score& score) {
  Object causes;
  for (const auto& cause : score.causes) {
    Document groups = Document::array();
    for (const auto& group : cause.groups) groups.push_back(group_document(group));
    causes.put(cause.cause.c_str(), std::move(groups));
  }
  return causes.take();
}

Document passes_document(const forecast::Score& score) {
  Document passes = Document::array();
  for (const auto& pass : score.passes) {
    Object object;
    object.put("kind", pass.kind).put("rows", pass.time.rows);
    put_errors(object, "", pass.time);
    passes.push_back(object.take());
  }
  return passes;
}

}  // namespace

std::string validate_json(const forecast::Score& score) {
  Document datasets = Document::array();
  for (const auto& dataset : score.datasets) datasets.push_back(dataset_document(dataset));
  Object object;
  object.put("datasets", std::move(datasets));
  put_errors(object, "", score.time);
  put_errors(object, "memory_", score.memory);
  return dump(object.optional("coverage", score.coverage)
                  .optional("coverage_left_out", score.coverage_left_out)
                  .put("outcomes", outcomes_document(score.outcomes))
                  .put("passes", passes_document(score))
                  .put("causes", cause_scores_document(score))
                  .put("cohorts", cohorts_document(score))
                  .put("devices_not_fitted", apart_document(score.apart))
                  .put("rows", score.rows)
                  .put("unsupported", score.unsupported)
                  .take());
}

}  // namespace report
