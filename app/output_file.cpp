// SPDX-License-Identifier: Apache-2.0
// Writes files without harm to what was there.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <random>
#include <streambuf>
#include <system_error>
#include <utility>

#include "app/command.hpp"
#include "app/files.hpp"

namespace app {

namespace fs = std::filesystem;

namespace {

Mistake cannot_write(const std::string& path, int why) {
  return Mistake("cannot write '" + path + "' (" + std::generic_category().message(why) +
                 "); is its folder there, writable and not full?");
}

// The file or stream that writing to a path reaches.
struct Target {
  fs::path file;          // no link; it may not be there yet
  int descriptor = -1;    // of an open stream of this program that the path stands for
  bool there = false;     // whether the file exists
  struct stat status {};  // of the file, if it exists
  int wrong = 0;          // errno of the failure to tell; 0: none

  bool replaceable() const { return descriptor < 0 && (!there || S_ISREG(status.st_mode)); }
  fs::path folder() const { return file.has_parent_path() ? file.parent_path() : fs::path("."); }
};

// Follows links one by one: the last may lead to a file that is not there yet, and those of
// /proc/self/fd, as /dev/stdout is one, stand for streams that are open.
Target target_of(const fs::path& path) {
  constexpr int most_links = 40;  // as many as the system follows
  std::error_code wrong;
  const auto streams = fs::canonical("/proc/self/fd", wrong);
  Target target;
  target.file = path;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target.file, wrong)); ++links) {
    if (links == most_links) {
      target.wrong = ELOOP;
      return target;
    }
    if (!streams.empty() && fs::canonical(target.folder(), wrong) == streams) {
      target.descriptor = std::atoi(target.file.filename().c_str());
      return target;
    }
    target.file = target.file.parent_path() / fs::read_symlink(target.file, wrong);
  }
  target.there = stat(path.c_str(), &target.status) == 0;
  if (!target.there && errno != ENOENT) target.wrong = errno;
  if (!target.replaceable()) target.file = path;  // writing into it follows the links again
  return target;
}

bool may(const fs::path& file, int how) {
  return faccessat(AT_FDCWD, file.c_str(), how, AT_EACCESS) == 0;
}

// Throws Mistake for a target that can not be written to.
Target writable(const std::string& path) {
  auto target = target_of(path);
  if (target.wrong != 0) throw cannot_write(path, target.wrong);
  if (target.descriptor >= 0) return target;
  if (target.there && S_ISDIR(target.status.st_mode))
    throw Mistake("cannot write '" + path + "': it is a folder");
  if (target.there && !may(target.file, W_OK))
    throw Mistake("cannot write '" + path + "': it may only be read; name another file");
  if (target.replaceable() && !may(target.folder(), W_OK | X_OK)) throw cannot_write(path, errno);
  return target;
}

// Writes to an open descriptor and closes it, and remembers why it failed.
class Descriptor : public std::streambuf {
 public:
  explicit Descriptor(int number) : number_(number) { setp(block_.begin(), block_.end()); }
  ~Descriptor() override { end(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  int wrong() const { return wrong_; }  // of errno; 0: nothing so far
  void end() {
    if (number_ < 0) return;
    sync();
    if (close(std::exchange(number_, -1)) != 0 && wrong_ == 0) wrong_ = errno;
  }

 protected:
  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    return sputc(traits_type::to_char_type(c));
  }
  int sync() override {
    for (const char* at = pbase(); at < pptr() && wrong_ == 0;) {
      const auto written = ::write(number_, at, static_cast<std::size_t>(pptr() - at));
      if (written >= 0)
        at += written;
      else if (errno != EINTR)
        wrong_ = errno;
    }
    setp(block_.begin(), block_.end());
    return wrong_ == 0 ? 0 : -1;
  }

 private:
  int number_;
  int wrong_ = 0;
  std::array<char, std::size_t{1} << 16> block_;
};

// Makes writing to a pipe that nobody reads fail, while an object of it lives, instead of ending
// the program.
class PipeSignal {
 public:
  PipeSignal() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~PipeSignal() { std::signal(SIGPIPE, before_); }
  PipeSignal(const PipeSignal&) = delete;
  PipeSignal& operator=(const PipeSignal&) = delete;

