// SPDX-License-Identifier: Apache-2.0
// Private to the room: measured steps as parts of documents and reports.
#pragma once
#include "report/correction.hpp"
#include "report/document.hpp"

namespace report {

Document correction_document(const forecast::Correction& correction);
Document measured_document(const MeasuredHere& measured, const forecast::Forecast& forecast);

// Returns words on the search that found a plan, and on its proof.
std::string searched_words(const PlanSearched& how);

// simulate_text() before and after the place where measured steps go.
std::string head_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                      const TextOptions& options);
std::string body_text(const forecast::Scenario& scenario, const forecast::Forecast& forecast,
                      const TextOptions& options);

}  // namespace report
