// SPDX-License-Identifier: Apache-2.0
// What one step trains on, and how numbers are kept.
#include "plans/words.hpp"
#include "scenarios/keys.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using strategies::Training;

const Table<Training>& training_table() {
  static const Table<Training> made{
      whole<Training>("sequence_length", "", {1, 134'217'728, "tokens of one sequence"},
                      "Tokens of a whole sequence", &Training::sequence_length),
      whole<Training>("global_batch", "", {1, 16'777'216, "sequences of one step"},
                      "Sequences per optimizer step", &Training::global_batch),
      choice<Training>("precision", "bf16", "Precision of matrix products", &Training::precision),
      shown_if([](const Training& t) { return t.precision == units::Precision::fp8; },
               choice<Training>("fp8_recipe", "delayed", "With precision fp8: how it is scaled",
                                &Training::fp8_recipe)),
      choice<Training>("optimizer", "adamw", "Optimizer", &Training::optimizer),
      number<Training>("padding", "0", {0, 0.99, "the share of tokens that are padding"},
                       "Share of tokens that are padding", &Training::padding)};
  return made;
}

}  // namespace

std::vector<Field> training_fields() { return fields_of(training_table()); }

void read_training(Training& training, const Cursor& at) {
  read_map(training_table(), training, at);
}

Value shown(const Training& training) { return show_map(training_table(), training); }

}  // namespace scenarios
