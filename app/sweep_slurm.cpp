// SPDX-License-Identifier: Apache-2.0
// The script of a Slurm job array that runs every shard of a sweep.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>

#include "app/sweep.hpp"
#include "scenarios/intervals.hpp"

namespace app {

namespace fs = std::filesystem;

namespace {

constexpr int most_shards = 1000;  // a job array ends at 1001 unless its site says otherwise

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Returns the mean time to answer a point, measured on a few spread over the grid.
units::Seconds measured_arguments(const scenarios::Grid& grid,
                                  const std::optional<Correcting>& correcting,
                                  const Caller* caller) {
  constexpr std::int64_t most_tried = 16;
  constexpr double long_enough = 10;
  using Clock = std::chrono::steady_clock;
  const Labels labels(grid);
  const Stopping stopping({}, caller);
  const std::vector<std::string> known;
  const auto intervals = scenarios::catalog_intervals();
  strategies::KnownOrders orders;
  Answering answering(grid, labels, known, intervals, correcting, stopping, orders);
  const auto total = positions(grid);
  const auto began = Clock::now();
  std::chrono::duration<double> spent{};
  int tried = 0;
  for (std::int64_t i = 0; i < most_tried && spent.count() < long_enough; ++i) {
    auto position = total * i / most_tried;
    while (position < total && !holds(grid, position)) ++position;
    if (position == total) continue;
    answering.answer(position);
    ++tried;
    spent = Clock::now() - began;
  }
  return {spent.count() / std::max(1, tried)};
}

}  // namespace

int emit_slurm(const SweepRequest& request, const scenarios::Grid& grid, const Common& common,
               const std::optional<Correcting>& correcting, Streams streams) {
  const auto points = count(grid);
  auto shards = static_cast<std::int64_t>(request.shards);
  if (shards == 0) {
    const auto each = measured_arguments(grid, correcting, common.caller);
    const double all = static_cast<double>(points) * each.value;
    shards = std::clamp<std::int64_t>(std::llround(std::ceil(all / (60 * request.minutes))), 1,
                                      std::min<std::int64_t>(most_shards, points));
    if (!common.quiet)
      streams.err << points << " points at some " << std::round(each.value * 1e4) / 10
                  << " ms each: " << shards << (shards == 1 ? " shard" : " shards") << '\n';
  }
  const auto n = std::to_string(shards);
  std::error_code wrong;
  const auto program = fs::read_symlink("/proc/self/exe", wrong);
  const auto store = fs::absolute(store_of(request));
  std::string sets;
  for (const auto& set : common.sets) sets += " --set " + shell_quoted(set);
  if (correcting)
    sets += " --corrections " + shell_quoted(fs::absolute(common.corrections).string());
  const auto all_shards = shell_quoted((store.parent_path() / store.stem()).string() + ".shard-") +
                          "*" + shell_quoted("-of-" + n + store.extension().string());
  const std::string script =
      "#!/bin/bash\n"
      "# A sweep as a job array. Submit it with sbatch; submit it again for what failed: finished\n"
      "# shards are skipped, and unfinished ones go on where they stopped.\n" +
      (shards > 1 ? "# Afterwards: stepcast sweep merge " + all_shards + "\n" : "") +
      "#SBATCH --job-name=stepcast\n"
      "#SBATCH --array=1-" +
      n +
      "\n"
      "#SBATCH --cpus-per-task=1\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "task=$SLURM_ARRAY_TASK_ID\n" +
      shell_quoted(program.string()) + " sweep " +
      shell_quoted(fs::absolute(request.file).string()) + " --store " +
      shell_quoted(store.string()) + " --shard \"$task/" + n +
      "\" \\\n  --threads \"${SLURM_CPUS_PER_TASK:-1}\"" + sets +
      "\n"
      "status=$?\n"
      "# A wrong input (2) stays wrong; all else deserves another try, three times.\n"
      "if ((status != 0 && status != 2 && ${SLURM_RESTART_COUNT:-0} < 3)); then\n"
      "  scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$task\"\n"
      "fi\n"
      "exit \"$status\"\n";
  deliver(script, common, streams);
  return success;
}

}  // namespace app
