// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "report/json.hpp"
#include "report/page/columns.hpp"
#include "report/page/page.hpp"
#include "report/page/page_parts.hpp"
#include "tests/catch.hpp"
#include "tests/report/columns_back.hpp"
#include "tests/report/examples.hpp"

namespace page_spec {

using nlohmann::json;

namespace {

using namespace columns;

json document(const forecast::Timeline& timeline) {
  return json::parse(report::timeline_document(timeline).dump());
}

// The slices of a document, as the page understands them.
std::vector<forecast::Slice> slices_of(const json& document) {
  const auto read = table_of(document["slices"]);
  const auto &sort = read[0], &microbatch = read[1], &gap = read[2], &duration = read[3];
  std::vector<forecast::Slice> slices;
  for (const auto& lane : document["lanes"]) {
    std::int64_t time = 0, last = 0;
    for (int n = 0; n < lane[3].get<int>(); ++n) {
      const auto i = slices.size();
      const auto& what = document["sorts"].at(static_cast<std::size_t>(sort[i]));
      auto& slice = slices.emplace_back();
      slice.stage = lane[0];
      slice.rank = lane[1];
      slice.microbatch = last += microbatch[i];
      slice.chunk = what[3];
      slice.name = what[1];
      if (slice.microbatch >= 0 && !what[4].get<bool>())
        slice.name += " m" + std::to_string(slice.microbatch);
      slice.name += what[2].get<std::string>();
      slice.start_ps = time += gap[i];
      slice.end_ps = time += duration[i];
      slice.bytes = {what[5].get<double>()};
      slice.flops = {what[6].get<double>()};
    }
  }
  return slices;
}

void check_slices(const forecast::Timeline& timeline) {
  const auto read = slices_of(document(timeline));
  REQUIRE(read.size() == timeline.slices.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    const auto& wrote = timeline.slices[i];
    CHECK(read[i].name == wrote.name);
    CHECK(std::tie(read[i].stage, read[i].rank, read[i].microbatch, read[i].chunk, read[i].start_ps,
                   read[i].end_ps) == std::tie(wrote.stage, wrote.rank, wrote.microbatch,
                                               wrote.chunk, wrote.start_ps, wrote.end_ps));
    CHECK(read[i].bytes == wrote.bytes);
    CHECK(read[i].flops == wrote.flops);
  }
}

std::string page_of(const forecast::Scenario& scenario) {
  const auto forecast = examples::forecast();
  return report::simulate_page({{scenario, forecast}}, "0.1.0");
}

}  // namespace

TEST_CASE("numbers are seven bits a byte, the lowest first, in base64") {
  CHECK(report::packed({}).empty());
  CHECK(report::packed({0}) == "AA");
  CHECK(report::packed({1, 127, 128}) == "AX+AAQ");  // 01 7f 80 01
}

TEST_CASE("an index is written where it does not go on as it did last time") {
  const auto runs = report::index_document({0, 1, 2, 0, 1, 2, 0, 1, 1, 1});
  CHECK(unpacked(runs[0]) == std::vector<std::uint64_t>{0, 1, 2, 0, 1});
  CHECK(unpacked(runs[1]) == std::vector<std::uint64_t>{0, 0, 0, 4, 1});
  CHECK(index_of(json::parse(report::index_document({}).dump())).empty());
}

TEST_CASE("tables give their numbers back, repeated rows and extremes too") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<report::Column> table(1 + random() % 4, report::Column(random() % 300));
    for (auto& values : table) {
      const auto distinct = 1 + random() % 20;
      for (auto& value : values)
        value = (static_cast<std::int64_t>(random() % distinct) - 10) * (1ll << (random() % 40));
      if (round % 10 == 0) values.insert(values.end(), {INT64_MIN, INT64_MAX, 0, -1});
    }
    CHECK(table_of(json::parse(report::table_document(table).dump())) == table);
  }
}

