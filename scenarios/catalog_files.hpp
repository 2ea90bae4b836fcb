// SPDX-License-Identifier: Apache-2.0
// The catalog's files as they were when the program was built.
#pragma once
#include <span>
#include <string_view>

namespace scenarios {

struct CatalogFile {
  std::string_view path;  // relative to scenarios/catalog: "models/gpt3-175b.yaml"
  std::string_view text;
};

// Returns every .yaml, .csv and .json file under scenarios/catalog, sorted by path. The texts live
// as long as the program.
std::span<const CatalogFile> catalog_files();

}  // namespace scenarios
