// SPDX-License-Identifier: Apache-2.0
#include "search/solvers/trellis.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace search {

namespace {

using Class = std::uint32_t;

// classes[v][k]: paths k of equal class continue alike from virtual stage v.
std::vector<std::vector<Class>> suffix_classes(std::span<const Path> paths) {
  const auto stages = paths.front().size();
  std::vector<std::vector<Class>> classes(stages + 1, std::vector<Class>(paths.size(), 0));
  for (auto v = stages; v-- > 0;) {
    std::map<std::pair<Visits, Class>, Class> names;
    for (std::size_t k = 0; k < paths.size(); ++k)
      classes[v][k] =
          names.try_emplace({paths[k][v], classes[v + 1][k]}, static_cast<Class>(names.size()))
              .first->second;
  }
  return classes;
}

}  // namespace

Trellis fold(std::span<const Path> paths) {
  const auto suffixes = suffix_classes(paths);
  const auto stages = paths.front().size();
  Trellis result;
  result.states.push_back(1);
  std::vector<Class> prefix(paths.size(), 0), state(paths.size(), 0);
  for (std::size_t v = 0; v < stages; ++v) {
    std::map<std::pair<Class, Visits>, Class> names;
    for (std::size_t k = 0; k < paths.size(); ++k)
      prefix[k] = names.try_emplace({prefix[k], paths[k][v]}, static_cast<Class>(names.size()))
                      .first->second;
    std::vector<std::set<Class>> futures(names.size());
    for (std::size_t k = 0; k < paths.size(); ++k) futures[prefix[k]].insert(suffixes[v + 1][k]);
    std::map<std::set<Class>, Class> states;
    std::set<std::tuple<Class, Class, Visits>> arcs;
    for (std::size_t k = 0; k < paths.size(); ++k) {
      const auto to =
          states.try_emplace(futures[prefix[k]], static_cast<Class>(states.size())).first->second;
      arcs.insert({state[k], to, paths[k][v]});
      state[k] = to;
    }
    result.states.push_back(static_cast<std::uint32_t>(states.size()));
    auto& list = result.arcs.emplace_back();
    for (const auto& [from, to, visits] : arcs) list.push_back({from, to, visits});
  }
  return result;
}

}  // namespace search
