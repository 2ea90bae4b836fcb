// SPDX-License-Identifier: Apache-2.0
// Reads what a store keeps of a point (private to the room).
#pragma once
#include <stdexcept>

#include "report/document.hpp"
#include "report/sweep/sweep.hpp"

namespace report {

// Returns text(), which reads the JSON of the row. Throws std::invalid_argument if stepcast would
// not write such JSON: another program may have written the store.
template <class Text>
auto of_kept(const SweepRow& row, Text text) {
  try {
    return text();
  } catch (const Document::exception&) {
    throw std::invalid_argument("the store's row of point " + row.id +
                                " holds JSON that this program does not write; compute the sweep "
                                "again in a new store");
  }
}

}  // namespace report
