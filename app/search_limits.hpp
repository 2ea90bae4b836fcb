// SPDX-License-Identifier: Apache-2.0
// Searches among the plans that one framework can run (search --for).
#pragma once
#include <optional>
#include <string>

#include "report/launch/framework_limits.hpp"
#include "report/search/search.hpp"
#include "search/objectives.hpp"

namespace app {

// The framework of "FRAMEWORK" or "FRAMEWORK@VERSION"; nothing of an empty text. Throws Mistake for
// one that is not known.
std::optional<report::Framework> framework_asked_for(const std::string& text);

// Takes the plans out of an answer that are beyond the framework. The lower bound stays: it is of
// more plans.
void keep_runnable(search::Outcome& outcome, report::Framework framework);

// The gain of leaving the framework's limits: searches the question again without them.
report::FrameworkLimits limits_of(const search::Question& question, report::Framework framework,
                                  const search::Options& options);

}  // namespace app
