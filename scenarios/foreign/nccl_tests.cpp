// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/nccl_tests.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/yaml.hpp"
#include "topology/collective.hpp"
#include "units/text.hpp"

namespace scenarios {
namespace {

using topology::Collective;

using Words = std::vector<std::string_view>;

// Returns the first words of the line; no line of interest has more than 40.
Words words_in(std::string_view line) {
  constexpr std::size_t most = 40;
  Words words;
  for (std::size_t at = 0; at < line.size() && words.size() < most;) {
    const auto begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    const auto end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    at = end;
  }
  return words;
}

template <class Number>
std::optional<Number> log_number(std::string_view word) {
  Number value{};
  const auto [end, wrong] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (wrong != std::errc{} || end != word.data() + word.size()) return {};
  return value;
}

// One program's output.
struct Test {
  Place begin;
  std::optional<Collective> collective;
  std::set<int> ranks;
  std::set<std::string, std::less<>> hosts;
  int rank_count = 0, node_count = 0;              // as listed, or as told
  std::map<double, std::pair<double, int>> times;  // by size: sum in microseconds, count
  double best_bus = 0, algorithm_bus = 0;          // of the row with the best bus bandwidth
  std::string operation, root;
  bool refused = false;  // whether a row of it is wrong
};

constexpr std::pair<std::string_view, Collective> programs[] = {
    {"all_reduce_perf", Collective::all_reduce},
    {"all_gather_perf", Collective::all_gather},
    {"reduce_scatter_perf", Collective::reduce_scatter},
    {"alltoall_perf", Collective::all_to_all},
    {"broadcast_perf", Collective::broadcast},
    {"reduce_perf", Collective::reduce}};

// Returns the collective of the program that the line names. "reduce_perf" also ends
// "all_reduce_perf", so the longer names come first.
std::optional<Collective> named_program(std::string_view line) {
  for (const auto& [name, collective] : programs)
    if (line.find(name) != std::string_view::npos) return collective;
  return {};
}

// Returns the line without the tag that mpirun or srun -l puts before it.
std::string_view without_tag(std::string_view line) {
  if (const auto tag = line.find("<stdout>:"); tag != std::string_view::npos)
    line.remove_prefix(tag + 9);
  const auto begin = line.find_first_not_of(" \t");
  const auto digits = line.find_first_not_of("0123456789", begin == line.npos ? 0 : begin);
  if (digits != line.npos && digits > begin && line[digits] == ':') line.remove_prefix(digits + 1);
  return line;
}

// The places of a row's figures; rows of older releases lack columns.
struct Columns {
  std::string operation = "none", root = "-1";
  bool has_root = false;
  std::size_t time = 0;
};

// A row is size count type [redop] [root] (time algbw busbw #wrong) once or twice; the last may be
// missing. A row without root has a number of columns that is a multiple of four behind redop.
Columns columns_of(const Words& words, std::optional<bool> told_root) {
  Columns columns{.time = 3};
  if (words.size() > 3 && !log_number<double>(words[3])) {
    columns.operation = words[3];
    columns.time = 4;
  }
  columns.has_root = told_root.value_or((words.size() - columns.time) % 4 != 0);
  if (columns.has_root && columns.time < words.size()) columns.root = words[columns.time++];
  return columns;
}

// No GPU's links carry this many bytes in a microsecond: the fastest have 1.8 TB/s each way, and
// two GPUs that gather send one another a half of the bytes.
constexpr double most_rate = 3.6e6;

// Whether size over time is the algorithm bandwidth, in GB/s, that stands beside them. Both have
// few digits.
bool agrees(double size, double microseconds, double algorithm) {
  const double rate = size / microseconds / 1e3;
  return std::abs(rate - algorithm) <= 0.02 * rate + 0.01;
}

std::string rate_words(double size, double microseconds) {
  return units::short_text(units::Bytes{size}) + " in " +
         units::short_text(units::Seconds{microseconds * 1e-6}) + " are " +
         std::to_string(std::llround(size / microseconds / 1e3)) +
         " GB/s, more than the links of any GPU carry; take the row out, or run the size again";
}

std::string disagreement_words(double size, double microseconds, double algorithm) {
  return units::short_text(units::Bytes{size}) + " in " +
         units::short_text(units::Seconds{microseconds * 1e-6}) + " are " +
         units::fixed(size / microseconds / 1e3, 2) + " GB/s, but the row says algbw " +
         units::fixed(algorithm, 2) + "; a digit of one of them is wrong";
}

class LogReader {
 public:
  LogReader(std::string file, NcclTestsHints hints) : hints_(hints), complaints_(std::move(file)) {}