TEST_CASE("a table whose rows repeat is an index into them, the most frequent first") {
  report::Column times(40, 1'000'000), kinds(40, 2);
  times[3] = -5;
  const auto table = report::table_document({times, kinds});
  REQUIRE(table.contains("index"));
  CHECK(column(table["distinct"][0]) == report::Column{1'000'000, -5});
  CHECK(column(table["distinct"][1]) == report::Column{2, 2});
}

TEST_CASE("the slices of a timeline are read back from its columns") {
  check_slices(examples::timeline());
}

TEST_CASE("names are read back wherever the microbatch stands in them, or does not") {
  forecast::Timeline timeline;
  for (const char* name : {"forward m1", "forward m1 c2", "forward m12", "m1", "reduce", "x m1y"}) {
    auto& slice = timeline.slices.emplace_back(examples::pass(0, "forward", 1, 0, 1));
    slice.name = name;
  }
  timeline.slices.emplace_back(timeline.slices[0]).microbatch = -1;
  check_slices(timeline);
}

TEST_CASE("random timelines are read back") {
  std::mt19937 random(11);
  forecast::Timeline timeline;
  for (int stage = 0; stage < 3; ++stage)
    for (const char* lane : {"compute", "data"})
      for (int i = 0; i < 50; ++i) {
        auto& slice =
            timeline.slices.emplace_back(examples::pass(stage, "forward", i % 7, i, i + 1));
        slice.lane = lane;
        slice.start_ps += random() % 1000;
        slice.end_ps += random() % 1'000'000;  // some overlap
        slice.bytes = {static_cast<double>(random() % 3 * 4096)};
        slice.flops = {static_cast<double>(random() % 3) * 1e15};
      }
  check_slices(timeline);
}

TEST_CASE("arrows and memory are read back") {
  const auto timeline = examples::timeline();
  const auto read = document(timeline);
  const auto arrows = table_of(read["arrows"]);
  const auto from = summed(arrows[0]);
  REQUIRE(from.size() == timeline.arrows.size());
  std::set<std::pair<std::size_t, std::size_t>> wrote, found;
  for (const auto& arrow : timeline.arrows) wrote.emplace(arrow.from, arrow.to);
  for (std::size_t i = 0; i < from.size(); ++i) found.emplace(from[i], from[i] + arrows[1][i]);
  CHECK(found == wrote);

  forecast::Timeline samples;
  samples.memory = {{.stage = 0, .time_ps = 5, .activations = {100}, .temporary = {7}, .slice = 3},
                    {.stage = 0, .time_ps = 9, .activations = {80}, .temporary = {900}, .slice = 4},
                    {.stage = 2, .time_ps = 1, .activations = {1}, .temporary = {0}}};
  samples.peaks = {1, 2};
  const auto memory = document(samples)["memory"];
  REQUIRE(memory.size() == 2);
  const auto first = table_of(memory[0]["samples"]);
  CHECK(summed(first[0]) == report::Column{5, 9});
  CHECK(summed(first[1]) == report::Column{100, 80});
  CHECK(summed(first[2]) == report::Column{7, 900});
  CHECK(memory[0]["peak"] == 1);
  CHECK(memory[0]["slice"] == 4);
  CHECK(memory[1]["stage"] == 2);
  CHECK(memory[1]["slice"] == -1);
}

