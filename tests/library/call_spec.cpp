// SPDX-License-Identifier: Apache-2.0
// Requests in JSON, and the answers of the command line.
#include <filesystem>
#include <locale>
#include <nlohmann/json.hpp>
#include <thread>

#include "library/call.hpp"
#include "tests/catch.hpp"

namespace call_spec {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

const json small = json::parse(R"({
  "model": "llama2-7b", "cluster": {"node": "dgx-a100-80gb", "nodes": 1},
  "training": {"sequence_length": 1024, "global_batch": 16, "precision": "bf16"},
  "plan": {"tensor": 2, "micro_batch": 2, "zero": 1}})");

library::Answer run(const json& request, const library::Hooks& hooks = {}) {
  return library::run(library::call_of(request.dump()), hooks);
}

std::vector<std::string> words(const std::string& request) {
  return library::call_of(request).words;
}

json step_of(const library::Answer& answer) { return json::parse(answer.document)["step"]; }

}  // namespace

TEST_CASE("a request becomes words of the command line") {
  CHECK(words(R"({"command": "sweep export", "inputs": ["a.sqlite", "-b"], "options":
                  {"memory_snapshot": "m", "full": true, "not": false, "none": null, "top": 3,
                   "env": ["A=1", "B=2"]}})") ==
        std::vector<std::string>{"sweep", "export", "--memory-snapshot=m", "--full=true", "--top=3",
                                 "--env=A=1", "--env=B=2", "--", "a.sqlite", "-b"});
}

TEST_CASE("values to set are laid over the values there, key by key") {
  CHECK(
      words(R"({"command": "simulate", "options": {"set": {"plan": {"tensor": 2, "schedule": "1f1b",
                  "layers": []}, "cluster.nodes": 4, "alerts": {}}}})") ==
      std::vector<std::string>{"simulate", "--set=plan.tensor=2", "--set=plan.schedule=\"1f1b\"",
                               "--set=plan.layers=[]", "--set=cluster.nodes=4", "--set=alerts={}"});
}

TEST_CASE("a document is a text under a name of its own") {
  const auto call = library::call_of(
      json{{"command", "simulate"}, {"inputs", {small}}, {"options", {{"against", small}}}}.dump());
  CHECK(call.words == std::vector<std::string>{"simulate", "--against=against", "--", "scenario"});
  CHECK(json::parse(call.texts.at("scenario")) == small);
  CHECK(json::parse(call.texts.at("against")) == small);
}

TEST_CASE("a text that is no request is refused") {
  for (const std::string wrong :
       {"", "[]", "{}", R"({"command": 3})", R"({"command": " "})",
        R"({"command": "simulate", "input": []})", R"({"command": "simulate", "inputs": "a"})",
        R"({"command": "simulate", "texts": {"a": 1}})"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH(library::call_of(wrong), Contains("request: "));
  }
}

TEST_CASE("a text that is no request is told apart from others") {
  const std::vector<std::pair<std::string, std::string>> wrongs{
      {" ", "request: is empty"},
      {"{\"command\": ", "request: is no JSON: parse error at line 1, column 13"},
      {"{\"command\": \"\xff\"}", "ill-formed UTF-8"},
      {"[]", "request: is JSON, but no object"},
      {"{}", "request: has no command"},
      {R"({"command": 3})", "request: its command is no text"},
      {R"({"command": "simulate", "inputs": ["a\u0000b"]})", "an input has a zero byte"},
      {R"({"command": "simulate", "options": {"measured": "1\u0000"}})",
       "options.measured has a zero byte"},
      {R"({"command": "explain", "options": {"trace": ""}})", "options.trace is an empty text"}};
  for (const auto& [wrong, said] : wrongs) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH(library::call_of(wrong), Contains(said));
  }
}

TEST_CASE("a flag is no value of an option that takes one") {
  const auto answer =
      run({{"command", "simulate"}, {"inputs", {small}}, {"options", {{"threads", true}}}});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.said, Contains("--threads: Value true not in range"));
}

