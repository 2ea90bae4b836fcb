// SPDX-License-Identifier: Apache-2.0
// Arguments and keys put into, changed in and taken out of texts.
#include "report/launch/job_edit.hpp"
#include "report/launch/script_edit.hpp"
#include "tests/catch.hpp"

namespace job_edit_spec {

TEST_CASE("variables that hold arguments stay behind an argument that changes or goes") {
  const std::string list = "\"--sequence-parallel --swiglu --bf16\"";
  const std::vector<report::JobEdit> edits{{"--tensor-model-parallel-size", "1"},
                                           {"--sequence-parallel", {}}};
  const auto edited = [&](const std::string& value, const std::string& more) {
    return report::edited_script(
        "X=" + list + "\nrun --tensor-model-parallel-size " + value + " " + more + " --lr 1\n",
        edits);
  };
  for (const std::string more : {"$X", "${X}", "\"${L[@]}\"", "\"$@\"", "${@:2}"})
    for (const std::string value : {"2", "$TP", "$((TP * 2))", "$(expr $TP \\* 2)", "${TP:-2}"})
      CHECK(edited(value, more) ==
            "X=\" --swiglu --bf16\"\nrun --tensor-model-parallel-size 1 " + more + " --lr 1\n");
}

TEST_CASE("arguments behind one that goes take its place on the line") {
  const std::vector<report::JobEdit> edits{{"--a", {}}, {"--b", {}}};
  CHECK(report::edited_script("run \\\n    --a --b 2 --c \\\n    --d\n", edits) ==
        "run \\\n    --c \\\n    --d\n");
  CHECK(report::edited_script("run \\\n    --a --c --d 1\n", edits) == "run \\\n    --c --d 1\n");
}

TEST_CASE(
    "what follows a command on its line stays behind an argument that changes, goes or comes") {
  const auto edited = [](const std::string& text, const report::JobEdit& edit) {
    return report::edited_script(text, {{"--tensor-model-parallel-size", "2"}, edit});
  };
  const std::string run = "run --tensor-model-parallel-size 2 ";
  for (const std::string behind :
       {" | tee log", "; echo 2", " ; echo 2", " || exit 1", " && ls", " > log.txt 2>&1",
        " 2>err.log", " 2> err 1>log", " &> log", " < in", " >log", "|tee log", " &", " >>log"}) {
    INFO(behind);
    CHECK(edited(run + "--a 1" + behind + "\n", {"--a", "3"}) == run + "--a 3" + behind + "\n");
    CHECK(edited(run + "--a" + behind + "\n", {"--a", {}}) ==
          run.substr(0, run.size() - 1) + behind + "\n");
    CHECK(edited("run \\\n  --tensor-model-parallel-size 2" + behind + "\n", {"--a", "3"}) ==
          "run \\\n  --tensor-model-parallel-size 2 --a 3" + behind + "\n");
  }
}

TEST_CASE("a command ends where it ended once its last argument is gone") {
  const std::vector<report::JobEdit> edits{{"--a", {}}};
  for (const std::string feed : {"\n", "\r\n"}) {
    const auto text = [&](const std::string& last) {
      return "run \\" + feed + "  --b 1" + last + feed + "echo done" + feed;
    };
    CHECK(report::edited_script(text("  \\" + feed + "  --a"), edits) == text(""));
    CHECK(report::edited_script(text(" \\" + feed + "  --a \\" + feed + "  --c"), edits) ==
          text(" \\" + feed + "  --c"));
  }
  CHECK(report::edited_script("run \\\n  --b 1 \\\n  --a", edits) == "run \\\n  --b 1");
  CHECK(report::edited_script("X=(\n  --a\n)\n", edits) == "X=(\n)\n");
}

TEST_CASE("a command whose last line gets an argument behind it goes on to that") {
  const std::vector<report::JobEdit> edits{{"--micro-batch-size", "1"}, {"--a", "3"}};
  for (const std::string feed : {"\n", "\r\n"}) {
    const auto command = "run \\" + feed + "  --micro-batch-size 1";
    CHECK(report::edited_script(command + feed, edits) ==
          command + " \\" + feed + "  --a 3" + feed);
    CHECK(report::edited_script(command + "  \\" + feed + "  --c" + feed, edits) ==
          command + "  \\" + feed + "  --a 3  \\" + feed + "  --c" + feed);
    const auto list = "X=(" + feed + "  --micro-batch-size 1" + feed;
    CHECK(report::edited_script(list + ")" + feed, edits) == list + "  --a 3" + feed + ")" + feed);
  }
}

TEST_CASE("a new key of JSON leaves comments and sections in braces as they are") {
  const std::vector<report::JobEdit> edits{{"zero_optimization.stage", "1"},
                                           {"activation_checkpointing.number_checkpoints", "4"}};
  CHECK(report::edited_json("{ // mine\n  \"a\": 1,\n  \"zero_optimization\": {\"b\": 2}\n}\n",
                            edits) ==
        "{ // mine\n  \"activation_checkpointing\": {\"number_checkpoints\": 4},\n  \"a\": 1,\n  "
        "\"zero_optimization\": {\"stage\": 1, \"b\": 2}\n}\n");
  CHECK(report::edited_yaml("p: {a: 1}  # b\n", {{"p.c", "2"}}) == "p: {c: 2, a: 1}  # b\n");
}

TEST_CASE("a key of a section inside of another comes into that, or makes it there") {
  const std::vector<report::JobEdit> edits{{"a.b.c", "1"}};
  CHECK(report::edited_json("{\"a\": {\"d\": 2}}", edits) ==
        "{\"a\": {\"b\": {\"c\": 1}, \"d\": 2}}");
  CHECK(report::edited_yaml("a:\n  d: 2\n", edits) == "a:\n  b: {c: 1}\n  d: 2\n");
  CHECK(report::edited_yaml("d: 2\n", edits) == "d: 2\na:\n  b: {c: 1}\n");
  CHECK(report::edited_toml("[a]\nd = 2\n", edits) == "[a]\nd = 2\n\n[a.b]\nc = 1\n");
}

TEST_CASE("a key that shares its line goes alone") {
  const std::vector<report::JobEdit> edits{{"a.b", {}}};
  CHECK(report::edited_json("{\"a\": {\"b\": 1, \"c\": 2}, \"d\": 3}", edits) ==
        "{\"a\": {\"c\": 2}, \"d\": 3}");
  CHECK(report::edited_json("{\"a\": {\"c\": 2, \"b\": {\"e\": 1}}}", edits) ==
        "{\"a\": {\"c\": 2}}");
  CHECK(report::edited_json("{\"a\": {\"b\": 1}}", edits) == "{\"a\": {}}");
  CHECK(report::edited_yaml("a: {b: 1, c: 2}  # d\n", edits) == "a: {c: 2}  # d\n");
  CHECK(report::edited_json("{\n  \"a\": {\n    \"c\": 2,\n    \"b\": 1 // d\n  }\n}\n", edits) ==
        "{\n  \"a\": {\n    \"c\": 2\n  }\n}\n");
}

TEST_CASE("anchors of YAML keep their names, and an alias is replaced where it stands") {
  const std::vector<report::JobEdit> edits{{"p.tp", "2"}};
  CHECK(report::edited_yaml("par: &tp 4\np:\n  tp: *tp  # all\n", edits) ==
        "par: &tp 4\np:\n  tp: 2  # all\n");
  CHECK(report::edited_yaml("p:\n  tp: &tp 4\nq: *tp\n", edits) == "p:\n  tp: &tp 2\nq: *tp\n");
}

TEST_CASE("a new section comes before the line that ends a document of YAML") {
  const std::vector<report::JobEdit> edits{{"o.z", "1"}};
  CHECK(report::edited_yaml("a: 1\n...\n", edits) == "a: 1\no:\n  z: 1\n...\n");
  CHECK(report::edited_yaml("a: b...\n", edits) == "a: b...\no:\n  z: 1\n");
}

TEST_CASE("a text of TOML in three quotes is one value") {
  CHECK(report::edited_toml("[a]\nmode = \"\"\"full\"\"\"  # b\n", {{"a.mode", "\"none\""}}) ==
        "[a]\nmode = \"none\"  # b\n");
}

TEST_CASE("an argument whose value stands elsewhere gets no other behind it") {
  const std::string text = "run --micro-batch-size 1 \\\n  --tensor-model-parallel-size \\\n  2\n";
  CHECK(report::edited_script(text, {{"--tensor-model-parallel-size", "4"}, {"--a", ""}}) ==
        "run --micro-batch-size 1 --a \\\n  --tensor-model-parallel-size \\\n  2\n");
}

TEST_CASE("a section without keys is filled, and not opened again") {
  const std::vector<report::JobEdit> edits{{"a.b", "1"}};
  CHECK(report::edited_json("{\"a\": {}}", edits) == "{\"a\": {\"b\": 1}}");
  CHECK(report::edited_json("{\n  \"c\": 2,\n  \"a\": { // none\n  }\n}\n", edits) ==
        "{\n  \"c\": 2,\n  \"a\": {\"b\": 1 // none\n  }\n}\n");
  CHECK(report::edited_toml("[a]  # none\n\n[c]\nd = 2\n", edits) ==
        "[a]  # none\nb = 1\n\n[c]\nd = 2\n");
  CHECK(report::edited_toml("a = {}\n", edits) == "a = {b = 1}\n");
  CHECK(report::edited_yaml("a: {}  # none\nc: 2\n", edits) == "a: {b: 1}  # none\nc: 2\n");
  CHECK(report::edited_yaml("a:\nc: 2\n", edits) == "a:\n  b: 1\nc: 2\n");
}

TEST_CASE("new lines end as the lines of the file do") {
  const std::vector<report::JobEdit> edits{{"a.b", "[\n  1,\n]"}, {"c.d", "2"}};
  const auto crlf = [](std::string text) {
    for (auto at = text.find('\n'); at != text.npos; at = text.find('\n', at + 2))
      text.insert(at, "\r");
    return text;
  };
  for (const std::string toml : {"[a]\ne = 3\n", "[a]\n", "[a]\nb = 1\n", "[c]\nx = 1\n[a]\n"})
    CHECK(report::edited_toml(crlf(toml), edits) == crlf(report::edited_toml(toml, edits)));
  for (const std::string yaml : {"a:\n  e: 3\n", "a:\nf: 1\n", "a: {}\n"})
    CHECK(report::edited_yaml(crlf(yaml), edits) == crlf(report::edited_yaml(yaml, edits)));
  for (const std::string json :
       {"{\n  \"a\": {}\n}\n", "{ // x\n  \"e\": 1\n}\n", "{\n  \"c\": {\n    \"e\": 1\n  }\n}\n"})
    CHECK(report::edited_json(crlf(json), edits) == crlf(report::edited_json(json, edits)));
}

TEST_CASE("an argument in quotes of its own changes inside of them and goes with them") {
  const auto edited = [](const std::string& text, const report::JobEdit& edit) {
    return report::edited_script(text, {edit});
  };
  const report::JobEdit four{"--a", "4"}, gone{"--a", {}};
  for (const std::string quote : {"\"", "'"}) {
    const auto in = [&](const std::string& word) { return quote + word + quote; };
    const auto line = [&](const std::string& words) { return "run " + words + " --c 1\n"; };
    CHECK(edited(line(in("--a") + " 2"), four) == line(in("--a") + " 4"));
    CHECK(edited(line(in("--a") + " " + in("2")), four) == line(in("--a") + " " + in("4")));
    CHECK(edited(line(in("--a=2")), four) == line(in("--a=4")));
    for (const auto& words :
         {in("--a"), in("--a") + " 2", in("--a") + " " + in("2"), in("--a=2")}) {
      CHECK(edited(line(words + " " + in("--b")), gone) == line(in("--b")));
      CHECK(edited("X=(\n  --b\n  " + words + "\n  --c 1\n)\n", gone) ==
            "X=(\n  --b\n  --c 1\n)\n");
    }
  }
}

}  // namespace job_edit_spec
