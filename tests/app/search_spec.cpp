// SPDX-License-Identifier: Apache-2.0
// A search as a user meets it: exit statuses, and the ways in which it ends.
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/stopping.hpp"
#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace search_spec {

namespace {

using nlohmann::json;
using tests::stepcast;

const std::string gpt3 = "scenarios/examples/gpt3-175b-search-4096-a100.yaml";

}  // namespace

TEST_CASE("a search in an empty space names the limits: exit 1, and no plan in the JSON") {
  const auto run =
      stepcast({"search", gpt3, "--json", "--set", "plan.pipeline=64", "--set", "search.data=3"});
  CHECK(run.status == app::no_answer);
  CHECK(run.err ==
        "stepcast: no plan is possible: no degrees multiply to 4,096 GPUs and divide the model and "
        "1,536 sequences as asked; there are some if data is left open\n");
  const auto document = json::parse(run.out);
  CHECK(document["plans"] == json::array());
  CHECK(document["best"] == nullptr);
  CHECK(document["space"]["enumerated"] == 0);
  const auto text =
      stepcast({"search", gpt3, "--set", "plan.pipeline=64", "--set", "search.data=3"});
  CHECK(text.status == app::no_answer);
  CHECK(text.out.empty());
}

TEST_CASE("mistakes in a question are found before anything is searched") {
  const std::pair<std::vector<std::string>, const char*> mistakes[] = {
      {{"search", gpt3, "--set", "plan.tensor=7"}, "--set 1: plan.tensor: 7 does not divide 96"},
      {{"search", gpt3, "--set", "search.tensr=8"}, "did you mean 'tensor'?"},
      {{"search", gpt3, "--top", "0"}, "--top"},
      {{"search", gpt3, "--emit", "megatorn"}, "megatorn"},
      {{"search", gpt3, "--trace", "plan.txt"}, "--trace plan.txt: unknown format"},
      {{"search", "no-such.yaml"}, "no-such.yaml"},
      {{"search"}, "scenario is required"},
      {{"serch", gpt3}, "did you mean 'search'?"}};
  for (const auto& [arguments, said] : mistakes) {
    const auto run = stepcast(arguments);
    CAPTURE(arguments, run.err);
    CHECK(run.status == app::wrong_input);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, STEPCAST_HOLDS(said));
  }
}

TEST_CASE("a search for a cluster explains its plan, and fails where none is fast enough") {
  const std::vector<std::string> one_node{
      "search", "scenarios/examples/llama3-8b-search-cluster-h100.yaml",
      "--json", "--quiet",
      "--top",  "1",
      "--set",  "search.nodes=1",
      "--set",  "search.tensor=2",
      "--set"};
  auto arguments = one_node;
  arguments.push_back("search.rate=1e3 tokens/s");
  const auto run = stepcast(arguments);
  CHECK(run.status == app::success);
  const auto document = json::parse(run.out);
  CHECK(document["plans"].size() == 1);
  CHECK(document["objective"]["value"] == 1);
  CHECK(document["why"]["resources"].size() == 4);
  CHECK(document["why"]["memory"].size() == 7);
  CHECK(document["why"]["next_best"]["rank"] >= 2);
  arguments = one_node;
  arguments.push_back("search.rate=1e9");
  const auto slow = stepcast(arguments);
  CHECK(slow.status == app::no_answer);
  CHECK(json::parse(slow.out)["objective"]["value"] == nullptr);
  CHECK_THAT(slow.err, STEPCAST_HOLDS("stepcast: too slow: of 1 nodes, the fastest are 1, with"));
}

TEST_CASE("a scenario for a search is no plan for simulate, which says so") {
  const auto run = stepcast({"simulate", gpt3});
  CHECK(run.status == app::wrong_input);
}

TEST_CASE("Ctrl-C asks a search to stop") {
  const app::Stopping stopping({});
  CHECK_FALSE(stopping.flag());
  std::raise(SIGINT);
  CHECK(stopping.flag());
  CHECK(stopping.by_user());
  CHECK(std::signal(SIGINT, SIG_DFL) == SIG_DFL);  // a second Ctrl-C ends the program
}

TEST_CASE("a limit of time asks a search to stop, and is not the user") {
  const app::Stopping stopping(units::Seconds{0.01});
  for (int i = 0; i < 1000 && !stopping.flag(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(stopping.flag());
  CHECK_FALSE(stopping.by_user());
}

TEST_CASE("a search that ends before its limit leaves neither timer nor handler") {
  const auto before = std::signal(SIGINT, SIG_IGN);
  { const app::Stopping stopping(units::Seconds{3600}); }
  CHECK(std::signal(SIGINT, before) == SIG_IGN);
  const app::Stopping next({});
  CHECK_FALSE(next.flag());
}

}  // namespace search_spec