TEST_CASE("a command without a document says that it cannot be called") {
  const auto manual = run({{"command", "man"}});
  CHECK(manual.status == 2);
  CHECK_THAT(manual.said, Contains("man: prints a text and has no --json"));
  const auto shell = run({{"command", "completion"}, {"inputs", {"bash"}}});
  CHECK_THAT(shell.said, Contains("run 'stepcast completion' as a program"));
}

TEST_CASE("a file without a name is told to be one") {
  const auto answer = run({{"command", "simulate"}, {"inputs", {""}}});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.said, Contains("a file without a name: write its path"));
}

TEST_CASE("a document is answered as a file of its text is") {
  const auto here = run({{"command", "simulate"}, {"inputs", {small}}});
  REQUIRE(here.status == 0);
  const auto text =
      run({{"command", "simulate"}, {"inputs", {"mine"}}, {"texts", {{"mine", small.dump()}}}});
  CHECK(step_of(here) == step_of(text));
  const auto set = run({{"command", "simulate"},
                        {"inputs", {small}},
                        {"options", {{"set", {{"plan", {{"micro_batch", 1}}}}}}}});
  CHECK(step_of(here) != step_of(set));
}

TEST_CASE("an answer does not depend on the locale of the host program") {
  struct German : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  auto wrong = small;
  wrong["plan"]["micro_batch"] = 1.5;
  const json request{{"command", "simulate"}, {"inputs", {small}}};
  const json refused{{"command", "simulate"}, {"inputs", {wrong}}};
  const auto here = run(request);
  const auto why = run(refused);
  const auto usual = std::locale::global(std::locale(std::locale(), new German));
  const auto there = run(request);
  const auto why_there = run(refused);
  std::locale::global(usual);
  CHECK(step_of(there) == step_of(here));
  CHECK(why_there.said == why.said);
}

TEST_CASE("files that a document names are found from the current folder") {
  auto with = small;
  with["model"] = {{"huggingface", "scenarios/examples/configs/none.json"}};
  const auto answer = run({{"command", "simulate"}, {"inputs", {with}}});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.said, Contains("scenarios/examples/configs/none.json"));
}

TEST_CASE("an answer that is none says the mistake, and its place") {
  auto wrong = small;
  wrong["plan"]["tensr"] = 2;
  wrong["model"] = "llama2-7bb";
  const auto answer = run({{"command", "simulate"}, {"inputs", {wrong}}});
  CHECK(answer.status == 2);
  CHECK(answer.document.empty());
  const auto document = json::parse(library::document_of(answer));
  REQUIRE(document["complaints"].size() == 2);
  CHECK(document["complaints"][0]["file"] == "scenario");
  CHECK(document["complaints"][0]["line"].get<int>() > 1);
  CHECK_THAT(document["complaints"][1]["text"].get<std::string>() +
                 document["complaints"][0]["text"].get<std::string>(),
             Contains("did you mean 'llama2-70b'?"));
  CHECK(document["error"].get<std::string>() + '\n' == answer.said);

  const auto usage = run({{"command", "simulat"}, {"inputs", {small}}});
  CHECK(usage.status == 2);
  CHECK(json::parse(library::document_of(usage))["complaints"].empty());
  CHECK_THAT(usage.said, Contains("did you mean 'simulate'?"));
}

TEST_CASE("an answer has the warnings that the command line prints") {
  auto large = small;
  large["plan"] = {{"tensor", 1}};
  large["training"]["sequence_length"] = 8192;
  const auto answer = run({{"command", "simulate"}, {"inputs", {large}}});
  CHECK(answer.said.empty());
  REQUIRE(answer.warnings.size() == 3);
  CHECK(answer.warnings[0] ==
        "training.sequence_length 8192 is beyond the model's max_sequence 4096");
  CHECK_THAT(answer.warnings[1], Contains("of 79.2 GiB device memory"));
  CHECK_THAT(answer.warnings[2], Contains("plan.zero: 2"));
  CHECK(run({{"command", "simulate"}, {"inputs", {small}}}).warnings.empty());
}

TEST_CASE("pages and traces are those of --report and --trace, made when they are asked for") {
  const auto answer = run({{"command", "simulate"}, {"inputs", {small}}});
  CHECK_THAT(answer.page(), Contains("<html"));
  CHECK(json::parse(answer.trace()).contains("traceEvents"));
  CHECK(!std::filesystem::exists("page.html"));
  const auto list = run({{"command", "catalog list"}});
  CHECK(list.status == 0);
  CHECK_THROWS_AS(list.page(), std::invalid_argument);
}

