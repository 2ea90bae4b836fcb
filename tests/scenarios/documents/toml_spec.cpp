// SPDX-License-Identifier: Apache-2.0
// Documents of TOML as the values that its specification gives them.
#include <string>
#include <vector>

#include "scenarios/documents/toml.hpp"
#include "scenarios/documents/value_json.hpp"
#include "tests/catch.hpp"

namespace toml_spec {

namespace {

// The document as JSON, or the mistake in it.
std::string read(const std::string& text) {
  try {
    return scenarios::json_of(scenarios::parse_toml(text, "f"));
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
}

struct Case {
  std::string text, json;
};

void check(const std::vector<Case>& cases) {
  for (const auto& one : cases) {
    INFO(one.text);
    CHECK(read(one.text) == one.json);
  }
}

// The place of the value at a key of the first table.
std::string place_of(const std::string& text, const std::string& key) {
  const auto document = scenarios::parse_toml(text, "f");
  const auto* value = document.find(key);
  return std::to_string(value->line) + ":" + std::to_string(value->column);
}

}  // namespace

TEST_CASE("plain values of TOML are numbers, truths and words as they are written") {
  check({{"a = 1", R"({"a":1})"},
         {"a = -17", R"({"a":-17})"},
         {"a = +17", R"({"a":17})"},
         {"a = 1_000_000", R"({"a":1000000})"},
         {"a = 0xff", R"({"a":255})"},
         {"a = 0o755", R"({"a":493})"},
         {"a = 0b1101", R"({"a":13})"},
         {"a = 3e-4", R"({"a":0.0003})"},
         {"a = 6.5", R"({"a":6.5})"},
         {"a = true\nb = false", R"({"a":true,"b":false})"},
         {"a = 1979-05-27", R"({"a":"1979-05-27"})"},
         {"a = 07:32:00", R"({"a":"07:32:00"})"},
         {"a = 1979-05-27T07:32:00Z", R"({"a":"1979-05-27T07:32:00Z"})"}});
}

TEST_CASE("texts of TOML keep their quotes' kind: basic ones have escapes, literal ones none") {
  check({{R"(a = "x y")", R"({"a":"x y"})"},
         {R"(a = "8")", R"({"a":"8"})"},  // a text, and no number
         {R"(a = "true")", R"({"a":"true"})"},
         {R"(a = "x\ty\\z\"")", R"({"a":"x\ty\\z\""})"},
         {R"(a = 'x\ty')", R"({"a":"x\\ty"})"},
         {"a = \"\"\"\nx\ny\"\"\"", R"({"a":"x\ny"})"},
         {"a = \"\"\"x \\\n   y\"\"\"", R"({"a":"x y"})"},
         {"a = '''\nx\\n'''", R"({"a":"x\\n"})"},
         {"a = ''", R"({"a":""})"},
         {"a = \"#\" # b", R"({"a":"#"})"}});
}

TEST_CASE("keys of TOML are bare, quoted or dotted, and dots make tables") {
  check({{"a-b_1 = 1", R"({"a-b_1":1})"},
         {"\"a b\" = 1", R"({"a b":1})"},
         {"'a.b' = 1", R"({"a.b":1})"},
         {"a.b = 1\na.c = 2", R"({"a":{"b":1,"c":2}})"},
         {"a . b = 1", R"({"a":{"b":1}})"},
         {"[a]\nb.c = 1", R"({"a":{"b":{"c":1}}})"},
         {"[a.b]\nc = 1\n[a]\nd = 2", R"({"a":{"b":{"c":1},"d":2}})"},
         {"[ a . b ]\nc = 1", R"({"a":{"b":{"c":1}}})"},
         {"[a]\n[b]\nc = 1", R"({"a":{},"b":{"c":1}})"},
         {"[[a]]\nb = 1", R"({"a":{"b":1}})"},
         {"[[a]]\nb = 1\n[[a]]\nc = 2", R"({"a":{"c":2}})"},
         {"[[a]]\n[a.b]\nc = 1\n[[a]]\n[a.b]\nc = 2", R"({"a":{"b":{"c":2}}})"}});
}

TEST_CASE("lists and tables of TOML may stand in one line, and lists in several") {
  check({{"a = []", R"({"a":[]})"},
         {"a = [1, 2]", R"({"a":[1,2]})"},
         {"a = [\n  1, # one\n  2,\n]", R"({"a":[1,2]})"},
         {"a = [[1], ['b']]", R"({"a":[[1],["b"]]})"},
         {"a = {}", R"({"a":{}})"},
         {"a = {b = 1, c = {d = 2}}", R"({"a":{"b":1,"c":{"d":2}}})"},
         {"a = [{b = 1}, {b = 2}]", R"({"a":[{"b":1},{"b":2}]})"}});
}

TEST_CASE("comments, empty lines and ends of lines of Windows mean nothing in TOML") {
  check({{"", "{}"},
         {"# only\n\n", "{}"},
         {"a = 1 # b = 2\n", R"({"a":1})"},
         {"a = 1\r\n[b]\r\nc = 2\r\n", R"({"a":1,"b":{"c":2}})"},
         {"\xEF\xBB\xBF"
          "a = 1",
          R"({"a":1})"}});
}

TEST_CASE("a text that is no TOML is refused where it goes wrong") {
  const std::string no = ": this is not TOML: ";
  check({{"a", "f:1:2" + no + "expected key = value"},
         {"a =", "f:1:4" + no + "expected a value"},
         {"= 1", "f:1:1" + no + "expected a key"},
         {"a = 1 b = 2", "f:1:7" + no + "expected the end of the line"},
         {"a = [1 2]", "f:1:8" + no + "expected , or ]"},
         {"a = [1,", "f:1:8" + no + "expected ]"},
         {"a = {b = 1", "f:1:11" + no + "expected , or }"},
         {"a = \"x\ny\"", "f:1:7" + no + "the text does not end"},
         {"a = \"\"\"x", "f:1:9" + no + "the text does not end"},
         {R"(a = "\q")", "f:1:8" + no + "an escape that is none"},
         {"[a", "f:1:3" + no + "expected ]"},
         {"[a]]", "f:1:4" + no + "expected the end of the line"},
         {"[]", "f:1:2" + no + "expected a key"},
         {"a = 1\na.b = 2", "f:2:7" + no + "'a' is no table"},
         {"a = 1\na = 2", "f:2:5" + no + "'a' is given twice"},
         {"[a]\nb = 1\n[a.b]", "f:3:6" + no + "'b' is no table"},
         {"[a]\nb = 1\n[c]\n[a]\nd = 1", "f:4:3" + no + "the table 'a' is given twice"},
         {"[a.b]\n[a]\n[a.b]", "f:3:5" + no + "the table 'a.b' is given twice"}});
  CHECK(read("a = " + std::string(34, '[') + std::string(34, ']')).find("too deep") !=
        std::string::npos);
  CHECK(read("a = " + std::string(33, '[') + std::string(33, ']')).find("too deep") ==
        std::string::npos);
}

TEST_CASE("values of TOML know the line and the column at which they begin") {
  CHECK(place_of("a = 1\n  b = 'x'\n", "a") == "1:5");
  CHECK(place_of("a = 1\n  b = 'x'\n", "b") == "2:7");
  CHECK(place_of("# c\na = \"\"\"\nx\"\"\"\nb = [\n1]", "b") == "4:5");
}

TEST_CASE("a text looks like TOML by its first line with a header or a key") {
  for (const std::string text : {"[a]\n", "# c\n\n[a.b]\n", "a = 1\n", "a.b = 1\n", "  [[a]]\n",
                                 "\xEF\xBB\xBF[a]\r\n", "a-b_c = 'x'\n"})
    CHECK(scenarios::looks_like_toml(text));
  for (const std::string text : {"", "# c\n", "a: 1\n", "[1, 2]\n", "a=1\n", "echo a = b\n",
                                 "[ -f a ] && b = c\n", "[]\n", "{\"a\": 1}\n", "a b = 1\n"})
    CHECK_FALSE(scenarios::looks_like_toml(text));
}

}  // namespace toml_spec
