// SPDX-License-Identifier: Apache-2.0
// The files that a command writes. Files that it reads, devices and pipes are never replaced.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace app {

struct Common;

// Writes a plain file whole or not at all: beside it, under a name of nobody else's, and then in
// its place. A link stays, and its target is written. The mode stays, and the owner where that is
// allowed; a new file has the mode that the umask leaves. Other hard links to the same file keep
// the old content. A device, a pipe or an open stream (/dev/stdout) is written into and not
// replaced. Throws Mistake, and whatever `write` throws.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& write);
void write_file(const std::string& path, const std::string& bytes);

// Throws Mistake if write_file would refuse the file now; touches nothing.
void check_writable(const std::string& path);

// The identity of a file, equal for all its names: its disk and its number there. A file that does
// not exist yet has those of its folder, and its name.
struct FileIdentity {
  dev_t disk = 0;
  ino_t number = 0;
  std::string name;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
// The place of a file; none for a device, a pipe, an open stream or a folder, and if its folder is
// missing.
std::optional<FileIdentity> identity_of(const std::filesystem::path& file);
std::optional<FileIdentity> identity_of_folder(
    const std::filesystem::path& folder);  // "": this one

struct Output {
  std::string option;  // "--csv"
  std::string path;    // empty: not asked for
  bool store = false;  // it is added to, not replaced
};

// The outputs of one command. A command makes this before it computes anything, so that an output
// which cannot be written, or would destroy an input, is refused at once. Devices and pipes are
// never refused: writing into them destroys nothing.
class Outputs {
 public:
  // --output, --trace, --report and further outputs. Throws Mistake for one that cannot be written,
  // and if two of them are the same file.
  explicit Outputs(const Common& common, const std::vector<Output>& others = {});

  // Throws Mistake where one of them would overwrite one of these files.
  void spare(const std::vector<std::filesystem::path>& read) const;
  // Throws Mistake where an output would overwrite a store, finished or not, or one of the files
  // that SQLite keeps beside it. Adding to a store is allowed.
  void spare_store(const std::filesystem::path& store) const;

 private:
  struct Written {
    Output output;
    FileIdentity place;
  };
  void add(const Output& output);
  void add_trace(const std::string& path);
  const Output* at(const std::filesystem::path& file) const;  // that file; null: none

  std::vector<Written> written_;
  std::optional<Written> ranks_;  // a trace that is a folder: any of its ranks may be written
};

}  // namespace app