TEST_CASE("idle intervals keep their causes and the bars that they wait for, drawn or not") {
  using forecast::IdleCause;
  auto timeline = examples::timeline();
  const forecast::Awaited drawn{.slice = 6, .stage = 1, .rank = 8, .lane = "compute"};
  const forecast::Awaited host{.stage = 1, .rank = 8, .lane = "host", .start_ps = 3, .end_ps = 10};
  forecast::Idle first{.stage = 0, .start_ps = 20, .end_ps = 40, .cause = IdleCause::drain};
  first.by_cause[static_cast<std::size_t>(IdleCause::drain)] = 13;
  first.by_cause[static_cast<std::size_t>(IdleCause::host)] = 7;
  first.until = 2;
  first.chain = {drawn, host};
  const forecast::Idle second{.stage = 1, .rank = 8, .start_ps = 5, .end_ps = 6};
  timeline.idle = {first, second};
  const auto idle = document(timeline)["idle"];
  const auto intervals = table_of(idle["intervals"]);
  CHECK(summed(intervals[0]) == report::Column{0, 1});  // lane
  CHECK(intervals[1] == report::Column{20, 5});         // gap
  CHECK(intervals[2] == report::Column{20, 1});         // duration
  CHECK(idle["causes"][static_cast<std::size_t>(intervals[3][0])] == "drain");
  CHECK(summed(intervals[4]) == report::Column{3, 0});  // until
  CHECK(intervals[5] == report::Column{2, 0});          // links
  CHECK(table_of(idle["by_cause"])[static_cast<std::size_t>(IdleCause::host)][0] == 7);
  CHECK(summed(table_of(idle["chain"]["entries"])[0]) == report::Column{7, 0});
  CHECK(idle["chain"]["sorts"] == json::parse(R"([[1, 8, "host", ""]])"));
  CHECK(table_of(idle["chain"]["others"])[2] == report::Column{7});  // duration
}

// The entries of each list: a slice as its number, from 1 on, and another bar as its start,
// negated.
std::vector<std::vector<std::int64_t>> lists_of(const json& awaited,
                                                const report::Column& lengths) {
  const auto runs = table_of(awaited["entries"]);
  const auto written = summed(runs[0]), starts = summed(table_of(awaited["others"])[1]);
  std::map<std::int64_t, std::int64_t> behind;
  std::size_t run = 0, others = 0;
  std::int64_t left = 0;  // entries left of the run
  std::vector<std::vector<std::int64_t>> lists;
  for (const auto length : lengths) {
    auto& list = lists.emplace_back();
    while (std::ssize(list) < length) {
      auto entry = left-- > 0 ? behind.at(list.back()) : written.at(run);
      if (left < 0) left = runs[1].at(run++);
      if (entry == 0) entry = -1 - static_cast<std::int64_t>(others++);
      if (!list.empty()) behind[list.back()] = entry;
      list.push_back(entry);
    }
  }
  CHECK(run == written.size());
  for (auto& list : lists)
    for (auto& entry : list)
      if (entry < 0) entry = -starts.at(static_cast<std::size_t>(-1 - entry));
  return lists;
}

TEST_CASE("chains are read back, whether they go on as others did or not") {
  std::mt19937 random(13);
  auto timeline = examples::timeline();
  std::vector<std::vector<std::int64_t>> wrote;
  for (int i = 0; i < 300; ++i) {
    forecast::Idle idle{.stage = 0, .start_ps = 10 * i, .end_ps = 10 * i + 1};
    auto& list = wrote.emplace_back();
    for (std::size_t n = random() % 6, at = random() % 12; n > 0; --n) {
      const auto start = static_cast<std::int64_t>(at);
      if (at >= 8)
        idle.chain.push_back({.lane = "host", .start_ps = start, .end_ps = start + 1});
      else
        idle.chain.push_back({.slice = at, .lane = "compute"});
      list.push_back(at >= 8 ? -start : start + 1);
      at = random() % 10 == 0 ? random() % 12 : (at + 5) % 12;
    }
    timeline.idle.push_back(idle);
  }
  const auto idle = document(timeline)["idle"];
  CHECK(lists_of(idle["chain"], table_of(idle["intervals"])[5]) == wrote);
  CHECK(table_of(idle["chain"]["entries"])[0].size() < 450);  // of some 750
}

