// SPDX-License-Identifier: Apache-2.0
// Megatron-LM's command line, read back.
#include <charconv>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "plans/partition.hpp"
#include "report/launch/launch.hpp"
#include "strategies/lowering/lower.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/launch_scenarios.hpp"

namespace launch_megatron_spec {

using forecast::Scenario;
using strategies::Drop;
using Words = std::vector<std::string>;

namespace {

// The words that a shell makes of the lines that start training.
Words shell_words(const std::string& text) {
  Words words;
  const auto begin = text.find("torchrun");
  for (std::size_t at = begin; at < text.size();) {
    at = text.find_first_not_of(" \\\n", at);
    if (at == text.npos) break;
    const bool quoted = text[at] == '\'' || text[at] == '"';
    const auto end = quoted ? text.find(text[at], at + 1) : text.find_first_of(" \n", at);
    words.push_back(quoted ? text.substr(at + 1, end - at - 1) : text.substr(at, end - at));
    at = quoted ? end + 1 : end;
  }
  return words;
}

struct CommandLine {
  std::map<std::string, Words> torchrun, megatron;
  bool has(const std::string& flag) const { return megatron.contains(flag); }
  std::int64_t number(const std::string& flag, std::int64_t otherwise = 1) const {
    return has(flag) ? std::stoll(megatron.at(flag).at(0)) : otherwise;
  }
};

CommandLine command_line(const std::string& text) {
  CommandLine line;
  auto* flags = &line.torchrun;
  std::string last;
  for (const auto& word : shell_words(text)) {
    if (word == "torchrun") continue;
    if (word == "pretrain_gpt.py") {
      flags = &line.megatron;
    } else if (word.starts_with("--")) {
      REQUIRE_FALSE(flags->contains(word));
      (*flags)[last = word];
    } else {
      (*flags)[last].push_back(word);
    }
  }
  return line;
}

std::map<std::string, std::string> known_flags() {
  std::ifstream file(golden::path("megatron_flags.txt"));
  std::map<std::string, std::string> known;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string flag, takes;
    if (words >> flag >> takes; flag.starts_with("--")) known[flag] = takes;
  }
  return known;
}

template <class Number>
bool is_a(const std::string& value) {
  Number number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc{} && end == value.data() + value.size();
}

bool fits(const std::string& value, const std::string& takes) {
  if (takes == "str") return true;
  if (takes == "int") return is_a<std::int64_t>(value);
  if (takes == "float") return is_a<double>(value);
  std::istringstream choices(takes);
  for (std::string choice; std::getline(choices, choice, '|');)
    if (choice == value) return true;
  return false;
}

void check_flags(const Scenario& s) {
  static const auto known = known_flags();
  REQUIRE(known.size() == 876);
  for (const auto& [flag, values] :
       command_line(report::launch(s, report::Framework::megatron).text).megatron) {
    std::string all;
    for (const auto& value : values) all += " " + value;
    INFO(flag << all);
    REQUIRE(known.contains(flag));
    auto takes = known.at(flag);
    const bool many = takes.back() == '+';
    if (many) takes.pop_back();
    if (takes == "-")
      CHECK(values.empty());
    else
      CHECK((many ? !values.empty() : values.size() == 1));
    for (const auto& value : values) CHECK(fits(value, takes));
  }
}

// The stages of a layout as Megatron-LM reads it: commas are dropped, repetitions written out,
// stages split.
std::vector<std::string> stages_of_layout(std::string layout) {
  std::erase(layout, ',');
  for (auto star = layout.find('*'); star != layout.npos; star = layout.find('*')) {
    const bool group = layout[star - 1] == ')';
    const auto begin = group ? layout.rfind('(', star) : star - 1;
    const auto repeated =
        group ? layout.substr(begin + 1, star - begin - 2) : layout.substr(begin, 1);
    const auto end = std::min(layout.find_first_not_of("0123456789", star + 1), layout.size());
    std::string copies;
    for (int i = std::stoi(layout.substr(star + 1, end - star - 1)); i > 0; --i) copies += repeated;
    layout.replace(begin, end - begin, copies);
  }
  std::vector<std::string> stages(1);
  for (const char c : layout)
    if (c == '|')
      stages.emplace_back();
    else
      stages.back() += c;
  return stages;
}

std::int64_t sum(const std::vector<std::int64_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::int64_t{0});
}

// The number of layers of each stage that a command line makes.
std::vector<std::int64_t> stage_sizes(const CommandLine& line, const Scenario& s) {
  if (!line.has("--pipeline-model-parallel-layout")) {
    const auto stages = s.plan.pipeline * line.number("--num-virtual-stages-per-pipeline-rank");
    REQUIRE(s.model.layers % stages == 0);
    return std::vector<std::int64_t>(static_cast<std::size_t>(stages), s.model.layers / stages);
  }
  const auto stages = stages_of_layout(line.megatron.at("--pipeline-model-parallel-layout")[0]);
  CHECK(stages.front().starts_with("E"));
  CHECK(stages.back().ends_with(
      std::string(static_cast<std::size_t>(line.number("--mtp-num-layers", 0)), 'm') + "L"));
  std::vector<std::int64_t> sizes;
  for (const auto& stage : stages) sizes.push_back(std::ranges::count(stage, 't'));
  return sizes;
}

