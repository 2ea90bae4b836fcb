// SPDX-License-Identifier: Apache-2.0
// A user's table of measured kernels, and the device entry that is made from it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "topology/device.hpp"
#include "topology/measured.hpp"

namespace scenarios {

// A fact of the comment lines, such as "# memory: 80 GiB".
struct TableFact {
  std::string key, value;
  int line, column;  // line and column of the value
};

struct KernelTable {
  std::string file;
  topology::Measured measured;
  std::vector<TableFact> facts;

  std::string_view fact(std::string_view key) const;  // empty: it says nothing
};

// Reads a table in the form of topology::parse_measured. Throws Error with the first mistake of
// every wrong line.
KernelTable read_kernel_table(std::string_view csv, const std::string& file_name);

// The device's data sheet as YAML: the facts over the catalog's `base`, if one is named, and the
// table under the name `csv`. Throws Error for an unknown base, for facts that a device does not
// take, and for figures that neither the facts nor a base have.
std::string device_yaml(const KernelTable& table, const std::string& base, const std::string& csv);
// The device's data sheet as a device, without the table.
topology::Device device_of(const KernelTable& table, const std::string& base);

}  // namespace scenarios