TEST_CASE("an answer without a page or a timeline says which of them it has not") {
  const auto why =
      run({{"command", "explain"}, {"inputs", {small}}, {"options", {{"measured", "3s"}}}});
  CHECK((!why.has_page && !why.has_trace));
  // Its --trace reads a file, and is not asked to write one.
  CHECK_THROWS_WITH(why.trace(), "an answer of explain has no timeline");
  CHECK_THROWS_WITH(why.page(), "an answer of explain has no page (--report)");
  auto question = small;
  question.erase("plan");
  question["search"]["micro_batch"] = 1024;
  const auto none = run({{"command", "search"}, {"inputs", {question}}});
  CHECK((none.status == 1 && !none.has_page));
  CHECK_THROWS_WITH(none.page(), Contains("found no plan, and so has no page"));
}

TEST_CASE("a sweep that is asked to stop answers with the points it has") {
  std::stop_source stop;
  library::Hooks hooks{.stop = stop.get_token(), .progress = {}};
  hooks.progress = [&](const app::Headway&) { stop.request_stop(); };
  std::vector<int> batches;
  for (int batch = 16; batch < 16'000; batch += 16) batches.push_back(batch);
  const json grid{{"base", small},
                  {"vary", {{"plan.micro_batch", {1, 2, 4}}, {"training.global_batch", batches}}}};
  const auto store = std::filesystem::temp_directory_path() / "call_spec_stopped.sqlite";
  std::filesystem::remove(store);
  const json request{{"command", "sweep"},
                     {"inputs", {grid}},
                     {"options", {{"threads", 1}, {"store", store.string()}}}};
  const auto answer = run(request, hooks);
  std::filesystem::remove(store);
  CHECK(answer.status == 130);
  const auto document = json::parse(answer.document);
  CHECK(document["interrupted"] == true);
  CHECK(document["points"].size() < 3 * batches.size());
}

TEST_CASE("a plan that is searched for a simulation tells how far the search is") {
  std::stop_source stop;
  library::Hooks hooks{.stop = stop.get_token(), .progress = {}};
  int told = 0;
  hooks.progress = [&](const app::Headway& headway) {
    CHECK(json::parse(library::json_of(headway)).contains("plans_open"));
    if (++told == 2) stop.request_stop();
  };
  const auto answer =
      run({{"command", "simulate"},
           {"inputs", {"scenarios/examples/gpt3-175b-search-4096-a100.yaml"}},
           {"options", {{"plan", "auto"}, {"threads", 1}, {"set", {{"search.gap", 0}}}}}},
          hooks);
  CHECK(told == 2);
  if (answer.status == 0)
    CHECK(json::parse(answer.document)["searched"]["interrupted"] == true);
  else
    CHECK_THAT(answer.said, Contains("stopped before any plan was found"));
}

TEST_CASE("a call that is asked to stop ends with the answer it has") {
  std::stop_source stop;
  library::Hooks hooks{.stop = stop.get_token(), .progress = {}};
  int told = 0;
  hooks.progress = [&](const app::Headway& headway) {
    ++told;
    CHECK(json::parse(library::json_of(headway)).contains("plans"));
    stop.request_stop();
  };
  const auto answer = run({{"command", "search"},
                           {"inputs", {"scenarios/examples/gpt3-175b-search-4096-a100.yaml"}},
                           {"options", {{"threads", 1}}}},
                          hooks);
  CHECK(answer.status == 130);
  CHECK(told == 1);
  CHECK(json::parse(answer.document)["interrupted"] == true);
}

TEST_CASE("calls of several threads answer as one would") {
  const json request{{"command", "simulate"}, {"inputs", {small}}};
  const auto wanted = step_of(run(request));
  std::vector<json> got(6);
  {
    std::vector<std::jthread> threads;
    for (auto& one : got) threads.emplace_back([&] { one = step_of(run(request)); });
  }
  for (const auto& one : got) CHECK(one == wanted);
}

}  // namespace call_spec
