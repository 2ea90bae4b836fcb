// SPDX-License-Identifier: Apache-2.0
// Private to the room: long columns of whole numbers in few characters of JSON.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "report/document.hpp"

namespace report {

// Base64 (RFC 4648, no padding) of the numbers one after the other, each in groups of seven bits,
// the lowest first, the high bit set on all but the last. Small numbers take few characters.
std::string packed(const std::vector<std::uint64_t>& values);

using Column = std::vector<std::int64_t>;

// The order of some numbered things as [written, more], both packed. A thing is mostly followed by
// the same one as last time, so the order consists of runs: a thing that is written, and the number
// of further ones that follow their predecessors as last time.
Document index_document(const std::vector<std::uint64_t>& index);

// Columns of the same length, as few characters as rows repeat: {"columns": [column, …]}; or, where
// that is shorter, {"distinct": [column, …], "index": …}: the rows that there are, the most
// frequent first, and which of them comes when. The page reads a column back exactly: it is packed,
// its numbers as zigzag (0, -1, 1, -2, … as 0, 1, 2, 3, …).
Document table_document(const std::vector<Column>& columns);

}  // namespace report
