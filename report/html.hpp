// SPDX-License-Identifier: Apache-2.0
// Private to the room: pieces of pages that need no script and nothing from elsewhere.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace report {

// `text` as text of an element or of a quoted attribute; bytes that are no UTF-8 and control
// characters become '?'.
std::string escaped(std::string_view text);

// Cells are text, and are escaped here. The first `names` columns are words, the others figures.
std::string html_table(const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows, std::size_t names = 1);

// A whole page around `body`, in the reader's light or dark.
std::string html_page(std::string_view title, std::string_view body);

// One dot of a scatter, in the colour of its group.
struct Dot {
  double measured = 0, predicted = 0;  // both positive
  std::string group, title;
};

// Predicted against measured on logarithmic axes as inline SVG: the diagonal, the band of a tenth
// about it, a legend of the groups. `label` writes a value of an
// axis. Nothing where there is no dot.
std::string scatter(const std::vector<Dot>& dots, const std::vector<std::string>& groups,
                    std::string_view title, std::string (*label)(double));

}  // namespace report
