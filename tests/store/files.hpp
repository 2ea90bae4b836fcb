// SPDX-License-Identifier: Apache-2.0
// Small stores in a folder of their own, and their complaints.
#pragma once
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace tests {

namespace fs = std::filesystem;

// A folder that is removed at the end of the test.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / ("store_" + std::to_string(std::random_device()()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

inline const std::vector<store::Column> columns{{"time_s", false}, {"gpus", true}};

inline store::Identity identity(const std::string& fingerprint = "f") {
  return {"1.0", "{}", "simulate over plan.tensor", fingerprint, "/", {}, 3};
}

inline store::Row row(std::int64_t position, double time = 1.5) {
  return {position,
          "id" + std::to_string(position),
          "{\"plan.tensor\": 1}",
          "ok",
          "",
          "{\"a\":1}",
          "{\"b\":2}",
          {time, 8}};
}

// The complaint of an action, without the folder.
template <class Do>
std::string complaint(Do&& act) {
  try {
    act();
  } catch (const store::Error& wrong) {
    const std::string text = wrong.what();
    return text.substr(text.rfind('/', text.find(": ")) + 1);
  }
  return "none";
}

inline std::string bytes_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

inline void put_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

inline void overwrite(const fs::path& file, std::size_t at, std::size_t length) {
  auto bytes = bytes_of(file);
  bytes.replace(at, length, std::string(length, '\x5a'));
  put_bytes(file, bytes);
}

// Runs SQL on a file that may be a store, as a user's own tools do. Returns whether that worked.
inline bool execute(const fs::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  const bool done = sqlite3_open(file.c_str(), &database) == SQLITE_OK &&
                    sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(database);
  return done;
}

}  // namespace tests
