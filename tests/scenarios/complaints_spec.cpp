// SPDX-License-Identifier: Apache-2.0
// The mistakes of one file, collected.
#include "scenarios/documents/error.hpp"
#include "scenarios/documents/meanings.hpp"
#include "scenarios/documents/nearest.hpp"
#include "scenarios/purchase/purchase_file.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/catch.hpp"

namespace complaints_spec {

using scenarios::Complaints;

namespace {

std::string said(Complaints& complaints) {
  try {
    complaints.throw_if_any();
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("mistakes come out in the order of the file, then mistakes of --set, each once") {
  Complaints complaints("f");
  CHECK(said(complaints) == "nothing");
  complaints.add({.line = 10, .column = 2}, "c");
  complaints.add({.line = 1, .column = 1, .set = 1}, "d");
  complaints.add({.line = 9, .column = 3}, "b");
  complaints.add({.line = 9, .column = 3}, "b");
  complaints.add({.line = 9, .column = 1}, "a\nb");
  CHECK(said(complaints) == "f:9:1: a b\nf:9:3: b\nf:10:2: c\n--set 1: d");
  CHECK(said(complaints) == "nothing");
}

TEST_CASE("a name of the same meaning is nearer than one that is spelt alike") {
  const std::string_view names[] = {"tensor", "pipeline", "context", "expert", "expert_tensor"};
  const auto near = [&](std::string_view wanted) { return scenarios::nearest(wanted, names); };
  CHECK(near("tensor_model_parallel_size") == "tensor");
  CHECK(near("TP") == "tensor");
  CHECK(near("expert_tensor_parallel_size") == "expert_tensor");
  CHECK(near("pipelin") == "pipeline");
  CHECK(near("precision").empty());
}

TEST_CASE("a name with all words of the wanted one is nearer than one with another number") {
  const std::string_view names[] = {"h200-sxm", "h100-80gb-sxm", "h100-pcie"};
  CHECK(scenarios::nearest("h100-sxm", names) == "h100-80gb-sxm");
  CHECK(scenarios::nearest("h200-sxn", names) == "h200-sxm");
}

TEST_CASE("several names may be meant, the nearest first") {
  const std::string_view names[] = {"tensor", "tenor", "pipeline", "tensors"};
  const auto meant = [&](std::size_t most) { return scenarios::suggestion("tenso", names, most); };
  CHECK(meant(1) == scenarios::suggestion("tenso", names));
  CHECK(meant(2) == "; did you mean 'tensor' or 'tensors'?");
  CHECK(meant(4) == "; did you mean 'tensor', 'tensors' or 'tenor'?");
  CHECK(scenarios::suggestion("zzzzzz", names, 3).empty());
}

TEST_CASE("every word of a framework means a word of scenarios, and is none itself") {
  const auto schema = scenarios::scenario_schema() + scenarios::purchase_schema();
  const auto known = [&](std::string_view word) {
    return schema.find('"' + std::string(word) + '"') != std::string::npos;
  };
  for (const auto& [theirs, ours] : scenarios::meanings) {
    CAPTURE(theirs, ours);
    CHECK(known(ours));
    CHECK(theirs != ours);
  }
}

TEST_CASE("the first hundred of many mistakes are told, whatever the order they are found in") {
  const bool backwards = GENERATE(false, true);
  Complaints complaints("f");
  for (int i = 0; i < 1234; ++i) complaints.add({.line = backwards ? 1234 - i : i + 1}, "wrong");
  const auto text = said(complaints);
  CHECK(text.starts_with("f:1:1: wrong\nf:2:1: wrong\n"));
  CHECK_THAT(text, STEPCAST_HOLDS("\nf:100:1: wrong\nf: and 1134 more mistakes"));
  CHECK(std::ranges::count(text, '\n') == 100);
  for (int i = 0; i < 101; ++i) complaints.add({.line = i + 1}, "wrong");
  CHECK_THAT(said(complaints),
             STEPCAST_HOLDS("\nf: and 1 more mistake") && !STEPCAST_HOLDS("mistakes"));
}

TEST_CASE("a file that is nothing but mistakes is not read to its end") {
  Complaints complaints("f");
  int read = 0;
  try {
    for (; read < 10'000'000; ++read) complaints.add({.line = read + 1}, "wrong");
  } catch (const scenarios::Error& wrong) {
    CHECK(wrong.complaints.size() == 101);
    CHECK(wrong.complaints.back().text ==
          "and 100000 more mistakes, behind which nothing was read");
  }
  CHECK(read < 101'000);
}

TEST_CASE("a file asks for unsupported features only if all its complaints say so") {
  Complaints complaints("f");
  for (int i = 0; i < 200; ++i) complaints.add({.line = i + 1}, {{}, "not yet", true});
  try {
    complaints.throw_if_any();
  } catch (const scenarios::Error& wrong) {
    CHECK(scenarios::only_unsupported(wrong));
  }
}

}  // namespace complaints_spec
