// SPDX-License-Identifier: Apache-2.0
// What one step trains on, and how numbers are kept.
#include "scenarios/keys.hpp"
#include "scenarios/tables.hpp"

namespace scenarios {
namespace {

using strategies::Training;

const std::vector<Named<units::Precision>>& precisions() {
  using units::Precision;
  static const std::vector<Named<Precision>> named{
      {"fp32", Precision::fp32},  {"tf32", Precision::tf32}, {"fp16", Precision::fp16},
      {"bf16", Precision::bf16},  {"fp8", Precision::fp8},   {"mxfp8", Precision::mxfp8},
      {"nvfp4", Precision::nvfp4}};
  return named;
}

const std::vector<Named<strategies::Fp8Recipe>>& recipes() {
  using strategies::Fp8Recipe;
  static const std::vector<Named<Fp8Recipe>> named{{"delayed", Fp8Recipe::delayed},
                                                   {"tensorwise", Fp8Recipe::tensorwise},
                                                   {"rowwise", Fp8Recipe::rowwise},
                                                   {"blockwise", Fp8Recipe::blockwise}};
  return named;
}

const std::vector<Named<strategies::Optimizer>>& optimizers() {
  using strategies::Optimizer;
  static const std::vector<Named<Optimizer>> named{
      {"adamw", Optimizer::adamw},   {"adam", Optimizer::adam},
      {"lamb", Optimizer::lamb},     {"adafactor", Optimizer::adafactor},
      {"sophia", Optimizer::sophia}, {"muon", Optimizer::muon},
      {"sgd", Optimizer::sgd},       {"onebit-adam", Optimizer::onebit_adam}};
  return named;
}

const Table<Training>& training_table() {
  static const Table<Training> made{
      whole<Training>("sequence_length", "", {1, 134'217'728, "tokens of one sequence"},
                      "Tokens of a whole sequence", &Training::sequence_length),
      whole<Training>("global_batch", "", {1, 16'777'216, "sequences of one step"},
                      "Sequences per optimizer step", &Training::global_batch),
      choice<Training>("precision", "bf16", precisions(), "Precision of matrix products",
                       &Training::precision),
      choice<Training>("fp8_recipe", "delayed", recipes(), "With precision fp8: how it is scaled",
                       &Training::fp8_recipe),
      choice<Training>("optimizer", "adamw", optimizers(), "Optimizer", &Training::optimizer),
      number<Training>("padding", "0", {0, 0.99, "the share of tokens that are padding"},
                       "Share of tokens that are padding", &Training::padding)};
  return made;
}

}  // namespace

std::vector<Field> training_fields() { return fields_of(training_table()); }

void read_training(Training& training, const Cursor& at) {
  read_map(training_table(), training, at);
}

}  // namespace scenarios
