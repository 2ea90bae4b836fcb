// SPDX-License-Identifier: Apache-2.0
// Private to the room: allocations and frees as they are written down.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "forecast/memory_replay.hpp"
#include "strategies/block_tensors.hpp"

namespace forecast {

// Events in order, of tensors that have names.
class TensorLog {
 public:
  TensorLog(allocator::Events& events, std::vector<NamedTensor>& tensors)
      : events_(&events), tensors_(tensors) {}

  // Goes on writing to another list, with the same tensors.
  void write_to(allocator::Events& events) { events_ = &events; }

  allocator::TensorId allocate(std::int64_t bytes, NamedTensor tensor) {
    const auto id = static_cast<allocator::TensorId>(tensors_.size());
    tensors_.push_back(std::move(tensor));
    events_->push_back({allocator::Event::Kind::allocate, id, 0, bytes});
    return id;
  }
  void free(allocator::TensorId id) { events_->push_back({allocator::Event::Kind::free, id}); }
  void free(std::vector<allocator::TensorId>& ids) {
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) free(*id);
    ids.clear();
  }
  // Events so far, on the list that is written to.
  std::size_t size() const { return events_->size(); }
  // Logs tensors that are alive together, and freed at once. Those that are small together are one:
  // a replay is then a third faster, and no published run fits or fails otherwise.
  void passing(const strategies::AtOnce& sizes, const NamedTensor& tensor) {
    constexpr auto small = 256 * allocator::mib;
    const auto sum = strategies::sum_of(sizes);
    if (sum > 0 && sum <= small) return free(allocate(sum, tensor));
    std::vector<allocator::TensorId> ids;
    for (const auto bytes : sizes)
      if (bytes > 0) ids.push_back(allocate(bytes, tensor));
    free(ids);
  }

 private:
  allocator::Events* events_;
  std::vector<NamedTensor>& tensors_;
};

}  // namespace forecast
