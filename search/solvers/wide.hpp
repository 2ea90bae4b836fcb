// SPDX-License-Identifier: Apache-2.0
// Products of bytes and picoseconds do not fit 64 bits.
#pragma once
#include <cstdint>

namespace search {

__extension__ typedef __int128 Wide;

}  // namespace search
