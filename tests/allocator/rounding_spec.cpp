// SPDX-License-Identifier: Apache-2.0
#include "allocator/settings.hpp"
#include "tests/catch.hpp"

namespace rounding_spec {

using allocator::kib, allocator::mib, allocator::gib;
using allocator::rounded;
using allocator::segment_for;
using allocator::Settings;
using allocator::Size;

TEST_CASE("sizes are rounded up to a multiple of 512 bytes, at least 512") {
  CHECK(rounded(0, {}) == 512);
  CHECK(rounded(1, {}) == 512);
  CHECK(rounded(512, {}) == 512);
  CHECK(rounded(513, {}) == 1024);
  CHECK(rounded(mib + 1, {}) == mib + 512);
}

TEST_CASE("sizes are rounded up to divisions of the power of two below them") {
  Settings settings;
  settings.roundup_power2_divisions.fill(4);
  // The sizes from 1024 to 2048 have four divisions: 1024, 1280, 1536, 1792.
  CHECK(rounded(1200 * kib, settings) == 1280 * kib);
  CHECK(rounded(1280 * kib, settings) == 1280 * kib);
  CHECK(rounded(1281 * kib, settings) == 1536 * kib);
  CHECK(rounded(1900 * kib, settings) == 2048 * kib);
  CHECK(rounded(2048 * kib, settings) == 2048 * kib);
  // Sizes up to 512 bytes times the divisions are rounded to multiples of 512 bytes.
  CHECK(rounded(2048, settings) == 2048);
  CHECK(rounded(1100, settings) == 1536);
  CHECK(rounded(2049, settings) == 2560);
}

TEST_CASE("each power of two from 1 MiB on has divisions of its own") {
  Settings settings;
  settings.roundup_power2_divisions[0] = 2;  // below 2 MiB
  settings.roundup_power2_divisions[8] = 8;  // 256 to 512 MiB
  settings.roundup_power2_divisions[15] = 1;
  CHECK(rounded(17 * kib, settings) == 24 * kib);
  CHECK(rounded(1500 * kib, settings) == 1536 * kib);
  CHECK(rounded(5 * mib + 1, settings) == 5 * mib + 512);
  CHECK(rounded(257 * mib, settings) == 288 * mib);
  CHECK(rounded(513 * mib, settings) == 513 * mib);
  CHECK(rounded(100 * gib + 1, settings) == 100 * gib + 512);
  settings.roundup_power2_divisions[15] = 2;  // from 32 GiB on, however large
  CHECK(rounded(100 * gib, settings) == 128 * gib);
}

TEST_CASE("a segment is 2 MiB for small blocks, 20 MiB below 10 MiB, then as large as asked") {
  CHECK(segment_for(512) == 2 * mib);
  CHECK(segment_for(mib) == 2 * mib);
  CHECK(segment_for(mib + 512) == 20 * mib);
  CHECK(segment_for(10 * mib - 512) == 20 * mib);
  CHECK(segment_for(10 * mib) == 10 * mib);
  CHECK(segment_for(11 * mib) == 12 * mib);
  CHECK(segment_for(20 * mib + 512) == 22 * mib);
}

}  // namespace rounding_spec
