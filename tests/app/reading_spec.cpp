// SPDX-License-Identifier: Apache-2.0
// Files as commands take them: from pipes, which are read once; and files of no known kind.
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "scenarios/documents/file.hpp"
#include "tests/app/stepcast.hpp"
#include "tests/catch.hpp"

namespace reading_spec {

namespace {

namespace fs = std::filesystem;
using tests::stepcast;

const fs::path root = STEPCAST_SOURCE_DIR;

// A text that can be read once: a second reader finds nothing.
class Pipe {
 public:
  explicit Pipe(const std::string& text) {
    REQUIRE(pipe(ends_) == 0);
    REQUIRE(write(ends_[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(ends_[1]);
  }
  ~Pipe() { close(ends_[0]); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2]{};
};

const std::string scenario =
    "model: llama3-8b\n"
    "cluster: {node: dgx-h100, nodes: 1}\n"
    "training: {sequence_length: 4096, global_batch: 16}\n";
const std::string small_search = "search: {tensor: [2, 4], pipeline: 1, micro_batch: 1, zero: 1}\n";

std::string corpus(const std::string& name) {
  return scenarios::read_file(root / "tests/fuzz/corpus" / name);
}

// Runs the command with each {text} argument given through a pipe of its own.
tests::Outcome piped(std::vector<std::string> arguments, const std::string& text) {
  const Pipe pipe(text);
  for (auto& argument : arguments)
    if (argument == "PIPE") argument = pipe.path();
  return stepcast(arguments);
}

void check_reads(const std::vector<std::string>& arguments, const std::string& text) {
  INFO(arguments.front());
  const auto run = piped(arguments, text);
  CHECK(run.err == "");
  CHECK(run.status == app::success);
}

}  // namespace

TEST_CASE("every command takes its file from a pipe") {
  const auto store =
      (fs::temp_directory_path() / ("piped_" + std::to_string(std::random_device()()) + ".sqlite"))
          .string();
  check_reads({"simulate", "PIPE"}, scenario + "published: {step_time: 1 s, source: a test}\n");
  check_reads({"simulate", "PIPE", "--json", "--quiet"}, scenario);
  check_reads({"search", "PIPE", "--quiet"}, scenario + small_search);
  check_reads(
      {"sweep", "PIPE", "--quiet", "--store", store},
      "base:\n  model: llama3-8b\n  cluster: {node: dgx-h100, nodes: 1}\n"
      "  training: {sequence_length: 4096, global_batch: 16}\nvary: {plan.tensor: [1, 2]}\n");
  check_reads({"purchase", "PIPE", "--quiet"},
              "workload: {model: llama3-8b, training: {sequence_length: 8192, global_batch: 64}, "
              "tokens: 1e11}\n" +
                  small_search +
                  "options: [{name: rented, cluster: {node: dgx-h100, nodes: 1}, rent: "
                  "{per_gpu_hour: 2.5 USD}}]\n");
  check_reads({"trace", "PIPE"}, corpus("trace/two_steps"));
  check_reads({"trace", "PIPE"}, corpus("trace/two_steps_packed"));
  check_reads({"import", "huggingface", "PIPE", "--quiet"}, corpus("huggingface/qwen3-0.6b"));
  check_reads({"import", "nccl-tests", "PIPE"}, corpus("nccl_tests/all_reduce_2x2.txt"));
  check_reads({"schedule", "--order", "PIPE", "--forward", "1", "--backward", "2"},
              corpus("order/v"));
  fs::remove(store);
}

TEST_CASE("files beside the first are taken from pipes too") {
  const Pipe first(scenario);
  check_reads({"simulate", first.path(), "--against", "PIPE", "--quiet"}, scenario);
  const Pipe second(scenario);
  check_reads({"simulate", second.path(), "--corrections", "PIPE", "--quiet"},
              corpus("corrections/example"));
  const Pipe third(corpus("trace/two_steps"));
  check_reads({"trace", third.path(), "--against", "PIPE"}, scenario);
}

TEST_CASE("a file that scenarios name is read once, however many are made of them") {
  const auto folder =
      fs::temp_directory_path() / ("beside_" + std::to_string(std::random_device()()));
  fs::create_directories(folder);
  const auto reads = [&](std::vector<std::string> arguments, const std::string& text) {
    const Pipe config(corpus("huggingface/qwen3-0.6b"));
    const auto file = folder / (arguments.front() + ".yaml");
    std::ofstream(file) << "# " << arguments.front() << "\n"
                        << std::string(text).replace(text.find("PIPE"), 4, config.path());
    arguments.insert(arguments.begin() + 1, file.string());
    const auto run = stepcast(arguments);
    INFO(arguments.front());
    CHECK(run.err == "");
    CHECK(run.status == app::success);
    return run.out;
  };
  const std::string one =
      "model: {huggingface: PIPE}\ncluster: {node: dgx-h100, nodes: 1}\n"
      "training: {sequence_length: 2048, global_batch: 16}\n";
  reads({"simulate", "--json"}, one);
  reads({"search", "--quiet"}, one + small_search);
  const auto swept =
      reads({"sweep", "--quiet", "--json", "--threads", "2", "--store",
             (folder / "sweep.sqlite").string()},
            "base: {model: {huggingface: PIPE}, cluster: {node: dgx-h100, nodes: 1}, "
            "training: {sequence_length: 2048, global_batch: 16}}\n"
            "vary: {plan.tensor: [1, 2, 4]}\n");
  CHECK_THAT(swept, !STEPCAST_HOLDS("empty"));
  reads({"purchase", "--quiet"},
        "workload: {model: {huggingface: PIPE}, training: {sequence_length: 2048, global_batch: "
        "64}, tokens: 1e11}\n" +
            small_search +
            "options: [{name: rented, cluster: {node: dgx-h100, nodes: [1, 2]}, rent: "
            "{per_gpu_hour: 2.5 USD}}]\n");
  fs::remove_all(folder);
}

TEST_CASE("a file of no known kind is refused with exit status 2, whatever command reads it") {
  const std::vector<std::vector<std::string>> readers{
      {"simulate"},
      {"search"},
      {"sweep"},
      {"purchase"},
      {"trace"},
      {"import", "huggingface"},
      {"import", "nccl-tests"},
      {"schedule", "--forward", "1", "--backward", "2", "--order"},
      {"calibrate", "--name", "x", "--kernels"}};
  const std::string folder = root.string();
  for (auto arguments : readers) {
    INFO(arguments.front() << " " << arguments.back());
    arguments.push_back(folder);
    const auto of_folder = stepcast(arguments);
    CHECK(of_folder.status == app::wrong_input);
    CHECK(of_folder.err.starts_with(folder + ": is a directory; expected a file"));
    arguments.back() = "/dev/zero";
    CHECK(stepcast(arguments).status == app::wrong_input);
    arguments.back() = "/dev/null";
    const auto empty = stepcast(arguments);
    CHECK(empty.status == app::wrong_input);
    CHECK(empty.err.starts_with("/dev/null:1:1: "));
  }
}

TEST_CASE("a number that no double holds is a mistake of the file, not a fault of the program") {
  const auto run =
      piped({"import", "huggingface", "PIPE"}, R"({"model_type": "llama", "hidden_size": 1e999})");
  CHECK(run.status == app::wrong_input);
  CHECK_THAT(run.err, STEPCAST_HOLDS(":1:40: hidden_size: 1e999 where a whole number from 1"));
}

TEST_CASE("an order whose stages wait for each other is a mistake of its file") {
  const auto run = piped({"schedule", "--order", "PIPE", "--forward", "1", "--backward", "2"},
                         "0F0,0B0,0F1,0B1\n1F0,1F1,1B1,1B0\n");
  CHECK(run.status == app::wrong_input);
  CHECK_THAT(run.err, STEPCAST_HOLDS(":1:1: the schedule's stages wait for each other for ever\n"));
}

TEST_CASE("a small archive of gigabytes is refused at once") {
  const auto file =
      fs::temp_directory_path() / ("bomb_" + std::to_string(std::random_device()()) + ".json.gz");
  auto* out = gzopen(file.c_str(), "wb1");
  gzputs(out, "{\"traceEvents\": [");
  std::string events;
  for (int i = 0; i < 1 << 16; ++i) events += "[],";
  for (int i = 0; i < 200; ++i) gzwrite(out, events.data(), static_cast<unsigned>(events.size()));
  gzclose(out);
  const auto run = stepcast({"trace", file.string()});
  CHECK(run.status == app::wrong_input);
  CHECK(run.err.starts_with(file.string() + ":1:"));
  CHECK_THAT(run.err, STEPCAST_HOLDS(": unpacks to more than 200 times its size"));
  fs::remove(file);
}

}  // namespace reading_spec
