// SPDX-License-Identifier: Apache-2.0
#include "app/headway.hpp"

#include "report/search/search.hpp"

namespace app {

Headway headway_of(const search::Progress& progress) {
  Headway headway{report::search_progress(progress),
                  {{"plans", static_cast<double>(progress.enumerated)},
                   {"plans_open", static_cast<double>(progress.open)}}};
  if (progress.best) headway.figures.emplace_back("best_s", progress.best->value);
  if (progress.bound) headway.figures.emplace_back("bound_s", progress.bound->value);
  return headway;
}

}  // namespace app
