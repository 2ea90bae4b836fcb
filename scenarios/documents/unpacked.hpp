// SPDX-License-Identifier: Apache-2.0
// Text that may be compressed by gzip, unpacked while it is read.
#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <streambuf>
#include <vector>

namespace scenarios {

// Limits of unpacking: `free` bytes, and beyond them at most `ratio` times the archive's size.
// Traces shrink ten- to fiftyfold; an archive that shrank more was made to exhaust its reader.
struct UnpackLimits {
  std::uintmax_t free = std::uintmax_t{16} << 20;
  std::uintmax_t ratio = 200;
};

// An archive that is damaged, cut off or beyond the limits.
struct PackedMistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Gives the bytes of `packed` as they are, or unpacked if it begins as gzip does. Members of an
// archive come one after the other; bytes behind them that are no member are passed over. Reading
// throws PackedMistake.
class Unpacked : public std::streambuf {
 public:
  explicit Unpacked(std::streambuf& packed, const UnpackLimits& limits = {});
  ~Unpacked() override;

 protected:
  int_type underflow() override;

 private:
  struct Inflation;
  bool fill();
  std::size_t unpack();

  std::streambuf& packed_;
  UnpackLimits limits_;
  std::vector<char> input_, output_;
  std::unique_ptr<Inflation> inflation_;  // null: it is not compressed
  std::uintmax_t taken_ = 0, given_ = 0;  // bytes
};

}  // namespace scenarios
