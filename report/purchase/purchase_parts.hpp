// SPDX-License-Identifier: Apache-2.0
// Private to the room: parts of the report on a purchase.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "report/amounts.hpp"
#include "report/style.hpp"
#include "report/terminal.hpp"
#include "search/purchase/purchase.hpp"

namespace report {

// The limit that an option exceeds by most: "misses the deadline by 12.0 %"; empty: it is feasible.
std::string shortfall_words(const search::Assessed& option);

// The same of an option of the purchase by its number; where nothing divides, with the factor of
// the batch that is missing.
std::string shortfall_words(const search::Purchase& purchase, const search::Decision& decision,
                            std::size_t option);

// The model of the workload; null: no option has a question of it.
const model::Transformer* model_of(const search::Purchase& purchase, std::size_t workload);

// The unit of money in the tables, so that the largest figure has some digits.
struct MoneyScale {
  double size = 1;
  std::string unit;  // "thousand USD"

  MoneyScale(const search::Decision& decision, const std::string& currency);
  std::string operator()(units::Money money) const;  // "-" of nothing
};

// Rows of cells, the first to the left and the others to the right, as wide as they need to be.
std::string aligned(std::vector<std::vector<std::string>> rows, const TextOptions& options);

// The options that no other beats, the changes that would overturn the choice, the worth of another
// network, and the assumptions behind all figures.
std::string choice_text(const search::Purchase& purchase, const search::Decision& decision,
                        const MoneyScale& money, const TextOptions& options);

// A probability in words: none is quite certain.
inline std::string chance(double probability) {
  if (probability > 0.999) return "over 99.9 %";
  if (probability < 0.001) return "under 0.1 %";
  return percent(probability);
}

}  // namespace report