bool stays_interleaved(const Scenario& s) {
  using strategies::ScheduleKind;
  return (s.plan.schedule == ScheduleKind::interleaved ||
          s.plan.schedule == ScheduleKind::one_f_one_b) &&
         s.plan.virtual_stages > 1 && s.plan.pipeline > 1 &&
         strategies::microbatches_of(s.plan, s.training) >= s.plan.pipeline;
}

// The tensors that Megatron-LM drops of the i-th layer of a stage.
Drop dropped(const CommandLine& line, std::int64_t i) {
  if (!line.has("--recompute-granularity")) return {};
  if (line.megatron.at("--recompute-granularity")[0] == "selective") {
    std::vector<model::Module> modules;
    const auto& names = line.megatron.at("--recompute-modules");
    constexpr std::pair<const char*, model::Module> all[] = {
        {"core_attn", model::Module::core_attn},     {"layernorm", model::Module::layernorm},
        {"moe_act", model::Module::moe_act},         {"mlp", model::Module::mlp},
        {"mla_up_proj", model::Module::mla_up_proj}, {"moe", model::Module::moe}};
    for (const auto& [name, module] : all)
      if (std::ranges::find(names, name) != names.end()) modules.push_back(module);
    return {Drop::modules, strategies::ModuleSet::of(modules)};
  }
  const bool uniform = line.megatron.at("--recompute-method")[0] == "uniform";
  return {uniform || i < line.number("--recompute-num-layers") ? Drop::everything : Drop::nothing};
}

}  // namespace

TEST_CASE("every flag of Megatron-LM exists, and takes the values it is given") {
  check_flags(examples::scenario());
  check_flags(examples::interleaved_gpt3());
  check_flags(examples::dualpipe_deepseek());
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i)
    check_flags(i % 2 == 0 ? tests::random_scenario(random) : tests::sharded_scenario(random));
}

TEST_CASE("Megatron-LM's degrees are the plan's, and with its replicas its GPUs") {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const auto s = tests::random_scenario(random);
    const auto launch = report::launch(s, report::Framework::megatron);
    const auto line = command_line(launch.text);
    INFO(launch.text);
    CHECK(line.number("--tensor-model-parallel-size") == s.plan.tensor);
    CHECK(line.number("--pipeline-model-parallel-size") == s.plan.pipeline);
    CHECK(line.number("--context-parallel-size") == s.plan.context);
    CHECK(line.number("--expert-model-parallel-size") == s.plan.expert);
    if (s.model.moe)
      CHECK(line.number("--expert-tensor-parallel-size") ==
            (s.model.biases ? 1 : strategies::expert_tensor(s.plan)));
    const auto started = std::stoll(line.torchrun.at("--nproc-per-node")[0]) *
                         std::stoll(line.torchrun.at("--nnodes")[0]);
    const bool last_is_named =
        std::ranges::any_of(launch.not_expressed, [](const report::Lost& lost) {
          return golden::contains(lost.sentence, " processes on the last node");
        });
    CHECK((started != s.cluster.gpus) == last_is_named);
  }
}

TEST_CASE("Megatron-LM's stages have the plan's layers") {
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    const auto s = tests::random_scenario(random);
    const auto line = command_line(report::launch(s, report::Framework::megatron).text);
    const auto sizes = stage_sizes(line, s);
    const auto asked = strategies::layers_per_virtual_stage(s.plan, s.model.layers);
    CHECK(sum(sizes) == s.model.layers);
    if (stays_interleaved(s) || static_cast<std::int64_t>(asked.size()) == s.plan.pipeline)
      CHECK(sizes == asked);
    else
      CHECK(static_cast<std::int64_t>(sizes.size()) == s.plan.pipeline);
  }
}

TEST_CASE("a layout repeats what repeats") {
  auto s = examples::interleaved_gpt3();
  const auto layout = [&] {
    return command_line(report::launch(s, report::Framework::megatron).text)
        .megatron.at("--pipeline-model-parallel-layout")[0];
  };
  CHECK(layout() == "Et*5|(t*6|)*12,(t*7|)*2,t*5L");
  s.plan.layers_per_stage = {2, 1, 0, 0, 0, 13, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8};
  s.model.multi_token_prediction = 3;
  s.model.position = model::Position::rope;
  CHECK(layout() == "Ett|t|(|)*3,t*13|(t*8|)*9,t*8m*3L");
}

