// SPDX-License-Identifier: Apache-2.0
// A grid of scenarios: one document, and axes along which values of it change.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "scenarios/documents/yaml.hpp"
#include "scenarios/sweeps/condition.hpp"

namespace scenarios {

// A path of the document that is varied, or several that change together.
struct Axis {
  std::vector<std::string> paths;          // "plan.tensor"
  std::vector<std::vector<Value>> values;  // by index along the axis, then by path
};

// A path of the document that follows from axes.
struct Follower {
  std::string path;               // "training.global_batch"
  std::vector<std::size_t> axes;  // in the grid's order
  std::vector<Value> values;      // one for each combination of them, the last axis fastest
};

// The values of a path of a condition over the whole grid.
struct Term {
  std::vector<std::size_t> axes;  // axes that decide the value
  std::vector<Operand> values;    // one for each combination of them, the last axis fastest
};

struct Grid {
  enum class Mode { simulate, search };

  std::string name;
  Mode mode = Mode::simulate;
  Value base;                    // the document that is varied
  std::filesystem::path folder;  // base of paths in the document
  Texts texts;                   // texts of files that scenarios name
  std::vector<Axis> axes;
  std::vector<Follower> followers;  // in the order in which they are set, before the axes
  std::string only_if;              // as it is written; empty: everywhere
  Condition condition;
  std::vector<Term> terms;         // one for each path of the condition
  std::vector<std::string> notes;  // what its reader should know that is no mistake
};

// Positions count the combinations of a grid from zero, the last axis fastest.
std::int64_t positions(const Grid& grid);  // how many there are; beyond 2^62: 2^62. O(axes)
std::vector<std::size_t> indices_at(const Grid& grid, std::int64_t position);  // along each axis

// The place of the chosen values among all combinations of these axes, the last one fastest.
std::size_t combination_of(const Grid& grid, std::span<const std::size_t> axes,
                           std::span<const std::size_t> indices);
// The inverse: an index along each axis of the grid, the first one along all others.
std::vector<std::size_t> indices_of(const Grid& grid, std::span<const std::size_t> axes,
                                    std::size_t combination);
// How many combinations these axes have.
std::size_t combinations(const Grid& grid, std::span<const std::size_t> axes);

// Whether the condition leaves a combination in. Throws ConditionError. O(axes + condition).
bool holds(const Grid& grid, std::int64_t position);
// The number of combinations that the condition admits. Throws ConditionError. O(positions).
std::int64_t count(const Grid& grid);

// The varied paths, axis by axis.
std::vector<std::string> axis_names(const Grid& grid);

// Returns, for every axis, its indices in the order of its values: numbers and quantities by size,
// before words by their letters.
std::vector<std::vector<std::size_t>> sorted_indices(const Grid& grid);
// Calls visit(position) for every combination, left in or not, in that order. O(positions).
template <class Visit>
void for_each_sorted(const Grid& grid, Visit visit);

}  // namespace scenarios

template <class Visit>
void scenarios::for_each_sorted(const Grid& grid, Visit visit) {
  const auto order = sorted_indices(grid);
  std::vector<std::int64_t> strides(order.size(), 1);
  for (std::size_t axis = order.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * static_cast<std::int64_t>(order[axis].size());
  const auto total = positions(grid);
  for (std::int64_t rank = 0; rank < total; ++rank) {
    std::int64_t position = 0, rest = rank;
    for (std::size_t axis = 0; axis < order.size(); ++axis) {
      position += strides[axis] * static_cast<std::int64_t>(
                                      order[axis][static_cast<std::size_t>(rest / strides[axis])]);
      rest %= strides[axis];
    }
    visit(position);
  }
}
