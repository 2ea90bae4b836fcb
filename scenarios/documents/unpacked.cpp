// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/unpacked.hpp"

#include <zlib.h>

#include <new>
#include <string>

namespace scenarios {
namespace {

constexpr std::size_t unpacked_block = std::size_t{1} << 18;
constexpr int with_gzip_header = 15 + 16;  // zlib: the largest window, plus 16

}  // namespace

struct Unpacked::Inflation {
  Inflation() {
    if (inflateInit2(&stream, with_gzip_header) != Z_OK) throw std::bad_alloc();
  }
  ~Inflation() { inflateEnd(&stream); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  // Whether the rest of the input begins like another member.
  bool at_member() const { return stream.next_in[0] == 0x1F; }

  z_stream stream{};
  bool within_member = true;
};

Unpacked::Unpacked(std::streambuf& packed, const UnpackLimits& limits)
    : packed_(packed), limits_(limits), output_(unpacked_block) {
  fill();
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(input_[i]); };
  if (input_.size() < 2 || byte(0) != 0x1F || byte(1) != 0x8B) return;
  inflation_ = std::make_unique<Inflation>();
  inflation_->stream.next_in = reinterpret_cast<Bytef*>(input_.data());
  inflation_->stream.avail_in = static_cast<uInt>(input_.size());
}

Unpacked::~Unpacked() = default;

bool Unpacked::fill() {
  input_.resize(unpacked_block);
  const auto got = packed_.sgetn(input_.data(), static_cast<std::streamsize>(unpacked_block));
  input_.resize(static_cast<std::size_t>(got));
  taken_ += input_.size();
  return !input_.empty();
}

// Unpacks the next bytes into `output_` and returns their number; 0 at the end.
std::size_t Unpacked::unpack() {
  auto& [stream, within_member] = *inflation_;
  stream.next_out = reinterpret_cast<Bytef*>(output_.data());
  stream.avail_out = static_cast<uInt>(output_.size());
  while (stream.avail_out == output_.size()) {
    if (stream.avail_in == 0) {
      const bool more = fill();
      stream.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream.avail_in = static_cast<uInt>(input_.size());
      if (!more && within_member)
        throw PackedMistake("cannot be unpacked; the compressed file is damaged or cut off");
      if (!more) return 0;
    }
    if (!within_member) {
      if (!inflation_->at_member()) return 0;
      inflateReset(&stream);
      within_member = true;
    }
    const int state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END)
      throw PackedMistake("cannot be unpacked; the compressed file is damaged or cut off");
    within_member = state != Z_STREAM_END;
  }
  return output_.size() - stream.avail_out;
}

Unpacked::int_type Unpacked::underflow() {
  char* begin = output_.data();
  std::size_t got = 0;
  if (inflation_) {
    got = unpack();
  } else if (given_ == 0 || fill()) {  // the first block is there already
    begin = input_.data();
    got = input_.size();
  }
  given_ += got;
  if (given_ > limits_.free && given_ / limits_.ratio > taken_)
    throw PackedMistake("unpacks to more than " + std::to_string(limits_.ratio) +
                        " times its size; no trace does that");
  if (got == 0) return traits_type::eof();
  setg(begin, begin, begin + got);
  return traits_type::to_int_type(*begin);
}

}  // namespace scenarios
