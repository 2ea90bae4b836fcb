// SPDX-License-Identifier: Apache-2.0
#include "store/reading.hpp"

namespace store {

Reading::Reading(Database& database, const Identity& identity, const std::vector<Column>& columns)
    : database_(&database),
      points_(points_table(columns, identity.program)),
      places_(places_table(identity.fingerprint)),
      figures_(columns.size()),
      at_(database, selection(places_) + " WHERE position = ?"),
      each_(database, selection(places_) + " ORDER BY position"),
      point_(database, selection(points_) + " WHERE id = ?") {}

void Reading::check(const Statement& place) const {
  if (!sound(places_, place, 1))
    throw damage(*database_,
                 "position " + std::to_string(place.whole(0)) + " is not what was written");
}

Row Reading::row_of(const Statement& place) {
  check(place);
  const auto id = place.text(2);
  if (!point_.text(0, id).step() || !sound(points_, point_, 1))
    throw damage(*database_, "point " + id + " is not what was written");
  Row row{place.whole(1), id, place.text(3), point_.text(2), point_.text(3), point_.text(4),
          point_.text(5), {}};
  constexpr int first = 6;
  for (std::size_t i = 0; i < figures_ && !point_.empty(first); ++i)
    row.figures.push_back(point_.real(first + static_cast<int>(i)));
  point_.reset();
  return row;
}

std::optional<Row> Reading::at(std::int64_t position) {
  std::optional<Row> row;
  if (at_.whole(0, position).step()) row = row_of(at_);
  at_.reset();
  return row;
}

void Reading::each(const std::function<void(const Row&)>& visit) {
  each_.reset();
  while (each_.step()) visit(row_of(each_));
}

void Reading::each_place(const std::function<void(std::int64_t)>& visit) {
  each_.reset();
  for (; each_.step(); visit(each_.whole(1))) check(each_);
}

}  // namespace store
