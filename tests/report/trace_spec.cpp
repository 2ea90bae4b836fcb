// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <tuple>

#include "report/traces/trace.hpp"
#include "tests/catch.hpp"
#include "tests/report/decoder.hpp"
#include "tests/report/examples.hpp"
#include "tests/report/golden.hpp"

namespace trace_spec {

using nlohmann::json;

namespace {

forecast::Slice bar(const char* lane, std::int64_t start_ps, std::int64_t end_ps) {
  forecast::Slice slice;
  slice.lane = lane;
  slice.name = "bar";
  slice.kind = "forward";
  slice.start_ps = start_ps;
  slice.end_ps = end_ps;
  return slice;
}

std::vector<json> events(const forecast::Timeline& timeline, const std::string& phase) {
  std::vector<json> found;
  const auto trace = json::parse(report::chrome_trace(timeline));
  for (const auto& event : trace["traceEvents"])
    if (event["ph"] == phase) found.push_back(event);
  return found;
}

// The parts of a Perfetto trace that a viewer would show.
struct Bar {
  std::uint64_t track = 0, start = 0, end = 0;
  std::string name, kind;
  std::int64_t microbatch = -1;
  std::uint64_t flops = 0, bytes = 0;
  std::vector<std::uint64_t> flows;
};

struct Shown {
  std::vector<Bar> bars;  // in order of their ends, track by track
  std::map<std::uint64_t, std::string> threads, processes;
  std::map<std::uint64_t, std::uint64_t> parents;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> samples;  // time, bytes
  std::vector<std::pair<std::uint64_t, double>> loads;           // time, percent of a link
  std::set<std::uint64_t> counters;
  bool nested = true;
};

class Viewer {
 public:
  Shown open(const std::string& trace) {
    const auto packets = decoder::decode(trace);
    for (const auto packet : packets.texts.at(1)) take(decoder::decode(packet));
    for (const auto& stack : open_) shown_.nested = shown_.nested && stack.second.empty();
    return shown_;
  }

 private:
  void take(const decoder::Fields& packet) {
    CHECK(packet.number(10) == 1);
    if (packet.has(12)) intern(decoder::decode(packet.text(12)));
    if (packet.has(60)) describe(decoder::decode(packet.text(60)));
    if (packet.has(11)) event(packet.number(8), decoder::decode(packet.text(11)));
  }
  void intern(const decoder::Fields& data) {
    for (const std::uint32_t kind : {2u, 3u}) {
      if (!data.texts.contains(kind)) continue;
      for (const auto entry : data.texts.at(kind)) {
        const auto name = decoder::decode(entry);
        names_[kind][name.number(1)] = std::string(name.text(2));
      }
    }
  }
  void describe(const decoder::Fields& track) {
    if (track.has(5)) shown_.parents[track.number(1)] = track.number(5);
    if (track.has(3))
      shown_.processes[track.number(1)] = std::string(decoder::decode(track.text(3)).text(6));
    if (track.has(4))
      shown_.threads[track.number(1)] = std::string(decoder::decode(track.text(4)).text(5));
    if (track.has(8)) shown_.counters.insert(track.number(1));
  }
  void event(std::uint64_t time, const decoder::Fields& event) {
    const auto track = event.number(11);
    if (event.number(9) == 4) {
      CHECK(shown_.counters.contains(track));
      if (event.has(44))
        shown_.loads.emplace_back(time, std::bit_cast<double>(event.number(44)));
      else
        shown_.samples.emplace_back(time, event.number(30));
      return;
    }
    CHECK(shown_.threads.contains(track));
    CHECK(time >= last_[track]);
    last_[track] = time;
    if (event.number(9) == 1) {
      open_[track].push_back(begun(track, time, event));
    } else if (open_[track].empty()) {
      shown_.nested = false;
    } else {
      open_[track].back().end = time;
      shown_.bars.push_back(open_[track].back());
      open_[track].pop_back();
    }
  }
  Bar begun(std::uint64_t track, std::uint64_t time, const decoder::Fields& event) {
    Bar bar{.track = track, .start = time, .name = names_[2].at(event.number(10))};
    for (const auto annotation : event.texts.at(4)) {
      const auto fields = decoder::decode(annotation);
      const auto& name = names_[3].at(fields.number(1));
      if (name == "microbatch") bar.microbatch = static_cast<std::int64_t>(fields.number(4));
      if (name == "flops") bar.flops = fields.number(4);
      if (name == "bytes") bar.bytes = fields.number(4);
      if (name == "kind") bar.kind = std::string(fields.text(6));
    }
    if (event.has(47)) bar.flows = event.numbers.at(47);
    return bar;
  }