TEST_CASE("loads of links are read back, each link on its own clock") {
  forecast::Timeline timeline;
  timeline.link_names = {"nic0.0:out", "nic0.0:in"};
  timeline.links = {{.link = 0, .time_ps = 10, .utilisation = 0.5},
                    {.link = 0, .time_ps = 30, .utilisation = 0},
                    {.link = 1, .time_ps = 20, .utilisation = 1}};
  const auto links = document(timeline)["links"];
  REQUIRE(links.size() == 2);
  CHECK(links[1]["name"] == "nic0.0:in");
  const auto first = table_of(links[0]["samples"]), second = table_of(links[1]["samples"]);
  CHECK(summed(first[0]) == report::Column{10, 30});
  CHECK(first[1] == report::Column{500'000, 0});
  CHECK(summed(second[0]) == report::Column{20});
  CHECK(second[1] == report::Column{1'000'000});
}

TEST_CASE("the steps of passes are read back, each name once") {
  auto timeline = examples::timeline();
  const units::Kernel product{.kind = units::Kernel::Kind::product, .m = 2, .n = 3, .k = 4};
  const strategies::CostQuery asked{.kernel = product};
  timeline.passes = {{{.part = "forward", .asked = asked, .start_ps = 0, .end_ps = 5},
                      {.part = "tensor comm", .start_ps = 5, .end_ps = 9},
                      {.part = "forward", .asked = asked, .start_ps = 7, .end_ps = 12}},
                     {}};
  timeline.slices[0].steps = 0;
  const auto read = document(timeline);
  CHECK(
      read["passes"]["names"] ==
      json::parse(R"([["forward", "forward product, 2 x 3 x 4, in bf16"], ["tensor comm", ""]])"));
  const auto body = table_of(read["passes"]["bodies"][0]);
  CHECK(body == std::vector<report::Column>{{0, 1, 0}, {0, 0, -2}, {5, 4, 5}});
  REQUIRE(read["passes"]["bodies"].size() == 2);
  const auto sort = table_of(read["slices"])[0];
  CHECK(read["sorts"][static_cast<std::size_t>(sort[0])][7] == 0);
  CHECK(read["sorts"][static_cast<std::size_t>(sort.back())][7] == -1);
}

TEST_CASE("the critical path keeps where each step begins and ends") {
  auto timeline = examples::timeline();
  timeline.critical_path = {{.slice = 0, .start_ps = 2, .end_ps = 5},
                            {.slice = 5, .start_ps = 5, .end_ps = 11}};
  const auto path = document(timeline)["path"];
  CHECK(path["begin"] == 2);
  CHECK(table_of(path["spans"])[0] == report::Column{3, 6});
  CHECK(summed(table_of(path["steps"]["entries"])[0]) == report::Column{1, 6});
}

TEST_CASE("a page carries the document of --json whole") {
  const auto scenario = examples::scenario();
  const auto data = data_of(page_of(scenario));
  CHECK(data["runs"][0]["document"] ==
        json::parse(report::simulate_json(scenario, examples::forecast(), "0.1.0")));
}

TEST_CASE("no name ends the element that holds the data") {
  auto scenario = examples::scenario();
  scenario.name = "</script><script>alert(1)</script><!--";
  const auto data = data_text(page_of(scenario));
  CHECK(data.find('<') == std::string::npos);
  CHECK(json::parse(data)["runs"][0]["document"]["scenario"]["name"] == scenario.name);
}

TEST_CASE("the same forecast gives the same page") {
  const auto scenario = examples::scenario();
  CHECK(page_of(scenario) == page_of(scenario));
}

TEST_CASE("a page allows one script and one style, and asks for nothing") {
  const std::string page(report::page_template());
  CHECK(page.find(report::page_marker) != std::string::npos);
  CHECK(page.find(report::page_marker, page.find(report::page_marker) + 1) == std::string::npos);
  CHECK(page.find("content=\"default-src 'none'; script-src 'sha256-") != std::string::npos);
  CHECK(page.find("src=\"http") == std::string::npos);
  CHECK(page.find("href=\"http") == std::string::npos);
  CHECK(page.size() < 230'000);
}

}  // namespace page_spec
