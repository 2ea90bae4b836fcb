// SPDX-License-Identifier: Apache-2.0
#include "allocator/caching_allocator.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

namespace allocator {

using Action = TraceEntry::Action;

namespace {

// Whether a request of `size` bytes takes only the front of a free block, so that the rest stays
// free.
bool splits(Size size, Size block, const Settings& settings) {
  const Size rest = block - size;
  if (is_small(size) || settings.expandable_segments) return rest >= least_block;
  return (!settings.max_split_size || size < *settings.max_split_size) && rest > largest_small;
}

}  // namespace

CachingAllocator::CachingAllocator(const Settings& settings, const Limits& limits, Trace* trace,
                                   Addresses addresses)
    : settings_(settings), limits_(limits), trace_(trace), addresses_(std::move(addresses)) {}

void CachingAllocator::note(Action action, Address address, Size size, StreamId stream,
                            TensorId tensor) {
  if (trace_) trace_->push_back({action, address, size, stream, tensor});
}

BlockId CachingAllocator::block_of(TensorId tensor) const {
  if (tensor >= of_tensor_.size() || of_tensor_[tensor] == no_block)
    throw std::invalid_argument("tensor " + std::to_string(tensor) + " is not allocated");
  return of_tensor_[tensor];
}

bool CachingAllocator::allocate(TensorId tensor, Size requested, StreamId stream) {
  if (requested < 0) throw std::invalid_argument("a tensor has a negative size");
  if (tensor >= of_tensor_.size()) of_tensor_.resize(tensor + std::size_t{1}, no_block);
  if (of_tensor_[tensor] != no_block)
    throw std::invalid_argument("tensor " + std::to_string(tensor) + " is allocated already");
  if (some_passed_) finish_passed();
  const auto size = rounded(requested, settings_);
  const Request request{requested, size, segment_for(size), stream, is_small(size)};
  auto found = search(request);
  if (found == no_block) {
    collect_garbage();
    found = from_driver(request);
    if (found == no_block && release_oversized(request)) found = from_driver(request);
    if (found == no_block) {
      release_cached();
      ++counts_.retries;
      found = from_driver(request);
    }
    if (found == no_block) {
      note(Action::oom, limits_.device - counts_.reserved.now, request.size, stream, tensor);
      return false;
    }
    if (splits(request.size, blocks_[found].size, settings_)) {
      const auto remainder = found;
      found = blocks_.cut_front(remainder, request.size);
      blocks_.list(remainder);
    }
  }
  hand_out(found, request, tensor);
  return true;
}

FreeBlocks::const_iterator CachingAllocator::best_free(const Request& request) const {
  const auto& pool = blocks_.pool_of(request.small);
  const auto fits_stream = [&](auto place) {
    return place != pool.free.end() && place->stream == request.stream;
  };
  auto best = pool.free.at_least(request.stream, request.size);
  if (!fits_stream(best)) return pool.free.end();
  if (settings_.expandable_segments) {
    // The best block is the one that can grow to the least size that is enough.
    const auto grown = [&](BlockId id) {
      const auto after = blocks_[id].after;
      return blocks_[id].size +
             (after != no_block && !blocks_[after].mapped ? blocks_[after].size : 0);
    };
    for (auto next = std::next(best); fits_stream(next) && grown(next->block) < grown(best->block);
         ++next)
      best = next;
  }
  if (const auto most = settings_.max_split_size) {
    if (request.size < *most && best->size >= *most) return pool.free.end();
    if (request.size >= *most && best->size >= request.size + settings_.max_non_split_rounding)
      return pool.free.end();
  }
  return best;
}

BlockId CachingAllocator::search(const Request& request) {
  auto& pool = blocks_.pool_of(request.small);
  ++pool.searches;
  const auto best = best_free(request);
  if (best == pool.free.end()) return no_block;
  const auto found = best->block;
  if (splits(request.size, best->size, settings_)) return blocks_.take_front(best, request.size);
  pool.free.erase(best);
  return found;
}

// A tensor that is freed at once leaves its block as it was before: it is taken, split, joined and
// listed again. Only the search counts.
bool CachingAllocator::passing(Size requested, StreamId stream) {
  if (requested < 0) throw std::invalid_argument("a tensor has a negative size");
  if (trace_) return false;
  if (some_passed_) finish_passed();
  const auto size = rounded(requested, settings_);
  const Request request{requested, size, segment_for(size), stream, is_small(size)};
  auto& pool = blocks_.pool_of(request.small);
  const auto best = best_free(request);
  if (best == pool.free.end()) return false;
  auto& block = blocks_[best->block];
  block.listed_at = ++pool.searches;
  const auto handed_out = splits(request.size, block.size, settings_) ? request.size : block.size;
  counts_.hand_out(requested, handed_out);
  counts_.allocated.now -= handed_out;
  counts_.active.now -= handed_out;
  counts_.requested.now -= requested;
  return true;
}

BlockId CachingAllocator::from_driver(const Request& request) {
  if (limits_.allowed && counts_.reserved.now + request.segment > *limits_.allowed) return no_block;
  if (settings_.expandable_segments) return expand(request);
  if (counts_.reserved.now + request.segment > limits_.device) return no_block;
  const auto address = addresses_.take(request.segment);
  reserve(request.segment);
  note(Action::segment_alloc, address, request.segment, request.stream);
  return blocks_.add({.address = address,
                      .segment = address,
                      .size = request.segment,
                      .stream = request.stream,
                      .small = request.small});
}

void CachingAllocator::reserve(Size size) {
  counts_.reserved.add(size);
  ++counts_.driver_allocations;
}

void CachingAllocator::hand_out(BlockId id, const Request& request, TensorId tensor) {
  auto& block = blocks_[id];
  block.allocated = true;
  block.requested = request.requested;
  block.tensor = tensor;
  of_tensor_[tensor] = id;
  counts_.hand_out(block.requested, block.size);
  note(Action::alloc, block.address, block.requested, block.stream, tensor);
}

void CachingAllocator::record_stream(TensorId tensor, StreamId stream) {
  if (blocks_[block_of(tensor)].stream == stream) return;
  auto& users = users_[tensor];
  if (std::ranges::find(users, stream) == users.end()) users.push_back(stream);
}

void CachingAllocator::free(TensorId tensor) {
  const auto id = block_of(tensor);
  auto& block = blocks_[id];
  of_tensor_[tensor] = no_block;
  block.allocated = false;
  counts_.allocated.add(-block.size);
  note(Action::free_requested, block.address, block.requested, block.stream, tensor);
  const auto found = users_.find(tensor);
  if (found == users_.end()) return give_back(id);
  for (const auto user : found->second) {
    waiting_[user].push_back({tensor, id});
    ++block.waits;
  }
  users_.erase(found);
}

void CachingAllocator::passes(TensorId tensor, StreamId stream) {
  const auto found = waiting_.find(stream);
  if (found == waiting_.end()) return;
  auto& queue = found->second;
  // The latest tensor of that name that was freed.
  auto last = queue.rbegin();
  while (last != queue.rend() && last->tensor != tensor) ++last;
  for (; last != queue.rend() && !last->passed; ++last) some_passed_ = last->passed = true;
}

void CachingAllocator::synchronize() {
  for (auto& [stream, queue] : waiting_)
    for (auto& waiting : queue) some_passed_ = waiting.passed = true;
}

// Ends the waits that have passed, stream by stream, in the order of each queue.
void CachingAllocator::finish_passed() {
  for (auto stream = waiting_.begin(); stream != waiting_.end();) {
    auto& queue = stream->second;
    while (!queue.empty() && queue.front().passed) {
      const auto id = queue.front().block;
      if (--blocks_[id].waits == 0) give_back(id);
      queue.pop_front();
    }
    stream = queue.empty() ? waiting_.erase(stream) : std::next(stream);
  }
  some_passed_ = false;
}

void CachingAllocator::give_back(BlockId id) {
  auto& block = blocks_[id];
  counts_.active.add(-block.size);
  counts_.requested.add(-block.requested);
  note(Action::free_completed, block.address, block.requested, block.stream, block.tensor);
  block.requested = 0;
  block.tensor = 0;
  blocks_.join_free(id, block.before);
  blocks_.join_free(id, blocks_[id].after);
  blocks_.list(id);
}

}  // namespace allocator
