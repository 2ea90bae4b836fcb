// SPDX-License-Identifier: Apache-2.0
#include "store/inserter.hpp"

#include <cmath>

namespace store {
namespace {

std::string insertion(const Table& table) {
  std::string values = "?";
  for (int i = 0; i < table.width; ++i) values += ", ?";
  return "INSERT OR IGNORE INTO " + table.name + " (" + table.columns + ", checksum) VALUES (" +
         values + ")";
}

// A row's values, bound to a statement and taken into its checksum alike.
class Values {
 public:
  Values(Statement& statement, const Table& table)
      : statement_(&statement), content_(table.name, table.salt) {}
  Values& text(const std::string& value) {
    statement_->text(next_++, value);
    content_.text(value);
    return *this;
  }
  Values& whole(std::int64_t value) {
    statement_->whole(next_++, value);
    content_.whole(value);
    return *this;
  }
  // SQLite keeps no number that is none, and no sign of a zero.
  Values& real(double value) {
    if (std::isnan(value)) return nothing();
    statement_->real(next_++, value + 0.0);
    content_.real(value + 0.0);
    return *this;
  }
  Values& nothing() {
    statement_->nothing(next_++);
    content_.nothing();
    return *this;
  }
  Sum put() {
    const auto checksum = content_.checksum();
    statement_->text(next_, to_text(checksum)).once();
    return checksum;
  }

 private:
  Statement* statement_;
  Content content_;
  int next_ = 0;
};

}  // namespace

Inserter::Inserter(Database& database, const Meta& meta, const std::vector<Column>& columns)
    : database_(&database),
      columns_(columns),
      points_(points_table(columns, meta.identity.program)),
      places_(places_table(meta.identity.fingerprint)),
      insert_point_(database, insertion(points_)),
      insert_place_(database, insertion(places_)),
      find_place_(database, selection(places_) + " WHERE position = ?"),
      delete_place_(database, "DELETE FROM places WHERE position = ?"),
      find_point_(database, "SELECT 1 FROM points WHERE id = ?"),
      seal_(database, meta.identity, columns),
      digest_(meta.digest) {}

void Inserter::add(const Row& row) {
  add_place(row);
  if (!row.status.empty()) add_point(row);
}

void Inserter::add_point(const Row& row) {
  Values values(insert_point_, points_);
  values.text(row.id).text(row.status).text(row.reason).text(row.scenario).text(row.result);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (row.figures.empty())
      values.nothing();
    else if (columns_[i].whole)
      values.whole(static_cast<std::int64_t>(row.figures[i]));
    else
      values.real(row.figures[i]);
  }
  const auto checksum = values.put();
  if (database_->changed() > 0) digest_.points.add(checksum);
}

void Inserter::add_place(const Row& row) {
  const auto put = [&] {
    const auto checksum =
        Values(insert_place_, places_).whole(row.position).text(row.id).text(row.axes).put();
    if (database_->changed() == 0) return false;
    digest_.places.add(checksum);
    return true;
  };
  if (put()) return;
  remove_place(row.position);
  put();
}

void Inserter::remove_place(std::int64_t position) {
  const bool found = find_place_.whole(0, position).step();
  const auto checksum = found ? sound(places_, find_place_, 1) : std::nullopt;
  find_place_.reset();
  if (!checksum)
    throw damage(*database_, "position " + std::to_string(position) + " is not what was written");
  delete_place_.whole(0, position).once();
  digest_.places.remove(*checksum);
}

bool Inserter::copy(Statement& insert, const Table& table, const Statement& row) {
  for (int i = 0; i <= table.width; ++i) insert.same(i, row, i + 1);
  insert.once();
  return database_->changed() > 0;
}

void Inserter::copy_point(const Statement& row, const Sum& checksum) {
  if (copy(insert_point_, points_, row)) digest_.points.add(checksum);
}

void Inserter::copy_place(const Statement& row, const Sum& checksum) {
  if (copy(insert_place_, places_, row)) digest_.places.add(checksum);
}

bool Inserter::has_point(const std::string& id) {
  const bool found = find_point_.text(0, id).step();
  find_point_.reset();
  return found;
}

void Inserter::seal() {
  ++digest_.commits;
  seal_.put(digest_);
}

}  // namespace store
