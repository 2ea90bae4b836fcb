// SPDX-License-Identifier: Apache-2.0
#include "report/page/page_parts.hpp"
#include "report/page/transposed.hpp"
#include "report/validation.hpp"

namespace report {
namespace {

// Returns rows as `validate --json` has them, with the properties by which they are grouped.
Document dataset_rows_document(Document rows, const forecast::DatasetScore& dataset) {
  for (std::size_t i = 0; i < dataset.rows.size(); ++i) {
    const auto& row = dataset.rows[i];
    rows[i]["groups"] = row.groups;
    rows[i]["assumed"] = row.assumed;
  }
  return transposed(rows);
}

}  // namespace

std::string validate_page(const forecast::Score& score) {
  auto document = Document::parse(validate_json(score));
  auto& datasets = document["datasets"];
  for (std::size_t i = 0; i < score.datasets.size(); ++i) {
    auto& rows = datasets[i]["rows"];
    rows = dataset_rows_document(std::move(rows), score.datasets[i]);
  }
  return page_of(Object().put("kind", "validate").put("validation", std::move(document)).take());
}

}  // namespace report
