// SPDX-License-Identifier: Apache-2.0
// Private to the room: long lists of objects that have the same keys in few characters of JSON.
#pragma once
#include "report/document.hpp"

namespace report {

// Returns {"rows": n, "columns": {key: column, …}} for a list of objects; web/src/transposed.ts
// reads it back. A key that an object lacks is null there. A column is [value, …]; {"distinct":
// [value, …], "index": …} (columns.hpp) where that is shorter; or, where all values are objects or
// null, a list of objects again.
Document transposed(const Document& rows);

}  // namespace report
