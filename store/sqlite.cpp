// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.hpp"

#include "store/values.hpp"

namespace store {
namespace {

std::string advice(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "the disk is full; make room and run the same command again: what is finished stays";
    case SQLITE_READONLY:
      if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY)
        return "its writer was killed in the middle of a change; run its sweep again, which takes "
               "that back and goes on";
      [[fallthrough]];
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "cannot be opened or written; is its folder there, and writable?";
    case SQLITE_NOTADB:
      return "is no store of a sweep, or damaged; name another file, or " +
             std::string(repair_words);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // SQL is never wrong here, but the tables that it asks for may be
      return "is damaged; " + std::string(repair_words);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process writes to it; wait until that has ended";
    case SQLITE_IOERR:
      return "cannot be read or written; is the disk full or broken? What is finished stays";
    default:
      return "";
  }
}

bool is_damage(int code) {
  const int kind = code & 0xff;
  return kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT || kind == SQLITE_ERROR;
}

}  // namespace

Database::Database(const std::filesystem::path& file, int flags, const std::filesystem::path& name)
    : file_(name) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code);
  sqlite3_busy_timeout(handle, 10'000);  // another process that only reads is soon done
}

void Database::fail(int code) const {
  const int exact = handle_ ? sqlite3_extended_errcode(handle_.get()) : code;
  const auto words = advice((exact & 0xff) == (code & 0xff) ? exact : code);
  const std::string said = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  const auto text = file_.string() + ": " + (words.empty() ? "" : words + " (") + said +
                    (words.empty() ? "" : ")");
  if (is_damage(code)) throw Damaged(text);
  throw Error(text);
}

void Database::leave_log(bool leave) {
  sqlite3_db_config(handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave ? 1 : 0, nullptr);
}

void Database::run(const std::string& sql) {
  const int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::string Database::ask(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : "";
}

Statement::Statement(Database& database, const std::string& sql) : database_(&database) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &handle, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) database.fail(code);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_->fail(code);
}

Statement& Statement::text(int parameter, std::string_view value) {
  check(sqlite3_bind_text(handle_.get(), parameter + 1, value.data(),
                          static_cast<int>(value.size()), SQLITE_TRANSIENT));
  return *this;
}
Statement& Statement::whole(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), parameter + 1, value));
  return *this;
}
Statement& Statement::real(int parameter, double value) {
  check(sqlite3_bind_double(handle_.get(), parameter + 1, value));
  return *this;
}
Statement& Statement::nothing(int parameter) {
  check(sqlite3_bind_null(handle_.get(), parameter + 1));
  return *this;
}
Statement& Statement::same(int parameter, const Statement& other, int column) {
  check(sqlite3_bind_value(handle_.get(), parameter + 1,
                           sqlite3_column_value(other.handle_.get(), column)));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  reset();
  database_->fail(code);
}

void Statement::reset() { sqlite3_reset(handle_.get()); }

void Statement::once() {
  step();
  reset();
}

std::string_view Statement::view(int column) const {
  const auto* bytes = sqlite3_column_text(handle_.get(), column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

void Statement::put_into(Content& content, int column) const {
  switch (sqlite3_column_type(handle_.get(), column)) {
    case SQLITE_INTEGER:
      content.whole(whole(column));
      break;
    case SQLITE_FLOAT:
      content.real(real(column));
      break;
    case SQLITE_TEXT:
      content.text(view(column));
      break;
    case SQLITE_NULL:
      content.nothing();
      break;
    default:  // bytes, which no column here has: no row that was written reads so
      content.nothing().text(view(column));
  }
}

Transaction::~Transaction() {
  if (database_ != nullptr && database_->handle() != nullptr)
    sqlite3_exec(database_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_->run("COMMIT");
  database_ = nullptr;
}

}  // namespace store
