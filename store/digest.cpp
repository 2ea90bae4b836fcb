// SPDX-License-Identifier: Apache-2.0
#include "store/digest.hpp"

#include <xxhash.h>

namespace store {

std::string digest(std::string_view text) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits(text.data(), text.size()));
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const auto byte : bytes.digest) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

std::int64_t shard_of(std::string_view text, std::int64_t shards) {
  const auto hash = XXH3_64bits(text.data(), text.size());
  return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(shards));
}

}  // namespace store