TEST_CASE("Megatron-LM recomputes no less than the plan, and as much unless it says so") {
  std::mt19937 random(4);
  int exact = 0;
  for (int i = 0; i < 600; ++i) {
    auto s = tests::random_scenario(random);
    if (i % 3 == 0) {
      s.plan.recompute_of_stage.clear();
      s.plan.layers = {{1, 2, s.plan.recompute}};
      if (s.plan.recompute.kind == strategies::Recompute::Kind::full_layers) s.plan.layers.clear();
    }
    const auto launch = report::launch(s, report::Framework::megatron);
    const auto line = command_line(launch.text);
    INFO(launch.text);
    std::vector<Drop> plan;
    for (const auto& blocks : strategies::blocks_of(s.model, s.training, s.plan))
      for (const auto& block : blocks)
        if (block.kind == strategies::Block::Kind::layer) plan.push_back(block.drop);
    // Prediction modules recompute with all layers, not with a number of them.
    const auto predictions = strategies::blocks_of(s.model, s.training, s.plan).back().back().drop;
    const bool predicts = line.has("--mtp-num-layers");
    const bool block =
        line.has("--recompute-method") && line.megatron.at("--recompute-method")[0] == "block";
    bool same = !predicts || predictions == (block ? Drop{} : dropped(line, 0));
    if (predicts && predictions.kind == Drop::everything) CHECK_FALSE(block);
    auto at = plan.begin();
    for (const auto size : stage_sizes(line, s)) {
      const std::vector<Drop> asked(at, at + size);
      at += size;
      std::int64_t whole = 0, recomputed = 0;
      for (std::int64_t layer = 0; layer < size; ++layer) {
        const auto& mine = asked[static_cast<std::size_t>(layer)];
        const auto theirs = dropped(line, layer);
        same &= mine == theirs;
        whole += theirs.kind == Drop::everything;
        recomputed += mine.kind != Drop::nothing;
        if (theirs.kind == Drop::modules && mine.kind == Drop::modules)
          CHECK((mine.of.bits & ~theirs.of.bits) == 0);
        if (theirs.kind == Drop::modules) CHECK(mine.kind <= Drop::modules);
      }
      if (line.has("--recompute-method")) CHECK(whole >= recomputed);
      if (!line.has("--recompute-granularity")) CHECK(recomputed == 0);
    }
    const bool named = std::ranges::any_of(launch.not_expressed, [](const report::Lost& lost) {
      return lost.sentence.starts_with("recompute: ");
    });
    CHECK(named == !same);
    exact += same && line.has("--recompute-granularity");
  }
  CHECK(exact > 50);
}

TEST_CASE("rows of all layers are Megatron-LM's uniform method; other rows are lost, and named") {
  using Kind = strategies::Recompute::Kind;
  auto s = examples::scenario();
  s.plan.recompute = {Kind::full, 0, {}, {2}};
  const auto uniform = report::launch(s, report::Framework::megatron);
  CHECK_THAT(uniform.text,
             STEPCAST_HOLDS("--recompute-method uniform \\\n  --recompute-num-layers 2"));
  CHECK(uniform.not_expressed.empty());
  s.plan.recompute.every = {2, 1};
  const auto nested = report::launch(s, report::Framework::megatron);
  CHECK_THAT(nested.text,
             STEPCAST_HOLDS("--recompute-method uniform \\\n  --recompute-num-layers 1"));
  CHECK(report::sentences_of(nested.not_expressed) ==
        Words{"recompute.checkpoint_every: Megatron-LM keeps the input of every layer that is "
              "recomputed, which takes more memory and no more time"});
}

TEST_CASE("layers recomputed by stage become the first so many of every stage") {
  using Kind = strategies::Recompute::Kind;
  auto s = examples::scenario();
  s.plan.recompute_of_stage = {{Kind::full_layers, 1, {}}, {}};
  const auto launch = report::launch(s, report::Framework::megatron);
  CHECK_THAT(launch.text,
             STEPCAST_HOLDS("--recompute-method block \\\n  --recompute-num-layers 1"));
  CHECK(report::sentences_of(launch.not_expressed) ==
        Words{"recompute: the plan recomputes stage 0: 1 of 2 layers whole; stage 1: nothing; "
              "Megatron-LM has one choice for all stages, and the first 1 layer of every stage "
              "whole is written instead, no less anywhere"});
}

TEST_CASE("interleaving wants whole groups of microbatches") {
  auto s = examples::everything_at_once();
  s.plan.schedule = strategies::ScheduleKind::interleaved;
  s.plan.virtual_stages = 2;
  s.training.global_batch = 4 * 7;  // seven microbatches on four ranks: groups of 7, not 4 + 3
  CHECK_THAT(report::launch(s, report::Framework::megatron).text,
             STEPCAST_HOLDS("--microbatch-group-size-per-virtual-pipeline-stage 7"));
  s.training.global_batch = 4 * 3;
  CHECK_FALSE(command_line(report::launch(s, report::Framework::megatron).text)
                  .has("--num-virtual-stages-per-pipeline-rank"));
}

}  // namespace launch_megatron_spec
