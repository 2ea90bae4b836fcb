// SPDX-License-Identifier: Apache-2.0
// The events by which a program uses memory, in the order in which its host issues them.
#pragma once
#include <cstdint>
#include <vector>

#include "allocator/settings.hpp"

namespace allocator {

using TensorId = std::uint32_t;  // dense; free to be used again when its tensor is freed
using StreamId = std::uint32_t;

struct Event {
  enum class Kind : std::uint8_t {
    allocate,       // `size` bytes for `tensor`, on `stream`
    free,           // `tensor`
    record_stream,  // work on `stream` uses `tensor` too: when freed, it waits for that work
    // The device has done all that `stream` had to do when `tensor` was freed (its last owner of
    // that name), and before.
    passes,
    synchronize,  // the device has done everything
    empty_cache,  // torch.cuda.empty_cache()
  };
  Kind kind = Kind::allocate;
  TensorId tensor = 0;
  StreamId stream = 0;
  Size size = 0;
};

using Events = std::vector<Event>;

}  // namespace allocator
