// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/ended_copies.hpp"

#include <algorithm>

#include "scenarios/shell/pipes.hpp"

namespace scenarios {

void EndedCopies::add(int copy, std::optional<bool> success, bool sure) {
  const auto [known, first] = ended_.try_emplace(copy, End{sure ? success : std::nullopt, sure});
  if (first) return;
  known->second.success = {};  // it may have ended before
  known->second.sure = known->second.sure || sure;
}

bool EndedCopies::skip(const Statement& statement) const {
  return !ended_.empty() && std::ranges::any_of(statement.shells, [&](int copy) {
    const auto found = ended_.find(copy);
    return found != ended_.end() && found->second.sure;
  });
}

void EndedCopies::settle(std::span<const Statement> statements, std::size_t i,
                         Conditions& conditions) const {
  const auto& statement = statements[i];
  if (ended_.empty() || !is_syntax(statement) || !closes_block(statement.words.front().text))
    return;
  for (const auto copy : statement.shells) {
    const auto found = ended_.find(copy);
    const bool last =
        i + 1 == statements.size() ||
        std::ranges::find(statements[i + 1].shells, copy) == statements[i + 1].shells.end();
    if (last && found != ended_.end()) conditions.set_status(found->second.success);
  }
}

}  // namespace scenarios