  void take(std::string_view line) {
    ++line_;
    line_begin_ = line.data();
    line = without_tag(line);
    const auto words = words_in(line);
    if (words.empty()) return;
    if (const auto collective = named_program(line)) announced_ = collective;
    if (words.front().starts_with('#'))
      comment(words);
    else if (log_number<double>(words.front()))
      row(words);
  }

  std::vector<Test> finish() {
    if (!complaints_.any() && tests_.empty())
      complaints_.add({},
                      "no nccl-tests output: expected '# Rank' lines and rows of size and time");
    for (auto& test : tests_) complete(test);
    complaints_.throw_if_any();
    return std::move(tests_);
  }

 private:
  Place place_of(std::string_view word) const { return {line_, word.data() - line_begin_ + 1}; }
  void complain(std::string_view word, std::string what) {
    complaints_.add(place_of(word), std::move(what));
  }
  void complain(const Test& test, std::string what) {
    complaints_.add(test.begin, std::move(what));
  }

  Test& open(bool fresh, const Words& words) {
    if (tests_.empty() || (fresh && !tests_.back().times.empty()))
      tests_.push_back({.begin = place_of(words.front())});
    return tests_.back();
  }

  // "#  Rank  0 Group  0 Pid 1234 on host device  0 [0x07] NVIDIA H100 80GB HBM3"
  void comment(const Words& words) {
    const std::size_t first = words.front() == "#" ? 1 : 0;
    if (words.size() > first + 2 && words[first].ends_with("size") && words[first + 1] == "count")
      told_root_ = std::ranges::find(words, "root") != words.end();
    if (words.size() < first + 2 || (words[first] != "Rank" && words[first] != "#Rank")) return;
    const auto rank = log_number<int>(words[first + 1]);
    const auto on = std::ranges::find(words, "on");
    if (!rank || on == words.end() || on + 1 == words.end())
      return complain(words.front(), "expected '# Rank N … on HOST device N'");
    Test& test = open(true, words);
    if (!test.ranks.insert(*rank).second)
      complain(words[first + 1], "rank " + std::to_string(*rank) + " is listed twice");
    test.hosts.emplace(on[1]);
  }

  // Complains of a row of the test that was begun last.
  void refuse_row(std::string_view word, std::string what) {
    if (!tests_.empty()) tests_.back().refused = true;
    complain(word, std::move(what));
  }

