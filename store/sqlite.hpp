// SPDX-License-Identifier: Apache-2.0
// Private to the room: SQLite with the settings that keep data safe, and errors that give advice.
#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "store/checksum.hpp"

namespace store {

// Advice about a damaged store, for use behind a semicolon.
constexpr const char* repair_words =
    "run its sweep, or its shard, again with --repair: it keeps what is sound, and this file under "
    "another name";

class Database {
 public:
  // `flags` are those of sqlite3_open_v2. For one thread at a time. Throws Error.
  Database(const std::filesystem::path& file, int flags) : Database(file, flags, file) {}
  // Opens `file`, which errors call `name`.
  Database(const std::filesystem::path& file, int flags, const std::filesystem::path& name);

  const std::filesystem::path& file() const { return file_; }  // as errors call it
  sqlite3* handle() const { return handle_.get(); }
  void run(const std::string& sql);         // statements without results
  std::string ask(const std::string& sql);  // the first column of the first row, or ""
  std::int64_t changed() const { return sqlite3_changes(handle()); }  // rows, by the last statement
  // Sets whether closing leaves the file and its log beside it as they are.
  void leave_log(bool leave);
  void close() { handle_.reset(); }
  [[noreturn]] void fail(int code) const;  // Throws Error; Damaged where the file is

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// A prepared statement; parameters and columns count from zero.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);

  Statement& text(int parameter, std::string_view value);
  Statement& whole(int parameter, std::int64_t value);
  Statement& real(int parameter, double value);
  Statement& nothing(int parameter);
  Statement& same(int parameter, const Statement& other, int column);  // a value, its type too

  bool step();   // whether there is a row
  void once();   // step to the end, and ready for the next values
  void reset();  // ready for the next values

  std::string text(int column) const { return std::string(view(column)); }
  std::string_view view(int column) const;  // until the next step
  std::int64_t whole(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  bool empty(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  void put_into(Content& content, int column) const;  // the value with its type

 private:
  void check(int code) const;
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// A transaction from its construction to commit(); without commit() nothing happened.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(&database) {
    database.run("BEGIN IMMEDIATE");
  }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database* database_;
};

}  // namespace store
