// SPDX-License-Identifier: Apache-2.0
// Launch configurations that are files, read back: degrees make up the GPUs, microbatches the
// batch.
#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <random>

#include "report/launch/launch.hpp"
#include "tests/catch.hpp"
#include "tests/forecast/random_scenario.hpp"

namespace launch_files_spec {

using report::Framework;

TEST_CASE("DeepSpeed's batch is its microbatches on its replicas") {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const auto s = tests::sharded_scenario(random);
    const auto text = report::launch(s, Framework::deepspeed).text;
    INFO(text);
    const auto config = nlohmann::json::parse(text);
    const auto tensor = config.contains("tensor_parallel")
                            ? config["tensor_parallel"]["autotp_size"].get<std::int64_t>()
                            : 1;
    const auto context = config.value("sequence_parallel_size", std::int64_t{1});
    const bool alone = tensor * context == 1;
    CHECK(config.contains("train_batch_size") == (alone || s.plan.pipeline > 1));
    CHECK(config.value("train_batch_size", s.training.global_batch) * s.plan.pipeline * tensor *
              context ==
          config["train_micro_batch_size_per_gpu"].get<std::int64_t>() *
              config["gradient_accumulation_steps"].get<std::int64_t>() * s.cluster.gpus);
  }
}

TEST_CASE("nanotron's degrees are its GPUs, and make up the batch") {
  std::mt19937 random(8);
  for (int i = 0; i < 200; ++i) {
    const auto s = tests::sharded_scenario(random);
    const auto text = report::launch(s, Framework::nanotron).text;
    INFO(text);
    const auto file = YAML::Load(text);
    const auto degree = [&](const char* key) {
      return file["parallelism"][key].as<std::int64_t>();
    };
    const auto replicas = degree("dp") * degree("expert_parallel_size");
    CHECK(replicas * degree("tp") * degree("pp") * degree("context_parallel_size") ==
          s.cluster.gpus);
    CHECK(replicas * file["tokens"]["micro_batch_size"].as<std::int64_t>() *
              file["tokens"]["batch_accumulation_per_replica"].as<std::int64_t>() ==
          s.training.global_batch);
    CHECK(file["model"]["model_config"]["num_hidden_layers"].as<std::int64_t>() == s.model.layers);
  }
}

namespace {

// The value of `key = value`.
std::string toml_value(const std::string& text, const std::string& key) {
  const auto at = text.find("\n" + key + " = ");
  REQUIRE(at != text.npos);
  const auto begin = at + key.size() + 4;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("torchtitan's degrees are its GPUs, and every layer is on one stage") {
  std::mt19937 random(9);
  for (int i = 0; i < 200; ++i) {
    const auto s = tests::sharded_scenario(random);
    const auto text = report::launch(s, Framework::torchtitan).text;
    INFO(text);
    std::int64_t gpus = 1;
    for (const auto* key :
         {"data_parallel_replicate_degree", "data_parallel_shard_degree", "tensor_parallel_degree",
          "pipeline_parallel_degree", "context_parallel_degree"})
      gpus *= std::stoll(toml_value(text, key));
    CHECK(gpus == s.cluster.gpus);
    if (s.plan.pipeline == 1) continue;
    for (std::int64_t layer = 0; layer < s.model.layers; ++layer) {
      const auto name = "\"layers." + std::to_string(layer) + "\"";
      const auto at = text.find(name);
      CHECK(at != text.npos);
      CHECK(text.find(name, at + 1) == text.npos);
    }
  }
}

}  // namespace launch_files_spec
