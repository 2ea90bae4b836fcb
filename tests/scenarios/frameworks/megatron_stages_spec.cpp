// SPDX-License-Identifier: Apache-2.0
// Layers on the stages of a Megatron-LM job, by each of the rules that divide them.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "scenarios/documents/layer_rule.hpp"
#include "scenarios/jobs/layer_pattern.hpp"
#include "tests/catch.hpp"
#include "tests/fewer.hpp"
#include "tests/scenarios/jobs.hpp"

namespace megatron_stages_spec {

namespace {

// The layers and more arguments of a job of 4 pipeline ranks.
std::string job_of(const std::string& more) {
  return "--hidden-size 512\n--num-attention-heads 8\n--seq-length 1024\n--global-batch-size 32\n"
         "--micro-batch-size 1\n--bf16\n--pipeline-model-parallel-size 4\n--num-layers " +
         more + "\n";
}

const std::string chunks = "\n--num-virtual-stages-per-pipeline-rank ";
const std::string layers_each = "\n--num-layers-per-virtual-pipeline-stage ";
const std::string layout = "\n--pipeline-model-parallel-layout ";
const std::string first = "\n--decoder-first-pipeline-num-layers ";
const std::string last = "\n--decoder-last-pipeline-num-layers ";
const std::string embedding = "\n--account-for-embedding-in-pipeline-split";
const std::string loss = "\n--account-for-loss-in-pipeline-split";
const std::string alone = "\n--standalone-embedding-stage";

struct Split {
  std::string more, layers;
};

void check_layers(const std::vector<Split>& cases) {
  for (const auto& one : cases) {
    INFO(one.more);
    CHECK(tests::value(job_of(one.more), "plan.layers_per_stage") == one.layers);
  }
}

}  // namespace

TEST_CASE("equal layers on all stages of a Megatron-LM job are not listed") {
  check_layers({{"12", ""}, {"24" + chunks + "2", ""}, {"24" + layers_each + "3", ""}});
}

TEST_CASE("the first and the last rank of a Megatron-LM job may have layers of their own number") {
  check_layers({{"13" + first + "4", "4 3 3 3"},
                {"14" + first + "2", "2 4 4 4"},
                {"13" + last + "1", "4 4 4 1"},
                {"15" + first + "4" + last + "3", "4 4 4 3"},
                {"10" + first + "1" + last + "1", "1 4 4 1"},
                {"20" + first + "4" + last + "4" + chunks + "2", "2 3 3 2 2 3 3 2"}});
}

TEST_CASE("embedding and loss of a Megatron-LM job may count as a layer each") {
  check_layers({{"15" + embedding, "3 4 4 4"},
                {"15" + loss, "4 4 4 3"},
                {"14" + embedding + loss, "3 4 4 3"},
                {"22" + embedding + loss + chunks + "2", "2 3 3 3 3 3 3 2"},
                {"22" + embedding + loss + layers_each + "3", "2 3 3 3 3 3 3 2"}});
}

TEST_CASE("the embedding of a Megatron-LM job may have the first rank for itself") {
  check_layers({{"12" + alone, "0 4 4 4"}, {"12" + alone + chunks + "2", "0 2 2 2 0 2 2 2"}});
}

TEST_CASE("a layout of a Megatron-LM job names the layers of each stage, virtual ones included") {
  check_layers({{"8" + layout + "'Et|ttt|tt|ttL'", "1 3 2 2"},
                {"8" + layout + "'E|tttt|tttt|L'", "0 4 4 0"},
                {"9" + layout + "'Et|(t|)*5tt|tL'", "1 1 1 1 1 1 2 1"},
                {"12" + layout + "'Et*2|(tt|)*2,t*6L'", "2 2 2 6"},
                {"9" + layout + "'Et|t|t|t|t|t|t|ttL'", "1 1 1 1 1 1 1 2"}});
  const auto text = job_of("9" + layout + "'Et|t|t|t|t|t|t|ttL'");
  CHECK(tests::value(text, "plan.schedule") == "interleaved");
  CHECK(tests::value(text, "plan.virtual_stages") == "2");
}

TEST_CASE("chunks of a rank are given by their number or by their layers") {
  tests::check_values(
      {{"24", "plan.schedule", "1f1b"},
       {"24", "plan.overlap.pipeline", "false"},
       {"24" + chunks + "3", "plan.schedule", "interleaved"},
       {"24" + chunks + "3", "plan.virtual_stages", "3"},
       {"24" + chunks + "3", "plan.overlap.pipeline", ""},
       {"24" + chunks + "3\n--no-overlap-p2p-communication", "plan.overlap.pipeline", "false"},
       {"24" + layers_each + "2", "plan.virtual_stages", "3"},
       {"24" + layers_each + "6", "plan.schedule", "1f1b"},
       {"24" + chunks + "1", "plan.schedule", "1f1b"},
       {"12" + alone + layers_each + "2", "plan.virtual_stages", "2"},
       {"23" + embedding + layers_each + "3", "plan.virtual_stages", "2"}},
      job_of);
}

TEST_CASE("layers of a Megatron-LM job that do not fall on its stages are refused with numbers") {
  tests::check_refusals(
      {{"14",
        "--num-layers 14: 14 layers do not divide over 4 stages (4 pipeline ranks x 1 "
        "virtual stages)"},
       {"12" + chunks + "2", "12 layers do not divide over 8 stages (4 pipeline ranks x 2"},
       {"24" + layers_each + "5", "24 layers do not fall into stages of 5 on 4 pipeline ranks"},
       {"24" + layers_each + "0", "24 layers do not fall into stages of 0 on 4 pipeline ranks"},
       {"14" + first + "3", "the other layers do not fall evenly on the other stages"},
       {"14" + first + "15", "the other layers do not fall evenly on the other stages"},
       {"20" + first + "5" + last + "3" + chunks + "2", "do not fall evenly on the other stages"},
       {"13" + embedding, "14 layers, embedding and loss counted, do not divide over 4 stages"},
       {"13" + alone, "13 layers do not divide over the other 3 stages"},
       {"8" + layout + "'Et|tttt|tttL'", "3 stages do not divide over 4 pipeline ranks"},
       {"8" + layout + "'Et|tt|tt|tL'", "it has 6 layers of 8"},
       {"8" + layout + "'Et|x'", "expected a layout such as Et*3|(tt|)*6mL"}},
      job_of);
}

TEST_CASE("a list of layers in Python is read, whatever its terms are made of") {
  struct Case {
    const char *text, *layers;
  };
  const auto shown = [](const std::string& text) {
    const auto list = scenarios::layer_list(text);
    std::string all = list ? "" : "none";
    for (const int one : list.value_or(std::vector<int>())) all += static_cast<char>('0' + one);
    return all;
  };
  for (const auto& one : std::vector<Case>{{"[1]", "1"},
                                           {"[1]*3", "111"},
                                           {"[0,1,1]", "011"},
                                           {"[0]*2+[1]*3", "00111"},
                                           {"([0]+[1]*2)*2", "011011"},
                                           {"'([1] * 2 + [0])'", "110"},
                                           {"[1]*2*2", "1111"},
                                           {"[1]*0", ""},
                                           {"", "none"},
                                           {"1", "none"},
                                           {"[]", "none"},
                                           {"[1,]", "none"},
                                           {"[1]*", "none"},
                                           {"[1]+", "none"},
                                           {"[1])", "none"},
                                           {"[-1]", "none"},
                                           {"[1]*10001", "none"},
                                           {"[1]*5000+[0]*5001", "none"}}) {
    INFO(one.text);
    CHECK(shown(one.text) == one.layers);
  }
  CHECK(shown("[1]*10000").size() == 10'000);
  CHECK(shown(std::string(16, '(') + "[1]" + std::string(16, ')')) == "1");
  CHECK(shown(std::string(17, '(') + "[1]" + std::string(17, ')')) == "none");
}

// A layout is drawn as the numbers of layers of its stages, some of them in repeated brackets.
TEST_CASE("a drawn layout has the layers that its stages were drawn with") {
  std::mt19937 random(7);
  for (unsigned n = 0; n < 500 / tests::fewer; ++n) {
    std::vector<std::int64_t> layers;
    std::string text = "E";
    const auto groups = 1 + random() % 4;
    for (unsigned group = 0; group < groups; ++group) {
      const auto each = random() % 4, times = 1 + random() % 3;
      text += "(" + (each > 1 ? "t*" + std::to_string(each) : std::string(each, 't')) + "|)*" +
              std::to_string(times);
      layers.insert(layers.end(), times, static_cast<std::int64_t>(each));
    }
    const auto rest = random() % 3;
    text += std::string(rest, 't') + "L";
    layers.push_back(static_cast<std::int64_t>(rest));
    INFO(text);
    const auto read = scenarios::stage_layout(text);
    REQUIRE(read);
    CHECK(read->layers == layers);
    CHECK_FALSE(read->apart);
  }
}

// The rule is applied by hand to every layer; both ways round they must agree.
TEST_CASE("a list made by a rule of windows is told by the same layers") {
  for (int size = 1; size <= 24; ++size)
    for (int every = 1; every <= 6; ++every)
      for (int full = 0; full <= 6; ++full) {
        if (full == 1 || (every > 1 && full > 0)) continue;
        std::vector<bool> windowed;
        for (int layer = 0; layer < size; ++layer)
          windowed.push_back(layer % every == 0 && !(full > 0 && layer % full == full - 1));
        const auto rule = scenarios::window_rule(windowed);
        REQUIRE(rule);
        std::vector<bool> again;
        for (int layer = 0; layer < size; ++layer)
          again.push_back(layer % rule->every == 0 &&
                          !(rule->full_every > 0 && (layer + 1) % rule->full_every == 0));
        CHECK(again == windowed);
      }
}

}  // namespace megatron_stages_spec