  void row(const Words& words) {
    constexpr std::string_view expected =
        "expected a row of size, count, type, redop, root, time, algbw, busbw and #wrong";
    const auto columns = columns_of(words, told_root_);
    const auto at = columns.time;
    if (words.size() < at + 3) return refuse_row(words.front(), std::string(expected));
    for (const auto column : {std::size_t{0}, at, at + 1, at + 2})
      if (!log_number<double>(words[column]))
        return refuse_row(words[column], std::string(expected));
    const auto size = log_number<double>(words[0]), time = log_number<double>(words[at]),
               algorithm = log_number<double>(words[at + 1]),
               bus = log_number<double>(words[at + 2]);
    if (*size == 0) return;  // the smallest sizes of many ranks round down to nothing
    if (!(*size > 0 && *time > 0 && std::isfinite(*time)))
      return refuse_row(*size > 0 ? words[at] : words[0], "size and time must be more than zero");
    // In releases without root this column is the largest error of a sum.
    if (columns.has_root && words.size() > at + 3)
      if (const auto wrong = log_number<double>(words[at + 3]); wrong && *wrong > 0)
        return refuse_row(words[at + 3], "the run computed wrong results (#wrong " +
                                             std::string(words[at + 3]) + "); it measures nothing");
    if (*size / *time > most_rate) return refuse_row(words[at], rate_words(*size, *time));
    if (!agrees(*size, *time, *algorithm))
      return refuse_row(words[at], disagreement_words(*size, *time, *algorithm));
    Test& test = open(false, words);
    test.collective = announced_;
    test.operation = columns.operation;
    test.root = columns.root;
    auto& [sum, count] = test.times[*size];
    sum += *time;
    ++count;
    if (*bus > test.best_bus) {
      test.best_bus = *bus;
      test.algorithm_bus = *algorithm;
    }
  }

  void complete(Test& test) {
    if (test.ranks.empty() && !(hints_.ranks && hints_.nodes))
      return complain(
          test,
          "rows without '# Rank' lines: how many GPUs took part is not said; say it with "
          "--set ranks=N,nodes=N");
    test.rank_count = test.ranks.empty() ? *hints_.ranks : static_cast<int>(test.ranks.size());
    test.node_count = test.ranks.empty() ? *hints_.nodes : static_cast<int>(test.hosts.size());
    if (const auto wrong = contradiction(test); !wrong.empty()) return complain(test, wrong);
    const int ranks = test.rank_count;
    for (int rank = 0; !test.ranks.empty() && rank < ranks; ++rank)
      if (!test.ranks.contains(rank))
        return complain(test, "rank " + std::to_string(rank) + " is missing in the list of " +
                                  std::to_string(ranks));
    if (test.times.empty() && test.refused) return;
    if (test.times.empty()) return complain(test, "no row of measurements follows the ranks");
    if (ranks < 2) return complain(test, "one rank alone has nobody to communicate with");
    if (ranks % test.node_count != 0)
      return complain(test, std::to_string(ranks) + " ranks do not lie evenly on " +
                                std::to_string(test.node_count) + " hosts");
    if (!test.collective) test.collective = hints_.collective;
    if (!test.collective) deduce(test, ranks);
  }

  // Returns the contradiction between a hint and the log; empty if there is none.
  std::string contradiction(const Test& test) const {
    const auto differs = [](const char* what, int log, std::optional<int> hint) {
      return hint && *hint != log ? "--set says " + std::string(what) + " " +
                                        std::to_string(*hint) + ", the log " + std::to_string(log)
                                  : std::string();
    };
    auto wrong = differs("ranks", test.rank_count, hints_.ranks);
    if (wrong.empty()) wrong = differs("nodes", test.node_count, hints_.nodes);
    if (wrong.empty() && test.collective && hints_.collective &&
        *test.collective != *hints_.collective)
      wrong = "--set says another collective than the log";
    return wrong;
  }

  // Deduces the collective of older releases, which do not print their name, from the ratio of bus
  // to algorithm bandwidth and from the operation.
  void deduce(Test& test, int ranks) {
    const double n = ranks;
    const double factor = test.algorithm_bus > 0 ? test.best_bus / test.algorithm_bus : 0;
    const auto near = [&](double value) { return std::abs(factor / value - 1) < 0.02; };
    const bool reduces = test.operation != "none";
    if (reduces && test.root == "-1" && near(2 * (n - 1) / n))
      test.collective = Collective::all_reduce;
    else if (reduces && test.root == "-1" && near((n - 1) / n))
      test.collective = Collective::reduce_scatter;
    else if (test.root != "-1" && near(1))
      test.collective = reduces ? Collective::reduce : Collective::broadcast;
    else
      complain(test,
               "which collective it is cannot be told; keep the line that names the program, such "
               "as '# Collective test starting: all_gather_perf', or say it with --set "
               "collective=all_gather");
  }

