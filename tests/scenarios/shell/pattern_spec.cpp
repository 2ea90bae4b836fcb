// SPDX-License-Identifier: Apache-2.0
// Patterns of a shell: the texts that they fit, and the values that they shorten.
#include <optional>
#include <string>
#include <vector>

#include "scenarios/shell/changed_text.hpp"
#include "scenarios/shell/patterns.hpp"
#include "tests/catch.hpp"

namespace pattern_spec {

namespace {

std::string shown(std::optional<bool> fits) { return !fits ? "unknown" : *fits ? "yes" : "no"; }

struct Fitting {
  const char *text, *pattern, *fits;
};

struct Change {
  const char *text, *operation, *result;
};

void check(const std::vector<Change>& cases) {
  for (const auto& one : cases) {
    INFO(one.text << " " << one.operation);
    CHECK(scenarios::changed_text(one.text, one.operation).value_or("unknown") == one.result);
  }
}

std::string branch(const std::string& word, const std::string& pattern,
                   const std::vector<std::string>& env = {}) {
  scenarios::ShellVariables variables(env);
  variables.assign("S", {{"a*", {}, {}}});
  variables.assign("T", {{"ab", {}, {}}});
  return shown(scenarios::fits_branch(word, {pattern, {}}, variables));
}

}  // namespace

TEST_CASE("a pattern fits a whole text, with stars, single signs and sets of signs") {
  const std::vector<Fitting> cases{{"llama-7b", "llama-*", "yes"},
                                   {"llama-7b", "llama", "no"},
                                   {"llama-7b", "*7*", "yes"},
                                   {"", "*", "yes"},
                                   {"", "?", "no"},
                                   {"a/b", "a*", "yes"},  // a slash is a sign like others
                                   {".x", "*", "yes"},
                                   {"7", "[0-9]", "yes"},
                                   {"a", "[0-9]", "no"},
                                   {"a", "[!0-9]", "yes"},
                                   {"70b", "[78]*b", "yes"},
                                   {"a*", "a\\*", "yes"},
                                   {"ab", "a\\*", "no"},
                                   {"Ab", "ab", "no"},
                                   {"70b", "@(7b|70b)", "yes"},
                                   {"8b", "@(7b|70b)", "no"},
                                   {"8b", "!(7b)", "yes"},
                                   {"aab", "+(a)b", "yes"},
                                   {"b", "+(a)b", "no"},
                                   {"b", "*(a)b", "yes"},
                                   {"b", "?(a)b", "yes"}};
  for (const auto& one : cases) {
    INFO(one.text << " " << one.pattern);
    CHECK(shown(scenarios::fits_pattern(one.text, one.pattern)) == one.fits);
  }
}

TEST_CASE("a pattern that takes long to try is not tried") {
  const std::string text(256, 'a');
  CHECK(shown(scenarios::fits_pattern(text, "a*")) == "yes");
  CHECK(shown(scenarios::fits_pattern(text + "a", "a*")) == "unknown");
  CHECK(shown(scenarios::fits_pattern("a", "*a*")) == "yes");
  CHECK(shown(scenarios::fits_pattern("a", "*a*a*")) == "unknown");
  CHECK(shown(scenarios::fits_pattern("a", std::string(65, 'a'))) == "unknown");
  CHECK(shown(scenarios::fits_pattern(std::string(17, 'a'), "+(a)")) == "unknown");
  CHECK(shown(scenarios::fits_pattern("a", "@(a|b)@(c)@(d)")) == "unknown");
}

TEST_CASE("a pattern is extended by a sign before a bracket") {
  for (const auto* pattern : {"@(a)", "x+(a)", "!(a|b)", "a?(b)", "*(b)"})
    CHECK(scenarios::is_extended(pattern));
  for (const auto* pattern : {"(a)", "a(b)", "@", "a*", ""})
    CHECK_FALSE(scenarios::is_extended(pattern));
}

TEST_CASE("a branch of a case fits by its pattern, whose signs count outside of quotes alone") {
  const std::vector<Fitting> cases{
      {"ab", "ab", "yes"},    {"ab", "a*", "yes"},     {"ab", "'a*'", "no"},
      {"a*", "'a*'", "yes"},  {"a*", "\"a*\"", "yes"}, {"ab", "\"ab\"", "yes"},
      {"ab", "$T", "yes"},    {"ab", "\"$T\"", "yes"}, {"abc", "$T", "no"},
      {"ab", "\"$S\"", "no"}, {"ab", "$S", "unknown"}, {"ab", "\"a\"*", "unknown"},
      {"x", "*", "yes"},      {"x", "$U", "unknown"}};
  for (const auto& one : cases) {
    INFO(one.text << " " << one.pattern);
    CHECK(branch(one.text, one.pattern) == one.fits);
  }
  CHECK(branch("8", "$U", {"U=8"}) == "yes");
  CHECK(shown(scenarios::fits_branch({}, {"a", {}}, scenarios::ShellVariables({}))) == "unknown");
  CHECK(shown(scenarios::fits_branch({}, {"*", {}}, scenarios::ShellVariables({}))) == "yes");
}

TEST_CASE("a sign of patterns is itself between quotes and behind a backslash") {
  for (const auto* raw :
       {"'*'", "\"*\"", "a'?'", "\\*", "a\\[b", "\"[a]\"*", "'@(a)'", "\"$Y*\"", "\"${Y}*\""})
    CHECK(scenarios::quotes_signs(raw));
  for (const auto* raw :
       {"*", "a", "'a'*", "\"a b\"", "\\a*", "'\\'*", "(a)", "'(a)'", "\"${A[0]}\"", "\"$Y\"*"})
    CHECK_FALSE(scenarios::quotes_signs(raw));
  CHECK(scenarios::quotes_values("\"$S\"", "a*"));
  CHECK_FALSE(scenarios::quotes_values("$S", "a*"));
  CHECK_FALSE(scenarios::quotes_values("\"$T\"*", "ab*"));
  CHECK(scenarios::quotes_values("\"$S\"*", "a**"));
}

TEST_CASE("a value loses the shortest or the longest part that fits at its begin or its end") {
  check({{"a.b.c", "%.*", "a.b"},
         {"a.b.c", "%%.*", "a"},
         {"a.b.c", "#*.", "b.c"},
         {"a.b.c", "##*.", "c"},
         {"/p/q/r.tar.gz", "##*/", "r.tar.gz"},
         {"/p/q/r.tar.gz", "%/*", "/p/q"},
         {"r.tar.gz", "%.gz", "r.tar"},
         {"r.tar.gz", "%.zip", "r.tar.gz"},
         {"8x", "%x", "8"},
         {"xx", "%x", "x"},
         {"xx", "##x*", ""},
         {"gpu:8", "#*:", "8"},
         {"70B", "%[bB]", "70"},
         {"a*b", "#a\\*", "b"},
         {"", "%x", ""},
         {"abc", "%", "abc"},
         {"abc", "%*a*", "unknown"}});  // two stars
}

TEST_CASE("a part of a value is replaced once, or wherever it stands") {
  check({{"a-b-c", "/-/_", "a_b-c"},
         {"a-b-c", "//-/_", "a_b_c"},
         {"a-b-c", "//-/", "abc"},
         {"a-b-c", "//-", "abc"},
         {"a-b-c", "/-b", "a-c"},
         {"aaa", "//a/aa", "aaaaaa"},  // what is put in is not read again
         {"a-b", "/x/y", "a-b"},
         {"a-b", "/-/a/b", "aa/bb"},  // behind the second slash all is text
         {"a-b", "//?/x", "unknown"},
         {"a-b", "/#a/x", "unknown"},
         {"a-b", "/%b/x", "unknown"},
         {"a-b", "/", "unknown"}});
}

TEST_CASE("letters of a value turn small or large, all of them or the first") {
  check({{"Llama-7B", ",,", "llama-7b"},
         {"Llama-7B", "^^", "LLAMA-7B"},
         {"Llama", ",", "llama"},
         {"llama", "^", "Llama"},
         {"7b", "^", "7b"},
         {"", "^", ""},
         {"abc", "^^[a]", "unknown"},
         {"abc", "@Q", "unknown"},
         {"abc", "", "unknown"}});
}

TEST_CASE("changes of long values are not tried") {
  const std::string text(256, 'a');
  CHECK(scenarios::changed_text(text, "%a") == text.substr(1));
  CHECK_FALSE(scenarios::changed_text(text + "a", "%a"));
  CHECK_FALSE(scenarios::changed_text("a", "%" + std::string(65, 'a')));
  CHECK_FALSE(scenarios::changed_text(text, "//a/aa"));
}

}  // namespace pattern_spec
