// SPDX-License-Identifier: Apache-2.0
// Private to the room: the question in words.
#pragma once
#include <string>

#include "forecast/scenario.hpp"
#include "report/style.hpp"
#include "search/space.hpp"

namespace report {

// "175 billion parameters", "235 billion parameters, 22.2 billion active".
std::string parameters_words(const model::Transformer& model);

// "llama3-8b (8.03 billion parameters)".
std::string model_words(const model::Transformer& model);

// Title; model, machine and training.
std::string setting_text(const forecast::Scenario& scenario, const TextOptions& options);

// "tensor 8, pipeline 16 (interleaved, 3 chunks), data 8, micro-batch 1": degrees, schedule and
// sharding.
std::string degrees_words(const strategies::Plan& plan);

// Why a search proved a wider gap than was asked for; empty where it did not, or was stopped.
std::string gap_left_words(double proved, double asked, bool interrupted);

// " (a batch of 576 has the factor 9 that 512 lacks)"; empty where no factor of the batch makes
// plans possible.
std::string missing_factor_words(const forecast::Scenario& scenario, const search::Space& space);

// The setting; degrees, recomputation and offloading of the plan.
std::string question_text(const forecast::Scenario& scenario, const TextOptions& options);

}  // namespace report
