// SPDX-License-Identifier: Apache-2.0
#include "store/digest.hpp"

#include <xxhash.h>

#include "store/checksum.hpp"

namespace store {

std::string digest(std::string_view text) {
  const auto hash = XXH3_128bits(text.data(), text.size());
  return to_text(Sum{hash.high64, hash.low64});
}

std::int64_t shard_of(std::string_view text, std::int64_t shards) {
  const auto hash = XXH3_64bits(text.data(), text.size());
  return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(shards));
}

}  // namespace store