 private:
  void (*before_)(int);
};

// A new file under a name of its own, which the destructor removes unless it took the place of
// another.
class Part {
 public:
  // Throws Mistake in the words of `path`.
  Part(const Target& target, const std::string& path) {
    const auto mode = target.there ? S_IRUSR | S_IWUSR : 0666;
    for (int tries = 0; number_ < 0; ++tries) {
      file_ = name_beside(target);
      number_ = open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (number_ < 0 && (errno != EEXIST || tries == 100)) throw cannot_write(path, errno);
    }
  }
  ~Part() {
    if (!file_.empty()) unlink(file_.c_str());
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  int number() const { return number_; }
  // Renames the new file to `file`. Returns 0, or the errno of the failure.
  int take_place_of(const fs::path& file) {
    if (std::rename(file_.c_str(), file.c_str()) != 0) return errno;
    file_.clear();
    return 0;
  }

 private:
  // Returns a hidden path in the target's folder, short enough even if the target's name is as long
  // as names may be.
  static fs::path name_beside(const Target& target) {
    constexpr std::size_t most = 200, letters = 6;
    constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
    auto name = "." + target.file.filename().string().substr(0, most) + ".stepcast-";
    std::random_device random;
    for (std::size_t i = 0; i < letters; ++i) name += alphabet[random() % alphabet.size()];
    return target.folder() / name;
  }

  fs::path file_;
  int number_ = -1;
};

// Gives the new file the owner, group and mode of the old one, as far as this user may. If the
// group has to change, its members get no more rights than everybody had.
void keep_rights(int number, const struct stat& before) {
  auto mode = before.st_mode & 07777;
  if (fchown(number, before.st_uid, before.st_gid) != 0) {
    mode &= 0777;
    if (fchown(number, static_cast<uid_t>(-1), before.st_gid) != 0)
      mode = (mode & 0707) | (mode & (mode << 3) & 0070);
  }
  fchmod(number, mode);
}

void replace(const Target& target, const std::string& path,
             const std::function<void(std::ostream&)>& write) {
  Part part(target, path);
  Descriptor into(part.number());
  if (target.there) keep_rights(into.number(), target.status);
  std::ostream out(&into);
  write(out);
  into.end();
  if (into.wrong() != 0) throw cannot_write(path, into.wrong());
  if (const int why = part.take_place_of(target.file); why != 0) throw cannot_write(path, why);
}

void pour(const Target& target, const std::string& path,
          const std::function<void(std::ostream&)>& write) {
  const auto fail = [&](int why) {
    throw Mistake("cannot write into '" + path + "' (" + std::generic_category().message(why) +
                  ")" + (why == EPIPE ? "; its reader went away before the end" : ""));
  };
  const int number = target.descriptor >= 0
                         ? fcntl(target.descriptor, F_DUPFD_CLOEXEC, 0)
                         : open(target.file.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (number < 0) fail(errno);
  const PipeSignal fails;
  Descriptor into(number);
  std::ostream out(&into);
  write(out);
  into.end();
  if (into.wrong() != 0) fail(into.wrong());
}

}  // namespace

void write_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  const auto target = writable(path);
  target.replaceable() ? replace(target, path, write) : pour(target, path, write);
}

void write_file(const std::string& path, const std::string& bytes) {
  write_file(path, [&](std::ostream& out) {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
}

void check_writable(const std::string& path) { writable(path); }

std::optional<FileIdentity> identity_of_folder(const fs::path& folder) {
  struct stat status {};
  if (stat(folder.empty() ? "." : folder.c_str(), &status) != 0) return {};
  return FileIdentity{status.st_dev, status.st_ino, {}};
}

std::optional<FileIdentity> identity_of(const fs::path& file) {
  const auto target = target_of(file);
  if (target.wrong != 0 || !target.replaceable()) return {};
  if (target.there) return FileIdentity{target.status.st_dev, target.status.st_ino, {}};
  auto place = identity_of_folder(target.folder());
  if (place) place->name = target.file.filename().string();
  return place;
}

}  // namespace app
