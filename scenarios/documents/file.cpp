// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/file.hpp"

#include <algorithm>
#include <system_error>
#include <vector>

#include "scenarios/documents/error.hpp"

namespace scenarios {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& text) {
  throw Error({{file.string(), text}});
}

[[noreturn]] void refuse_size(const fs::path& file, const Limits& limits) {
  fail(file, "larger than " + std::to_string(limits.bytes >> 20) +
                 " MiB; no more is read of such a file");
}

}  // namespace

std::filebuf open_file(const fs::path& file) {
  if (file.empty()) fail("a file without a name", "write its path");
  std::error_code wrong;
  const auto status = fs::status(file, wrong);
  if (status.type() == fs::file_type::not_found) fail(file, "no such file");
  if (wrong) fail(file, "cannot be read: " + wrong.message());
  if (fs::is_directory(status)) fail(file, "is a directory; expected a file");
  std::filebuf in;
  if (in.open(file, std::ios::in | std::ios::binary) == nullptr)
    fail(file, "cannot be opened for reading; check its permissions");
  return in;
}

std::string read_file(const fs::path& file, const Limits& limits) {
  auto in = open_file(file);
  std::error_code wrong;
  if (fs::is_regular_file(file, wrong) && fs::file_size(file, wrong) > limits.bytes)
    refuse_size(file, limits);
  // A pipe or device has no size: take one block more than allowed and judge then.
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  try {
    while (const auto got = in.sgetn(block.data(), static_cast<std::streamsize>(block.size()))) {
      text.append(block.data(), static_cast<std::size_t>(got));
      if (text.size() > limits.bytes) refuse_size(file, limits);
    }
  } catch (const std::ios_base::failure& failed) {
    fail(file, std::string("cannot be read: ") + failed.code().message());
  }
  return text;
}

fs::path Source::folder() const { return text ? fs::path() : file.parent_path(); }

void Source::tell(Files* read) const {
  if (read != nullptr && !text) read->push_back(file);
}

std::string Source::read(const Limits& limits) const {
  if (!text) return read_file(file, limits);
  if (text->size() > limits.bytes) refuse_size(file, limits);
  return *text;
}

const std::string& Texts::of(const fs::path& file, const Limits& limits) {
  const auto known = texts_.find(file);
  return known != texts_.end() ? known->second
                               : texts_.emplace(file, read_file(file, limits)).first->second;
}

bool Texts::any(const std::function<bool(std::string_view text)>& holds) const {
  return std::ranges::any_of(texts_, [&](const auto& one) { return holds(one.second); });
}

void Texts::tell(Files* read) const {
  if (read == nullptr) return;
  for (const auto& [file, text] : texts_) read->push_back(file);
}

const std::string* Texts::find(const fs::path& file) const {
  const auto known = texts_.find(file);
  return known == texts_.end() ? nullptr : &known->second;
}

}  // namespace scenarios
