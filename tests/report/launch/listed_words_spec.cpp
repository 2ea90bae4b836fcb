// SPDX-License-Identifier: Apache-2.0
// Commands of Kubernetes' containers change word by word.
#include "report/launch/job_change.hpp"
#include "report/launch/listed_words.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"

namespace listed_words_spec {

namespace {

using Sentences = std::vector<std::string>;

std::string object(const std::string& container) {
  return "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: main\n" + container;
}

}  // namespace

TEST_CASE("a word of a list changes in its place, and a new one comes behind it") {
  const auto block = [](const std::string& words) { return object("      command:\n" + words); };
  const auto words = block(
      "        - torchrun\n        - pretrain_gpt.py\n        - --micro-batch-size  # of a GPU\n"
      "        - $(MBS)  # four\n        - '--seq-length=2048'\n        - --swiglu\n        - "
      "--bf16\n");
  CHECK(report::has_listed_words(words));
  CHECK(report::listed_value(words, "--micro-batch-size") == "$(MBS)");
  CHECK(report::listed_value(words, "--seq-length") == "2048");
  CHECK(report::listed_value(words, "--swiglu") == "");
  CHECK_FALSE(report::listed_value(words, "--fp16"));
  CHECK(report::edited_words(words, {{"--micro-batch-size", "2"},
                                     {"--seq-length", "4096"},
                                     {"--recompute-modules", "mlp moe"},
                                     {"--swiglu", {}},
                                     {"--bf16", {}}}) ==
        block("        - torchrun\n        - pretrain_gpt.py\n        - --micro-batch-size  # of a "
              "GPU\n        - \"2\"  # four\n        - '--seq-length=4096'\n        - "
              "--recompute-modules\n        - \"mlp\"\n        - \"moe\"\n"));
}

TEST_CASE("words of a list in brackets keep its commas") {
  const auto flow = [](const std::string& words) {
    return object("      args: [" + words + "]\n");
  };
  const auto words = flow("\"--tp\", \"4\", \"--modules\", \"mlp\", \"moe\", \"--a\", \"--b\"");
  CHECK(report::edited_words(words, {{"--tp", "2"}}) ==
        flow("\"--tp\", \"2\", \"--modules\", \"mlp\", \"moe\", \"--a\", \"--b\""));
  CHECK(report::edited_words(words, {{"--tp", {}}, {"--modules", "mlp"}}) ==
        flow("\"--modules\", \"mlp\", \"--a\", \"--b\""));
  CHECK(report::edited_words(words, {{"--b", {}}, {"--c", "'x|y'"}}) ==
        flow("\"--tp\", \"4\", \"--modules\", \"mlp\", \"moe\", \"--a\", \"--c\", \"x|y\""));
}

TEST_CASE("a text for a shell is no list of words") {
  CHECK_FALSE(report::has_listed_words(
      object("      command: [\"bash\", \"-c\", \"torchrun pretrain_gpt.py --bf16\"]\n")));
  CHECK_FALSE(report::has_listed_words("torchrun pretrain_gpt.py --bf16\n"));
}

TEST_CASE("a line that a change replaced in one container, and another has still, is told") {
  const std::string line = "          torchrun pretrain_gpt.py --bf16 --micro-batch-size ";
  const auto shell = "      command: [\"bash\", \"-c\"]\n      args:\n        - |\n" + line;
  const auto two = [&](const std::string& first, const std::string& second) {
    return object(shell + first + "\n") + "    - name: other\n" + shell + second + "\n";
  };
  CHECK(report::left_in_container(two("4", "4"), two("2", "4")) ==
        "line 14: another container starts the same command, and has this line as it was; change "
        "it alike");
  CHECK(report::left_in_container(two("4", "4"), two("2", "2")).empty());
  CHECK(report::left_in_container(two("4", "1"), two("2", "1")).empty());
  CHECK(report::left_in_container(object(shell + "4\n"), object(shell + "2\n")).empty());
}

TEST_CASE("all containers that start the same command get the arguments of the plan") {
  const auto replica = [](const std::string& name, const std::string& words) {
    return "    " + name +
           ":\n      replicas: 1\n      template:\n        spec:\n          containers:\n"
           "            - name: pytorch\n              env:\n              - name: "
           "CUDA_DEVICE_MAX_CONNECTIONS\n                value: \"1\"\n              command:\n" +
           words;
  };
  const auto job = [&](const std::string& words) {
    return "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  nprocPerNode: \"8\"\n  "
           "pytorchReplicaSpecs:\n" +
           replica("Master", words) + replica("Worker", words);
  };
  const auto words = [](const std::string& all) {
    std::string lines;
    for (std::size_t begin = 0; begin < all.size();) {
      const auto end = std::min(all.find(' ', begin), all.size());
      const auto word = all.substr(begin, end - begin);
      const bool number = word.find_first_not_of("0123456789") == word.npos;
      lines += "                - " + (number ? "\"" + word + "\"" : word) + "\n";
      begin = end + 1;
    }
    return lines;
  };
  const std::string model =
      "torchrun pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 16 "
      "--seq-length 2048 --max-position-embeddings 2048 --vocab-size 32000 --tokenizer-type "
      "NullTokenizer --bf16 --micro-batch-size 2 --global-batch-size 64 "
      "--tensor-model-parallel-size ";
  const auto text = job(words(model + "1 --recompute-activations"));
  const auto under = [&](const std::string& set) {
    const auto to =
        scenarios::load_placed_scenario(scenarios::Source("job.yaml", text),
                                        std::vector<std::string>{"cluster.node=dgx-h100", set}, {})
            .value;
    auto changed = report::changed_job(text, "job.yaml", {}, to);
    REQUIRE(changed);
    INFO(changed->diff);
    CHECK(changed->left == Sentences{});
    CHECK(changed->beside == Sentences{});
    return changed->text;
  };
  CHECK(under("plan.tensor=2") == job(words(model + "2 --recompute-activations")));
  const auto whole = under("plan.recompute=full");
  CHECK(whole.find("--recompute-activations") == whole.npos);
  CHECK_THAT(whole, STEPCAST_HOLDS("- --recompute-granularity\n                - \"full\"\n"));
  CHECK(under("plan.micro_batch=2") == text);
}

}  // namespace listed_words_spec