  Shown shown_;
  std::map<std::uint32_t, std::map<std::uint64_t, std::string>> names_;
  std::map<std::uint64_t, std::vector<Bar>> open_;
  std::map<std::uint64_t, std::uint64_t> last_;
};

Shown opened(const forecast::Timeline& timeline) {
  return Viewer().open(report::perfetto_trace(timeline));
}

}  // namespace

TEST_CASE("the Chrome trace of the example is the golden one") {
  golden::check("trace.json", report::chrome_trace(examples::timeline()));
}

TEST_CASE("the Perfetto trace of the example is the golden one, byte for byte") {
  golden::check("trace.pftrace", report::perfetto_trace(examples::timeline()));
}

TEST_CASE("a Chrome trace has every slice in microseconds, with its kind") {
  const auto bars = events(examples::timeline(), "X");
  REQUIRE(bars.size() == 10);
  CHECK(bars[2]["pid"] == 0);
  CHECK(bars[2]["ts"] == 4e6);
  CHECK(bars[2]["dur"] == 2e6);
  CHECK(bars[2]["args"] == json{{"kind", "backward"}, {"microbatch", 0}, {"chunk", 0}});
  CHECK(bars[4]["args"] == json{{"kind", "optimizer"}});
}

TEST_CASE("nanoseconds are the fraction of a Chrome trace's microseconds") {
  forecast::Timeline timeline;
  timeline.slices = {bar("compute", 1'000'499, 2'050'500)};
  const auto text = report::chrome_trace(timeline);
  CHECK(text.find("\"ts\":1,\"dur\":1.051,") != std::string::npos);
}

TEST_CASE("flops and bytes of bars are in both traces, where a bar has any") {
  forecast::Timeline timeline;
  timeline.slices = {bar("compute", 0, 5), bar("data", 0, 5)};
  timeline.slices[0].flops = {2.5e12};
  timeline.slices[1].bytes = {1e6};
  const auto chrome = events(timeline, "X");
  CHECK(chrome[0]["args"]["flops"] == 2'500'000'000'000);
  CHECK_FALSE(chrome[0]["args"].contains("bytes"));
  CHECK(chrome[1]["args"]["bytes"] == 1'000'000);
  CHECK_FALSE(chrome[1]["args"].contains("flops"));
  const auto bars = opened(timeline).bars;
  CHECK(bars[0].flops == 2'500'000'000'000);
  CHECK(bars[1].bytes == 1'000'000);
}

TEST_CASE("arrows start inside the bar they leave and end where the other begins") {
  const auto starts = events(examples::timeline(), "s"), ends = events(examples::timeline(), "f");
  REQUIRE(starts.size() == 4);
  REQUIRE(ends.size() == 4);
  CHECK(starts[0]["ts"].get<double>() < 1e6);
  CHECK(ends[0]["ts"] == 1e6);
  CHECK(starts[3]["id"] == ends[3]["id"]);
  CHECK(ends[3]["pid"] == 0);
}

TEST_CASE("names of a Chrome trace may hold anything") {
  forecast::Timeline timeline;
  timeline.slices = {bar("lane \"q\"", 0, 1000)};
  timeline.slices[0].name = "a\"b\\c\n\xff";
  CHECK(events(timeline, "X")[0]["name"] == "a\"b\\c\n\xef\xbf\xbd");
  CHECK(opened(timeline).bars[0].name == "a\"b\\c\n\xef\xbf\xbd");
}

TEST_CASE("a Perfetto trace has every slice in nanoseconds, with its kind") {
  const auto shown = opened(examples::timeline());
  REQUIRE(shown.bars.size() == 10);
  CHECK(shown.nested);
  const auto& backward = shown.bars[2];
  CHECK(backward.name == "backward m0");
  CHECK(backward.kind == "backward");
  CHECK(backward.microbatch == 0);
  CHECK(backward.start == 4'000'000'000);
  CHECK(backward.end == 6'000'000'000);
  CHECK(shown.threads.at(backward.track) == "compute");
  CHECK(shown.processes.at(shown.parents.at(backward.track)) == "stage 0 (rank 0)");
}

// Bars of whole nanoseconds, on some lanes of some ranks, which overlap as they like.
TEST_CASE("both traces of a timeline show the same bars, wherever they overlap") {
  std::mt19937 random(71);
  const auto below = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most - 1)(random);
  };
  using Seen = std::tuple<double, double, std::string, std::string, std::int64_t>;
  for (int round = 0; round < 50; ++round) {
    forecast::Timeline timeline;
    std::multiset<Seen> drawn;
    for (auto left = below(60); left > 0; --left) {
      const auto start = below(1'000'000), length = 1 + below(100'000);
      auto one = bar(below(2) == 0 ? "compute" : "data", 1000 * start, 1000 * (start + length));
      one.stage = static_cast<int>(below(3));
      one.rank = one.stage;
      one.name = below(2) == 0 ? "forward" : "\"re\nduce\"";
      one.kind = one.name == "forward" ? "forward" : "data_comm";
      one.microbatch = static_cast<int>(below(4)) - 1;
      drawn.emplace(start, start + length, one.name, one.kind, one.microbatch);
      timeline.slices.push_back(std::move(one));
    }
    std::multiset<Seen> chrome, perfetto;
    for (const auto& event : events(timeline, "X")) {
      const double start = std::round(1000 * event["ts"].get<double>());
      const double end = start + std::round(1000 * event["dur"].get<double>());
      const auto& facts = event["args"];
      chrome.emplace(start, end, event["name"], facts["kind"],
                     facts.value("microbatch", std::int64_t{-1}));
    }
    const auto shown = opened(timeline);
    for (const auto& one : shown.bars)
      perfetto.emplace(static_cast<double>(one.start), static_cast<double>(one.end), one.name,
                       one.kind, one.microbatch);
    CHECK(shown.nested);
    CHECK((chrome == drawn));
    CHECK((perfetto == drawn));
  }
}

TEST_CASE("the two ends of a message carry the same flow in a Perfetto trace") {
  const auto shown = opened(examples::timeline());
  std::map<std::uint64_t, int> ends;
  for (const auto& each : shown.bars)
    for (const auto flow : each.flows) ++ends[flow];
  CHECK(ends == std::map<std::uint64_t, int>{{1, 2}, {2, 2}, {3, 2}, {4, 2}});
}

TEST_CASE("memory is a counter in both traces") {
  const auto samples = events(examples::timeline(), "C");
  REQUIRE(samples.size() == 5);  // two of a link follow
  CHECK(samples[1]["args"]["bytes"] == 34LL << 30);
  CHECK(samples[2]["pid"] == 8);
  using Sample = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(opened(examples::timeline()).samples ==
        std::vector<Sample>{{0, 30ULL << 30}, {1'000'000'000, 34ULL << 30}, {0, 20ULL << 30}});
}

TEST_CASE("the load of links is a counter in both traces, apart from ranks") {
  const auto samples = events(examples::timeline(), "C");
  CHECK(samples[3]["name"] == "nic0.0:out");
  CHECK(samples[3]["pid"] == 9);  // after the ranks, 0 and 8
  CHECK(samples[3]["args"] == json{{"percent", 50}});
  using Load = std::pair<std::uint64_t, double>;
  CHECK(opened(examples::timeline()).loads ==
        std::vector<Load>{{1'000'000'000, 50}, {2'000'000'000, 0}});
}

TEST_CASE("bars that nest share a thread, bars that only overlap do not") {
  forecast::Timeline timeline;
  timeline.slices = {bar("data", 0, 9000), bar("data", 1000, 4000), bar("data", 4000, 9000),
                     bar("data", 5000, 12000)};
  const auto shown = opened(timeline);
  CHECK(shown.nested);
  REQUIRE(shown.bars.size() == 4);
  REQUIRE(shown.threads.size() == 2);
  CHECK(shown.threads.begin()->second == "data");
  CHECK(shown.threads.rbegin()->second == "data (2)");
  CHECK(events(timeline, "X")[3]["tid"] == 1);
}

TEST_CASE("neighbours still touch after rounding to nanoseconds") {
  forecast::Timeline timeline;
  for (std::int64_t i = 0; i < 50; ++i) timeline.slices.push_back(bar("x", i * 777, i * 777 + 777));
  const auto shown = opened(timeline);
  CHECK(shown.nested);
  for (std::size_t i = 1; i < shown.bars.size(); ++i)
    CHECK(shown.bars[i].start == shown.bars[i - 1].end);
}

TEST_CASE("slices need not be sorted") {
  forecast::Timeline timeline;
  timeline.slices = {bar("x", 5000, 6000), bar("y", 0, 1000), bar("x", 0, 9000), bar("x", 0, 5000)};
  const auto shown = opened(timeline);
  CHECK(shown.nested);
  CHECK(shown.threads.size() == 2);
}

TEST_CASE("an empty timeline is a valid trace") {
  CHECK(json::parse(report::chrome_trace({}))["traceEvents"].empty());
  CHECK(opened({}).bars.empty());
}

TEST_CASE("slices that run backwards and arrows into nothing are refused") {
  forecast::Timeline backwards, early, astray, unlinked;
  unlinked.links = {{0, 1, 0.5}};
  backwards.slices = {bar("x", 5, 4)};
  early.slices = {bar("x", -1, 4)};
  astray.slices = {bar("x", 0, 4)};
  astray.arrows = {{0, 1}};
  for (const auto& timeline : {backwards, early, astray, unlinked}) {
    CHECK_THROWS_AS(report::chrome_trace(timeline), std::invalid_argument);
    CHECK_THROWS_AS(report::perfetto_trace(timeline), std::invalid_argument);
  }
}

TEST_CASE("protoc reads a Perfetto trace and knows every field") {
  if (std::system("command -v protoc > /dev/null 2>&1") != 0) {
    WARN("protoc is not installed: not checked");
    return;
  }
  const auto folder = std::filesystem::temp_directory_path() /
                      ("stepcast_trace_spec_" + std::to_string(std::random_device()()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "trace", std::ios::binary) << report::perfetto_trace(examples::timeline());
  const auto source = std::filesystem::path(golden::path("perfetto.proto"));
  const std::string command = "protoc -I '" + source.parent_path().string() +
                              "' --decode=perfetto.protos.Trace perfetto.proto < '" +
                              (folder / "trace").string() + "' > '" + (folder / "text").string() +
                              "'";
  CHECK(std::system(command.c_str()) == 0);
  golden::check("trace.pftrace.txt", golden::read((folder / "text").string()));
  std::filesystem::remove_all(folder);
}

}  // namespace trace_spec
