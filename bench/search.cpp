// SPDX-License-Identifier: Apache-2.0
// Whole searches, cold, on all cores, over everything that the model and the cluster allow: GPT-3
// 175B on 4,096 A100, Llama 3 405B on 16,384 H100, DeepSeek-V3 on 2,048 H800, to a proof of 0.5 %;
// and the first of these searches up to its bounds alone.
#include "search/search.hpp"

#include <benchmark/benchmark.h>

#include <atomic>
#include <thread>

#include "app/parallel.hpp"
#include "scenarios/search_file.hpp"

namespace {

search::Question question_of(const char* name) {
  auto question = scenarios::load_question(std::string(STEPCAST_SOURCE_DIR "/scenarios/examples/") +
                                           name + ".yaml");
  question.gap = 0.005;
  return question;
}

search::Options on_all_cores() {
  search::Options options{.top = 1};
  options.for_each = [](std::size_t count, const std::function<void(std::size_t)>& work) {
    app::for_each_index(count, std::max(1U, std::thread::hardware_concurrency()), work);
  };
  return options;
}

void whole_search(benchmark::State& state, const char* name) {
  const auto question = question_of(name);
  const auto options = on_all_cores();
  for (auto _ : state) {
    const auto answer = search::search(question, options);
    state.counters["choices"] = static_cast<double>(answer.space.enumerated);
    state.counters["searched"] = static_cast<double>(answer.space.evaluated);
    state.counters["simulated"] = static_cast<double>(answer.space.simulated);
    state.counters["gap_percent"] = 100 * answer.gap;
  }
}

// Bounds choices of degrees for a second on one core: the search is told to stop when it begins to
// look at single ones.
void bounding(benchmark::State& state, const char* name) {
  const auto question = question_of(name);
  std::int64_t choices = 0;
  for (auto _ : state) {
    std::atomic<bool> stop{false};
    search::Options options{.top = 1, .stop = &stop};
    options.progress = [&](const search::Progress&) { stop = true; };
    choices += search::search(question, options).space.enumerated;
  }
  state.counters["choices_per_s"] =
      benchmark::Counter(static_cast<double>(choices), benchmark::Counter::kIsRate);
}

}  // namespace

BENCHMARK_CAPTURE(whole_search, gpt3_175b_4096_a100, "gpt3-175b-search-4096-a100")
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(whole_search, llama3_405b_16384_h100, "llama3-405b-search-16384-h100")
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(whole_search, deepseek_v3_2048_h800, "deepseek-v3-search-2048-h800")
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(bounding, gpt3_175b_4096_a100, "gpt3-175b-search-4096-a100")
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
