// SPDX-License-Identifier: Apache-2.0
// Private to the room: parts of the report on a purchase.
#pragma once
#include <string>
#include <vector>

#include "report/amounts.hpp"
#include "report/style.hpp"
#include "report/terminal.hpp"
#include "search/purchase/purchase.hpp"

namespace report {

// What an option falls short of by most: "misses the deadline by 12.0 %"; empty: it is feasible.
std::string shortfall_words(const search::Assessed& option);

// What one of the tables' units of money is, so that the largest figure has some digits.
struct MoneyScale {
  double size = 1;
  std::string unit;  // "thousand USD"

  MoneyScale(const search::Decision& decision, const std::string& currency);
  std::string operator()(units::Money money) const;  // "-" of nothing
};

// Rows of cells, the first to the left and the others to the right, as wide as they need to be.
std::string aligned(std::vector<std::vector<std::string>> rows, const TextOptions& options);

// What no option is better than, what would change the choice, what another network would be worth,
// and what all figures rest on.
std::string choice_text(const search::Purchase& purchase, const search::Decision& decision,
                        const MoneyScale& money, const TextOptions& options);

// A probability in words: none is quite certain.
inline std::string chance(double probability) {
  if (probability > 0.999) return "over 99.9 %";
  if (probability < 0.001) return "under 0.1 %";
  return percent(probability);
}

}  // namespace report
