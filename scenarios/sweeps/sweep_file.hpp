// SPDX-License-Identifier: Apache-2.0
// A sweep as people write it: a base scenario, axes, and a condition.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "forecast/scenario.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/sweeps/grid.hpp"
#include "search/search.hpp"

namespace scenarios {

inline constexpr std::int64_t most_positions = 10'000'000;  // most positions of one grid

// Reads a sweep from YAML text; a base that is named is read from `folder`. `sets` that begin with
// a key of a sweep change the sweep (vary.plan.tensor=[1, 2]), the others its base. Throws Error
// with every mistake of the sweep; mistakes of single combinations of values come out when their
// points are read. O(text + positions), the condition being tried everywhere. `read` receives the
// files that the sweep names, and those that its points will read.
Grid read_grid(std::string_view text, const std::string& file_name,
               std::span<const std::string> sets = {}, const std::filesystem::path& folder = {},
               Files* read = nullptr);

// Reads a sweep from a file; its paths start from the file's folder. `read` receives the file, too.
Grid load_grid(const Source& source, std::span<const std::string> sets = {}, Files* read = nullptr);

// Returns the grid as a sweep file in JSON that needs no other files than those that scenarios
// name. Grids with equal text have the same points at the same positions, if those files are the
// same.
std::string definition(const Grid& grid);

// Returns the contents of the files that the grid's scenarios name: configs of models, measured
// kernels; empty if they name none.
std::string files_beside(const Grid& grid);

// JSON Schema (draft 2020-12) of a sweep file.
std::string sweep_schema();

// One combination as a scenario or as a question, or the reasons why it is none: the complaints
// without places.
template <class T>
struct PointRead {
  std::optional<T> value;
  std::string reason;
};

// Reads points one after the other and remembers their common parts. Use one for each thread; the
// grid must outlive it.
class PointReader {
 public:
  explicit PointReader(const Grid& grid);
  ~PointReader();

  // Returns the base with the values at that position.
  std::string document(std::int64_t position);  // as JSON
  PointRead<forecast::Scenario> scenario(std::int64_t position);
  PointRead<search::Question> question(std::int64_t position);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace scenarios
