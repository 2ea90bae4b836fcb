// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

#include "app/open.hpp"

extern char** environ;

namespace app {
namespace {

// "file:///a%20b.html": all but letters, digits and a few signs in hexadecimal.
std::string address_of(const std::filesystem::path& file) {
  constexpr std::string_view hex = "0123456789ABCDEF", plain = "/-._~";
  std::string address = "file://";
  for (const char c : std::filesystem::absolute(file).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || plain.find(c) != plain.npos)
      address += c;
    else
      address += {'%', hex[byte >> 4], hex[byte & 15]};
  }
  return address;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != 0;
}

// Programs that may open the page, in the order in which they are tried.
std::vector<std::string> browsers() {
  std::vector<std::string> all;
  if (const char* named = std::getenv("BROWSER")) {
    std::istringstream list(named);
    for (std::string one; std::getline(list, one, ':');)
      if (!one.empty()) all.push_back(one);
  }
#ifdef __APPLE__
  all.emplace_back("open");
#else
  if (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) all.emplace_back("xdg-open");
#endif
  return all;
}

std::vector<std::string> words_of(const std::string& command, const std::string& address) {
  std::vector<std::string> words;
  std::istringstream in(command);
  bool placed = false;
  for (std::string word; in >> word; words.push_back(word))
    if (const auto at = word.find("%s"); at != word.npos) {
      word.replace(at, 2, address);
      placed = true;
    }
  if (!placed) words.push_back(address);
  return words;
}

// Whether the program could be started: in a session of its own, so that it outlives this program's
// terminal, and with its standard streams on /dev/null.
bool starts(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
#ifdef POSIX_SPAWN_SETSID
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
#endif
  pid_t child = 0;
  const int wrong =
      posix_spawnp(&child, arguments.front(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return wrong == 0;
}

}  // namespace

std::string open_in_browser(const std::filesystem::path& file) {
  const auto address = address_of(file);
  for (const auto& browser : browsers())
    if (starts(words_of(browser, address))) return browser;
  return {};
}

}  // namespace app
