// SPDX-License-Identifier: Apache-2.0
// Forms inside of a form.
#pragma once
#include <string_view>

#include "scenarios/documents/form.hpp"

namespace scenarios {

// The form of the value at a path such as "cluster.fabric.latency", through whichever alternative
// has the key; null where no map has it. `form` must outlive the answer.
const Form* form_at(const Form& form, std::string_view path);

// The unit that a quantity of this form is read in where it is a bare number: "s", "B", "B/s",
// "FLOP/s", "W", "USD" of prices, as in the catalog; empty: it is no quantity.
std::string_view unit_of(const Form& form);

}  // namespace scenarios
