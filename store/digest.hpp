// SPDX-License-Identifier: Apache-2.0
// Names for texts that are the same on every machine.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace store {

// XXH128 of the bytes in 32 hexadecimal digits (xxhash.com, its canonical representation): among a
// million texts two share one with a probability of 1e-27.
std::string digest(std::string_view text);

// The shard, of so many from zero, that a text belongs to.
std::int64_t shard_of(std::string_view text, std::int64_t shards);

}  // namespace store
