// SPDX-License-Identifier: Apache-2.0
// The tables of keys of a purchase.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/keys.hpp"
#include "search/purchase/purchase.hpp"

namespace scenarios {

// An option before its cluster is read.
struct OptionDraft {
  search::PurchaseOption option;
  bool has_price = false, prices_network = false;
  std::optional<double> nodes_per_rack;
};

void read_workload(search::Workload& workload, const Cursor& at);
// Reads the workload's tokens from `training`; false: `training` has none.
bool read_tokens(search::Workload& workload, const Cursor& training);
void read_constraints(search::Constraints& constraints, const Cursor& at);
void read_economics(search::Economics& economics, const Cursor& at);
void read_reliability(search::Reliability& reliability, const Cursor& at);
void read_option(OptionDraft& draft, const Cursor& at);

std::vector<Field> purchase_fields();  // fields of the whole file
std::vector<Field> workload_fields();
std::vector<Field> constraint_fields();
std::vector<Field> economics_fields();
std::vector<Field> reliability_fields();
std::vector<Field> option_fields();

// Whether the word is three capitals.
bool is_currency(std::string_view word);

}  // namespace scenarios
