// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on several threads.
#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace app {

// work(i) for each i below `count`, on as many threads as are asked for and useful. A piece of work
// writes only its own results, so that the answer is the same for any number of threads. An
// exception is thrown again when all have ended.
template <class Work>
void for_each_index(std::size_t count, unsigned threads, Work work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> thrown(threads);
  const auto share = [&](unsigned thread) {
    try {
      for (auto i = next++; i < count; i = next++) work(i);
    } catch (...) {
      thrown[thread] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> crew;
    for (unsigned i = 1; i < threads && i < count; ++i) crew.emplace_back(share, i);
    share(0);
  }
  for (const auto& one : thrown)
    if (one) std::rethrow_exception(one);
}

}  // namespace app
