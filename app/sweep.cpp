// SPDX-License-Identifier: Apache-2.0
// Runs a sweep, or one shard of it.
#include "app/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <ostream>
#include <utility>

#include "scenarios/intervals.hpp"
#include "search/points.hpp"
#include "store/digest.hpp"

namespace app {

namespace fs = std::filesystem;

namespace {

using SweepClock = std::chrono::steady_clock;

// Rows on their way from those who answer points to the one who writes them.
class Queue {
 public:
  // Waits while many are not written yet.
  void put(store::Row row) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return rows_.size() < most || closed_; });
    rows_.push_back(std::move(row));
    if (rows_.size() >= batch) ready_.notify_one();
  }
  // Waits until a batch of rows or the last row has come, but at most 100 ms; returns the rows that
  // came.
  std::vector<store::Row> take() {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, std::chrono::milliseconds(100),
                    [&] { return rows_.size() >= batch || closed_; });
    room_.notify_all();
    return std::exchange(rows_, {});
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    ready_.notify_one();
    room_.notify_all();
  }

 private:
  static constexpr std::size_t batch = 512, most = 2048;
  std::mutex mutex_;
  std::condition_variable ready_, room_;
  std::vector<store::Row> rows_;
  bool closed_ = false;
};

// Positions of the shard's points that this run has to answer.
struct Work {
  std::vector<bool> open;  // by position
  std::int64_t points = 0, done = 0;
};

Work work_of(const scenarios::Grid& grid, const Labels& labels, const store::Shard& shard) {
  Work work;
  work.open.resize(static_cast<std::size_t>(positions(grid)));
  for (std::size_t i = 0; i < work.open.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    if (!holds(grid, position)) continue;
    if (shard.count > 1 &&
        store::shard_of(labels.object(position), shard.count) != shard.index % shard.count)
      continue;
    work.open[i] = true;
    ++work.points;
  }
  return work;
}

void leave_out_done(Work& work, const store::Store& store) {
  store.for_each_place([&](std::int64_t position) {
    const auto i = static_cast<std::size_t>(position);
    if (i >= work.open.size() || !work.open[i]) return;
    work.open[i] = false;
    ++work.done;
  });
}

// One line on standard error, written anew some times a second.
class SweepLine {
 public:
  SweepLine(const Work& work, const scenarios::Grid& grid, Streams streams, bool shown,
            const Caller* caller)
      : err_(streams.err),
        columns_(streams.columns),
        shown_(shown),
        telling_(caller, headway_of(work.done, work.points)),
        names_(scenarios::axis_names(grid)) {
    progress_.all = work.points;
    progress_.done = work.done;
  }
  ~SweepLine() {
    if (shown_) err_ << "\r\x1b[K" << std::flush;
  }
  SweepLine(const SweepLine&) = delete;
  SweepLine& operator=(const SweepLine&) = delete;

  void add(const std::vector<store::Row>& rows, const Labels& labels) {
    progress_.done += static_cast<std::int64_t>(rows.size());
    progress_.fresh += static_cast<std::int64_t>(rows.size());
    progress_.spent = {std::chrono::duration<double>(SweepClock::now() - began_).count()};
    if (!shown_ && !telling_.wanted()) return;
    for (const auto& row : rows) {
      if (row.status != to_text(search::PointStatus::ok)) continue;
      const double rate = search::figure_named("tokens_per_s_per_gpu", row.figures);
      if (progress_.best && *progress_.best >= rate) continue;
      progress_.best = rate;
      progress_.best_at = report::place_words(names_, labels.values(row.position));
    }
    auto text = report::sweep_progress(progress_);
    telling_([&] {
      auto headway = headway_of(progress_.done, progress_.all);
      headway.text = text;
      return headway;
    });
    if (!shown_) return;
    if (columns_ > 0 && text.size() >= static_cast<std::size_t>(columns_))
      text.resize(static_cast<std::size_t>(columns_) - 1);
    err_ << "\r\x1b[K" << text << std::flush;
  }

 private:
  static Headway headway_of(std::int64_t done, std::int64_t all) {
    return {report::sweep_progress({.done = done, .all = all}),
            {{"points_done", static_cast<double>(done)}, {"points", static_cast<double>(all)}}};
  }

  std::ostream& err_;
  int columns_;
  bool shown_;
  Telling telling_;
  std::vector<std::string> names_;
  SweepClock::time_point began_ = SweepClock::now();
  report::SweepProgress progress_;
};

// Answers what is open on several threads, while the calling one writes. Every answer is written
// even if a thread throws; its exception is thrown again.
void run_points(const Work& work, const scenarios::Grid& grid, const Labels& labels,
                const std::optional<Correcting>& correcting, store::Store& store, unsigned threads,
                const Stopping& stopping, SweepLine& line) {
  const auto known = store.unplaced();
  const auto intervals = scenarios::catalog_intervals();
  strategies::KnownOrders orders;
  Queue queue;
  std::atomic<std::size_t> next{0};
  std::atomic<unsigned> busy{threads};
  std::atomic<bool> over{false};
  std::vector<std::exception_ptr> thrown(threads);
  const auto answer = [&](unsigned thread) {
    try {
      Answering answering(grid, labels, known, intervals, correcting, stopping, orders);
      for (auto i = next++; i < work.open.size() && !over && !stopping.flag(); i = next++) {
        if (!work.open[i]) continue;
        if (auto row = answering.answer(static_cast<std::int64_t>(i))) queue.put(std::move(*row));
      }
    } catch (...) {
      thrown[thread] = std::current_exception();
      over = true;
    }
    if (--busy == 0) queue.close();
  };
  std::exception_ptr unwritten;
  {
    std::vector<std::jthread> crew;
    for (unsigned i = 0; i < threads; ++i) crew.emplace_back(answer, i);
    for (bool last = false; !last;) {
      last = busy == 0;
      const auto rows = queue.take();
      try {
        if (!unwritten && !rows.empty()) store.add(rows);
        if (!unwritten) line.add(rows, labels);
      } catch (...) {
        unwritten = std::current_exception();
        over = true;
      }
    }
  }
  if (unwritten) std::rethrow_exception(unwritten);
  for (const auto& one : thrown)
    if (one) std::rethrow_exception(one);
}

