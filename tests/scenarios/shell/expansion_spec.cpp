// SPDX-License-Identifier: Apache-2.0
// Words of a script as the words that bash makes of them.
#include <string>
#include <vector>

#include "scenarios/shell/words.hpp"
#include "tests/catch.hpp"

namespace expansion_spec {

namespace {

using scenarios::ShellVariables;
using scenarios::ShellWord;

ShellVariables variables() {
  ShellVariables all({});
  all.assign("A", {{"x y", {}, {}}});
  all.assign("B", {{"a.b.c", {}, {}}});
  all.assign("E", {{"", {}, {}}});
  all.assign("I", {{"1", {}, {}}});
  all.assign("P", {{"B", {}, {}}});
  all.assign("S", {{"a*", {}, {}}});
  all.assign("T", {{"  lead", {}, {}}});
  all.assign("L", {{"p q", {}, {}}, {"r", {}, {}}, {"s", {}, {}}});
  all.set_kind("L", 'a');
  all.assign("K", {{"[tp]=4", {}, {}}, {"[pp]=2", {}, {}}});
  all.set_kind("K", 'A');
  all.assign("N", {{"[3]=late", {}, {}}});
  all.set_kind("N", 'a');
  return all;
}

std::string shown(const std::vector<ShellWord>& words) {
  std::string all;
  for (const auto& word : words) all += "[" + (word.trouble.empty() ? word.text : "?") + "]";
  return all;
}

struct Case {
  const char *raw, *words;
};

void check(const std::vector<Case>& cases) {
  const auto all = variables();
  for (const auto& one : cases) {
    INFO(one.raw);
    CHECK(shown(all.expanded(one.raw, {})) == one.words);
  }
}

// The words with three arguments of a function.
void check_arguments(const std::vector<Case>& cases) {
  auto all = variables();
  all.exchange_arguments({{"8", {}, {}}, {"x y", {}, {}}, {"--tp", {}, {}}});
  for (const auto& one : cases) {
    INFO(one.raw);
    CHECK(shown(all.expanded(one.raw, {})) == one.words);
  }
}

}  // namespace

TEST_CASE("a value is split outside of quotes, and an empty one is no word there") {
  check({{"$A", "[x][y]"},
         {"\"$A\"", "[x y]"},
         {"-$A-", "[-x][y-]"},
         {"$T", "[lead]"},
         {"\"$T\"", "[  lead]"},
         {"$E", ""},
         {"\"$E\"", "[]"},
         {"$E$E", ""},
         {"a$E", "[a]"},
         {"''", "[]"},
         {"'$A'", "[$A]"},
         {"\\$A", "[$A]"},
         {"\"\\$A\"", "[$A]"},
         {"$'a\\tb'", "[a\tb]"},
         {"\"a\\b\"", "[a\\b]"},
         {"a\\ b", "[a b]"}});
}

TEST_CASE("a default is taken for a value that is missing, and with a colon for an empty one") {
  check({{"${U:-8}", "[8]"},
         {"${U-8}", "[8]"},
         {"${E:-8}", "[8]"},
         {"${E-8}", ""},
         {"${B:-8}", "[a.b.c]"},
         {"${U:=8}", "[8]"},
         {"${U:-$B}", "[a.b.c]"},
         {"${U:-${V:-3}}", "[3]"},
         {"${U:-}", ""},
         {"\"${U:-}\"", "[]"},
         {"${U}", "[?]"},
         {"${U:?say it}", "[?]"},
         {"${B:?say it}", "[a.b.c]"}});
}

TEST_CASE("a default keeps its blanks in quotes, around it or its own") {
  check({{"${U:-a  b}", "[a][b]"},
         {"\"${U:-a  b}\"", "[a  b]"},
         {"${U:-\"a  b\"}", "[a  b]"},
         {"\"${U:-\"a  b\"}\"", "[a  b]"},
         {"${U:-$A}", "[x][y]"},
         {"\"${U:-$T}\"", "[  lead]"},
         {"\"${U:-$A  z}\"", "[x y  z]"},
         {"${U:-'a b'}", "[a b]"},
         {"\"${U:-'a b'}\"", "['a b']"},  // in quotes a single one is itself
         {"${U:-\"\"}", "[]"}});
}

TEST_CASE("another word is taken for a value that is there, and with a colon for one with text") {
  check({{"${B:+8}", "[8]"},
         {"${E:+8}", ""},
         {"${E+8}", "[8]"},
         {"${U:+8}", ""},
         {"a${U+8}b", "[ab]"},
         {"${B:+--name \"$A\"}", "[--name][x y]"},
         {"${B:+\"$A\"}", "[x y]"},
         {"\"${B:+$T}\"", "[  lead]"},
         {"${L:+8}", "[8]"}});
}

TEST_CASE("blanks at the edges of another word part it from the text beside it, but in quotes") {
  check({{"1${A:+ --sp}", "[1][--sp]"},
         {"${A:+--a }--b", "[--a][--b]"},
         {"1${A:+--sp}", "[1--sp]"},
         {"1${E:+ --sp}", "[1]"},
         {"1${U:- --sp }2", "[1][--sp][2]"},
         {"\"1${A:+ --sp}\"", "[1 --sp]"}});
}

TEST_CASE("a part of a value begins at a letter, counted from 0 or from the end") {
  check({{"${B:2}", "[b.c]"},
         {"${B:2:1}", "[b]"},
         {"${B: -1}", "[c]"},
         {"${B:(-3)}", "[b.c]"},
         {"${B:0:-2}", "[a.b]"},
         {"${B::1}", "[a]"},
         {"${B:$I:1}", "[.]"},
         {"${B:I+1:1}", "[b]"},
         {"${B:9}", ""},
         {"\"${B:9}\"", "[]"},
         {"${B:3:-3}", "[?]"},      // its end is before its begin
         {"${B:-1}", "[a.b.c]"}});  // a default
}

TEST_CASE("a quoted sign of patterns is no pattern where a value is shortened") {
  check({{"${B%.*}", "[a.b]"},
         {"${B%\".c\"}", "[a.b]"},
         {"${B%\".*\"}", "[?]"},
         {"${B#\"$S\"}", "[?]"},
         {"${S%\\*}", "[a]"},
         {"${B#$S}", "[.b.c]"},
         {"${B/./-}", "[a-b.c]"},
         {"${B//./-}", "[a-b-c]"},
         {"${B^^}", "[A.B.C]"}});
}

TEST_CASE("elements of an array are counted from 0, its text is the first") {
  check({{"$L", "[p][q]"},
         {"\"$L\"", "[p q]"},
         {"\"${L[1]}\"", "[r]"},
         {"\"${L[I]}\"", "[r]"},
         {"\"${L[I+1]}\"", "[s]"},
         {"\"${L[-1]}\"", "[s]"},
         {"\"${L[9]}\"", "[]"},
         {"\"${L[@]}\"", "[p q][r][s]"},
         {"${L[@]}", "[p][q][r][s]"},
         {"\"${L[*]}\"", "[p q r s]"},
         {"\"${L[@]:1}\"", "[r][s]"},
         {"\"${L[@]:0:2}\"", "[p q][r]"},
         {"${#L[@]}", "[3]"},
         {"\"-${L[@]}-\"", "[-p q][r][s-]"}});
}

TEST_CASE("an array with keys has the value at a key, and its text is that at 0") {
  check({{"${K[tp]}", "[4]"},
         {"${K['pp']}", "[2]"},
         {"${K[$U]}", "[?]"},
         {"${K[@]}", "[4][2]"},
         {"$K", "[?]"},
         {"\"${N[3]}\"", "[late]"},
         {"\"$N\"", "[?]"}});
}

TEST_CASE("elements beside one that only a shell can tell are not told") {
  auto all = variables();
  all.assign("M", {all.value_of("$(hostname)", {}).front(), {"a", {}, {}}});
  all.set_kind("M", 'a');
  CHECK(shown(all.expanded("${M[0]}", {})) == "[?]");
  CHECK(shown(all.expanded("${M[1]}", {})) == "[?]");  // there may be several hosts
  CHECK(shown(all.expanded("${M[@]:1}", {})) == "[?]");
  CHECK(shown(all.expanded("${#M[@]}", {})) == "[?]");
}

TEST_CASE("lengths are in letters, and a name may stand in another variable") {
  check({{"${#B}", "[5]"},
         {"${#E}", "[0]"},
         {"${#U}", "[?]"},
         {"${!P}", "[a.b.c]"},
         {"${!B}", "[?]"},  // whose text is no name
         {"${!U}", "[?]"}});
}

TEST_CASE("arguments of a function are its own, all of them or some") {
  check_arguments({{"$1", "[8]"},
                   {"$2", "[x][y]"},
                   {"\"$2\"", "[x y]"},
                   {"${3}", "[--tp]"},
                   {"\"$4\"", "[]"},
                   {"$4", ""},
                   {"${4:-d}", "[d]"},
                   {"${1:-d}", "[8]"},
                   {"${1:+yes}", "[yes]"},
                   {"${4:+yes}", ""},
                   {"$#", "[3]"},
                   {"\"$@\"", "[8][x y][--tp]"},
                   {"$@", "[8][x][y][--tp]"},
                   {"\"$*\"", "[8 x y --tp]"},
                   {"\"${@:2}\"", "[x y][--tp]"},
                   {"\"${@:2:1}\"", "[x y]"},
                   {"\"${@: -1}\"", "[--tp]"},
                   {"${2%% *}", "[x]"},
                   {"${3#--}", "[tp]"},
                   {"$(($1*2))", "[16]"}});
}

TEST_CASE("outputs of commands that need no program are put in") {
  check({{"$((1+2))", "[3]"},
         {"$(echo a)", "[a]"},
         {"$(echo \"$B\")", "[a.b.c]"},
         {"$(basename /p/q.sh)", "[q.sh]"},
         {"$(basename /p/q.sh .sh)", "[q]"},
         {"$(dirname /p/q.sh)", "[/p]"},
         {"$(expr 2 + 3)", "[5]"},
         {"$(expr 2 \\* 3)", "[6]"},
         {"$(printf '%s-%d' a 7)", "[a-7]"},
         {"$(seq 2 4)", "[2][3][4]"},
         {"\"$(seq 2)\"", "[1\n2]"},
         {"$(echo a b | cut -d' ' -f2)", "[b]"},
         {"`echo a`", "[a]"},
         {"$(hostname)", "[?]"},
         {"$(echo a | tr a b)", "[?]"},
         {"$(cat file)", "[?]"},
         {"<(ls)", "[?]"},
         {"$?", "[?]"}});
}

}  // namespace expansion_spec