  int line_ = 0;
  const char* line_begin_ = nullptr;  // with the tag of mpirun
  std::optional<Collective> announced_;
  std::optional<bool> told_root_;  // by the line that heads the columns: they have one
  NcclTestsHints hints_;
  std::vector<Test> tests_;
  Complaints complaints_;
};

topology::MeasuredCollective table_of(const Test& test) {
  topology::MeasuredCollective table{
      .collective = *test.collective, .ranks = test.rank_count, .nodes = test.node_count};
  for (const auto& [size, times] : test.times)
    table.points.emplace_back(units::Bytes{size},
                              units::Seconds{times.first / (1e6 * times.second)});
  return table;
}

}  // namespace

NcclTestsHints nccl_tests_hints(std::span<const std::string> sets) {
  NcclTestsHints hints;
  std::vector<Complaint> wrong;
  for (std::size_t n = 0; n < sets.size(); ++n) {
    const auto complain = [&](const std::string& what) {
      wrong.push_back({"--set " + std::to_string(n + 1), what});
    };
    std::string_view left = sets[n];
    while (!left.empty()) {
      const auto comma = std::min(left.find(','), left.size());
      const auto part = left.substr(0, comma);
      left.remove_prefix(std::min(comma + 1, left.size()));
      const auto equals = std::min(part.find('='), part.size());
      const auto key = part.substr(0, equals),
                 value = part.substr(std::min(equals + 1, part.size()));
      if (key == "ranks" || key == "nodes") {
        constexpr int most = 10'000'000;
        const auto number = log_number<int>(value);
        if (number && *number > 0 && *number <= most)
          (key == "ranks" ? hints.ranks : hints.nodes) = number;
        else
          complain(std::string(key) + ": '" + std::string(value) +
                   "' is no number from 1 to 10000000");
      } else if (key == "collective") {
        for (const auto& [program, collective] : programs)
          if (value == topology::to_text(collective) || value == program ||
              std::string(value) + "_perf" == program)
            hints.collective = collective;
        if (!hints.collective)
          complain("collective: '" + std::string(value) +
                   "' is none that nccl-tests measures; expected all_reduce, all_gather, "
                   "reduce_scatter, all_to_all, broadcast or reduce");
      } else {
        complain("'" + std::string(part) +
                 "' is nothing that a log leaves out; expected ranks=N, nodes=N or "
                 "collective=NAME");
      }
    }
  }
  if (!wrong.empty()) throw Error(std::move(wrong));
  return hints;
}

topology::Fabric read_nccl_tests(std::string_view text, const std::string& file_name,
                                 const NcclTestsHints& hints) {
  LogReader reader(file_name, hints);
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    reader.take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  topology::Fabric fabric;
  fabric.name = "fabric";
  fabric.kind = topology::Fabric::Kind::fat_tree;
  fabric.efficiency = 1;
  double best = 0;
  for (const auto& test : reader.finish()) {
    auto table = table_of(test);
    const double per_rank = test.best_bus * 1e9 * table.nodes / table.ranks;
    best = std::max(best, per_rank);
    if (table.nodes > 1)
      fabric.link_bandwidth.value = std::max(fabric.link_bandwidth.value, per_rank);
    fabric.measured.push_back(std::move(table));
  }
  if (!(best > 0))
    throw Error({{file_name + ":1:1", "every bandwidth rounds to zero; larger sizes are needed"}});
  return fabric;
}

topology::Fabric load_nccl_tests(const std::filesystem::path& file, const NcclTestsHints& hints) {
  return read_nccl_tests(read_file(file, log_limits), file.string(), hints);
}

}  // namespace scenarios