// Whether the file is a finished shard of these very points. Throws store::Error if it is one of
// other points.
bool is_finished(const fs::path& file, const store::Identity& identity) {
  std::error_code wrong;
  if (identity.shard.count == 1 || !fs::exists(file, wrong)) return false;
  const auto there = store::Store::reader(file);
  if (there.identity().fingerprint != identity.fingerprint ||
      there.identity().program != identity.program || !(there.identity().shard == identity.shard))
    throw store::Error(file.string() +
                       ": is a finished shard of another sweep or program; move it away, or name "
                       "another --store");
  return true;
}

// Says where results are kept, if nobody said where to keep them.
void tell_of(const fs::path& store, const SweepRequest& request, const Common& common,
             Streams streams) {
  if (!request.store.empty() || common.quiet) return;
  std::error_code wrong;
  streams.err << "stepcast: " << (fs::exists(store, wrong) ? "goes on with" : "keeps")
              << " the results in '" << fs::absolute(store, wrong).string()
              << "'; --store names another file\n";
}

// Makes a damaged store, or shard, a sound one of fewer points, and says so.
void repair(const fs::path& file, const store::Identity& identity, const Common& common,
            Streams streams) {
  const auto made = store::repair(file, identity, figure_columns());
  if (!made || common.quiet) return;
  streams.err << "stepcast: " << file.string() << " was damaged: " << made->points
              << (made->points == 1 ? " point is" : " points are") << " kept, at " << made->placed
              << " of " << identity.points
              << " positions; what is missing is computed again; the damaged file is now "
              << made->damaged.string() << '\n';
}

// `stopped`: some points are missing, because a caller asked to stop.
void answer(const SweepRequest& request, const fs::path& file, bool stopped, const Common& common,
            Streams streams) {
  const StoredSweep rows({file.string()});
  if (!request.csv.empty())
    deliver_stream([&](std::ostream& out) { rows.write_csv(out); }, request.csv, streams);
  if (!common.report.empty()) write_report(common, page_of(rows));
  if (common.caller != nullptr)
    common.caller->page = [file] { return page_of(StoredSweep({file.string()})); };
  if (common.json)
    return deliver_stream([&](std::ostream& out) { rows.write_json(out, stopped); }, common.output,
                          streams);
  auto options = text_options(streams);
  if (!common.output.empty()) options.colour = false;
  const auto text = report::sweep_text(rows.summary(), options) +
                    (common.quiet ? "" : "  stored in     " + file.string() + '\n');
  deliver(text, common, streams);
}

}  // namespace

int sweep(const SweepRequest& request, const Common& common, Streams streams) {
  check_report_name(common.report);
  const auto shard = request.shard.empty() ? store::Shard{} : parse_shard(request.shard);
  const auto whole = store_of(request);
  const auto file = shard.count > 1 ? shard_file(whole, shard) : whole;
  const bool runs = request.emit.empty();
  const Outputs outputs(common, {{"--csv", runs ? request.csv : ""},
                                 store_output(request.store, runs ? file : fs::path())});
  outputs.spare_store(file);
  scenarios::Files read;
  const auto grid =
      scenarios::load_grid(source_of(request.file, common.caller), common.sets, &read);
  outputs.spare(read);
  const auto correcting = load_correcting(common, outputs, streams);
  for (const auto& note : grid.notes) warn(note, common, streams);
  tell_of(file, request, common, streams);
  if (!runs) return emit_slurm(request, grid, common, correcting, streams);
  const Labels labels(grid);
  auto work = work_of(grid, labels, shard);
  const auto identity = identity_of(grid, shard, work.points, correcting);
  const Stopping stopping({}, common.caller);
  if (request.repair) repair(file, identity, common, streams);
  bool complete = true;
  if (!is_finished(file, identity)) {
    auto store = store::Store::writer(file, identity, figure_columns());
    leave_out_done(work, store);
    SweepLine line(work, grid, streams, streams.err_terminal && !common.quiet, common.caller);
    const auto threads = threads_of(common);
    run_points(work, grid, labels, correcting, store, threads, stopping, line);
    complete = store.placed() == work.points;
    complete ? store.finish() : store.close();
  }
  if (stopping.by_user()) {
    if (!common.quiet)
      streams.err
          << "stepcast: interrupted; what is finished stays, and the same command goes on\n";
    if (common.caller != nullptr) answer(request, file, !complete, common, streams);
    return interrupted;
  }
  answer(request, file, false, common, streams);
  return success;
}

}  // namespace app
