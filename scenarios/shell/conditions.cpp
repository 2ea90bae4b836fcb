// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/conditions.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/shell/absent.hpp"
#include "scenarios/shell/arithmetic.hpp"
#include "scenarios/shell/options.hpp"
#include "scenarios/shell/patterns.hpp"
#include "scenarios/shell/pipes.hpp"

namespace scenarios {
namespace {

std::optional<std::int64_t> whole_in(std::string_view text) {
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, wrong] = std::from_chars(text.data(), end, number);
  if (wrong != std::errc() || stop != end) return {};
  return number;
}

std::optional<bool> compared(const std::string& left, std::string_view sign,
                             const std::string& right, bool of_patterns) {
  const bool equals = sign == "=" || sign == "==";
  if (equals || sign == "!=") {
    if (!of_patterns || (right.find_first_of("*?[\\") == right.npos && !is_extended(right)))
      return (left == right) == equals;
    const auto fitting = fits_pattern(left, right);
    return fitting ? std::optional(*fitting == equals) : std::nullopt;
  }
  const bool numeric = sign.starts_with('-') && sign.size() == 3;
  if (numeric && (left.empty() || right.empty())) {
    if (!of_patterns) return false;  // a mistake, with which it fails
    return compared(left.empty() ? "0" : left, sign, right.empty() ? "0" : right, of_patterns);
  }
  const auto one = whole_in(left), other = whole_in(right);
  const auto octal = [](const std::string& text) { return text.size() > 1 && text[0] == '0'; };
  if (!one || !other || (of_patterns && (octal(left) || octal(right)))) return {};
  if (sign == "-eq") return *one == *other;
  if (sign == "-ne") return *one != *other;
  if (sign == "-lt") return *one < *other;
  if (sign == "-le") return *one <= *other;
  if (sign == "-gt") return *one > *other;
  if (sign == "-ge") return *one >= *other;
  return {};
}

std::optional<bool> tested(const std::vector<std::string>& words, bool of_patterns) {
  if (words.empty()) return false;
  if (words.size() == 1) return !words[0].empty();
  if (words.size() == 2 && words[0] == "-z") return words[1].empty();
  if (words.size() == 2 && words[0] == "-n") return !words[1].empty();
  // "[ $A = b ]" without a value is a mistake, with which it fails.
  constexpr std::array<std::string_view, 9> signs{"=",   "==",  "!=",  "-eq", "-ne",
                                                  "-lt", "-le", "-gt", "-ge"};
  if (words.size() == 2 && !of_patterns && std::ranges::find(signs, words[0]) != signs.end())
    return false;
  return words.size() == 3 ? compared(words[0], words[1], words[2], of_patterns) : std::nullopt;
}

std::optional<bool> both(std::optional<bool> one, std::optional<bool> other) {
  if (one == false || other == false) return false;
  return one && other ? std::optional(true) : std::nullopt;
}

std::optional<bool> either(std::optional<bool> one, std::optional<bool> other) {
  if (one == true || other == true) return true;
  return one && other ? std::optional(false) : std::nullopt;
}

std::optional<bool> negated(std::optional<bool> one) {
  return one ? std::optional(!*one) : std::nullopt;
}

// Says what stands for no argument in a reason that asks for one.
std::string with_none(std::string why) {
  constexpr std::string_view asked = "; add --env ", value = "=VALUE";
  const auto at = why.find(asked);
  const auto end = std::min(why.find(value, at), why.size());
  if (at == why.npos || end == why.size()) return why;
  const auto name = why.substr(at + asked.size(), end - at - asked.size());
  if (name.find_first_not_of("0123456789") != name.npos) return why;
  return why + " (--env " + name + "= for none)";
}

// Returns the reason why the value of a word is not known, for the first such word; empty: all are
// known.
std::string trouble_in(const Statement& statement, std::size_t first,
                       const ShellVariables& variables) {
  for (auto i = first; i < statement.words.size(); ++i)
    for (const auto& one : variables.in_condition(i > first && statement.words[i - 1].text == "-v"
                                                      ? "$" + statement.words[i].text
                                                      : statement.words[i].text,
                                                  statement.words[i].at))
      if (!one.trouble.empty()) return with_none(one.trouble);
  return {};
}

// Whether getopts has an option to read; nothing: only a shell can tell. It reads the arguments
// behind the two words of its own, or those of the script.
std::optional<bool> reads_option(const Statement& statement, std::size_t first,
                                 const ShellVariables& variables) {
  constexpr std::size_t own = 3;
  bool none = true;
  for (auto i = first + own; i < statement.words.size(); ++i)
    none = none && variables.in_condition(statement.words[i].text, statement.words[i].at).empty();
  if (statement.words.size() > first + own) return none ? std::optional(false) : std::nullopt;
  return known_text(variables.in_condition("$#", {})) == "0" ? std::optional(false) : std::nullopt;
}

// Whether the sum in "((…))" is not zero.
std::optional<bool> is_not_zero(const RawWord& word, const ShellVariables& variables) {
  if (!word.text.ends_with("))") || !arithmetic_assignment(word.text).name.empty()) return {};
  const auto value = known_text(variables.in_condition("\"$" + word.text + '"', word.at));
  return value ? std::optional(*value != "0") : std::nullopt;
}

// The words of a test, between which "&&" and "||" may stand, in "[ … ]" "-a" and "-o".
class TestedWords {
 public:
  TestedWords(std::span<const RawWord> words, const ShellVariables& variables, bool wide)
      : words_(words), variables_(variables), wide_(wide) {}

  std::optional<bool> all() {
    auto result = any_of_parts();
    return at_ == words_.size() ? result : std::nullopt;
  }

 private:
  static constexpr int deepest = 32;

  bool is(std::string_view text) const { return at_ < words_.size() && words_[at_].text == text; }
  bool joins(std::string_view wide, std::string_view plain) const {
    return at_ > 0 && is(wide_ ? wide : plain);
  }

  std::optional<bool> any_of_parts() {
    auto result = all_of_parts();
    while (joins("||", "-o")) {
      ++at_;
      result = either(result, all_of_parts());
    }
    return result;
  }
  std::optional<bool> all_of_parts() {
    auto result = part();
    while (joins("&&", "-a")) {
      ++at_;
      result = both(result, part());
    }
    return result;
  }
  std::optional<bool> part() {
    if (depth_ > deepest) return {};
    if (is("!")) {
      ++at_;
      ++depth_;
      const auto result = negated(part());
      --depth_;
      return result;
    }
    if (!wide_ || !is("(")) return comparison();
    ++at_;
    ++depth_;
    const auto result = any_of_parts();
    --depth_;
    if (!is(")")) return {};
    ++at_;
    return result;
  }
  std::optional<bool> comparison() {
    std::vector<std::string> texts;
    bool known = true;
    for (const auto begin = at_; at_ < words_.size(); ++at_) {
      if (at_ > begin && (joins("||", "-o") || joins("&&", "-a") || (wide_ && is(")")))) break;
      const auto all = variables_.in_condition(words_[at_].text, words_[at_].at);
      const auto text = known_text(all);
      const auto& raw = words_[at_].text;
      const bool is_pattern = wide_ && text && texts.size() == 2;
      known = known && text && !(wide_ && quotes_signs(raw)) &&
              !(is_pattern && quotes_values(raw, *text));
      if (text && (wide_ || !all.empty())) texts.push_back(*text);  // otherwise there is no word
    }
    const auto any_case = wide_ ? is_on(case_option, variables_) : false;
    for (auto& text : texts) text = lowered_if(any_case.value_or(false), std::move(text));
    if (known && texts.size() == 2 && texts[0] == "-v") return is_set(texts[1]);
    if (known && texts.size() == 2 && (texts[0] == "-f" || texts[0] == "-e" || texts[0] == "-r"))
      return is_file(texts[1]);
    return known && any_case ? tested(texts, wide_) : std::nullopt;
  }

  // Whether there is a file beside the script. Others may be where it runs, and one that only a
  // shell can tell may have been written or not.
  std::optional<bool> is_file(const std::string& path) const {
    const auto& file = variables_.values().around.file;
    const auto found = !path.starts_with('/') && file ? file(path) : std::nullopt;
    return found && found->trouble.empty() ? std::optional(true) : std::nullopt;
  }

  // Whether a variable has a value. One that the script does not set may be set before.
  std::optional<bool> is_set(const std::string& name) const {
    if (variables_.text_of(name)) return true;
    const auto value = variables_.variable(name).value;
    if (!value) return {};
    const bool known =
        std::ranges::all_of(*value, [](const ShellWord& word) { return word.trouble.empty(); });
    return known ? std::optional(!value->empty()) : std::nullopt;
  }

  std::span<const RawWord> words_;
  const ShellVariables& variables_;
  bool wide_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// Whether a word has the output of a command in it.
bool runs_command(std::string_view word) {
  for (auto at = word.find("$("); at != word.npos; at = word.find("$(", at + 1))
    if (!word.substr(at).starts_with("$((")) return true;
  return word.find('`') != word.npos;
}

// Whether the statement only sets variables to what is there, which never fails.
bool assigns_only(const Statement& statement) {
  return std::ranges::all_of(statement.words, [](const RawWord& word) {
    return assigned_at(word.text) != std::string_view::npos && !runs_command(word.text);
  });
}

void note(std::string& why, const std::string& reason) {
  if (why.empty()) why = reason;
}

}  // namespace

std::optional<bool> succeeds(const Statement& statement, const ShellVariables& variables) {
  const auto& words = statement.words;
  const std::size_t first = 0;
  const auto is = [&](std::size_t i, std::string_view text) {
    return i < words.size() && words[i].text == text;
  };
  if (statement.array || assigns_only(statement)) return true;
  if (first + 1 == words.size() && (is(first, "true") || is(first, ":"))) return true;
  if (first + 1 == words.size() && is(first, "false")) return false;
  if (first + 1 == words.size() && words[first].text.starts_with('$')) {  // "if $USE_FP8"
    const auto text = known_text(variables.in_condition(words[first].text, words[first].at));
    return text == "true"    ? std::optional(true)
           : text == "false" ? std::optional(false)
                             : std::nullopt;
  }
  if (is(first, "getopts")) return reads_option(statement, first, variables);
  if (first + 1 == words.size() && words[first].text.starts_with("(("))
    return is_not_zero(words[first], variables);
  const bool wide = is(first, "[[");
  auto end = words.size();
  if (wide || is(first, "[")) {
    if (!is(--end, wide ? "]]" : "]")) return {};
  } else if (!is(first, "test")) {
    return {};
  }
  return TestedWords(std::span(words).subspan(first + 1, end - first - 1), variables, wide).all();
}

std::optional<bool> Conditions::around() const {
  return blocks_.empty() ? std::optional(true) : blocks_.back().runs;
}

void Conditions::Absent::note(const Absent& other) {
  if (argument.empty()) argument = other.argument;
}

Conditions::Absent Conditions::absent_in(const Statement& statement, std::size_t first,
                                         const ShellVariables& variables) {
  Absent absent;
  for (auto i = first; i < statement.words.size(); ++i) {
    const auto& [text, at] = statement.words[i];
    for (const auto& one : variables.expanded(text, at))
      if (absent.argument.empty() && is_absent(one.trouble)) absent.argument = one.trouble;
  }
  return absent;
}

bool Conditions::chosen() const {
  return list_.joined != '\0' || std::ranges::any_of(blocks_, [](const Block& block) {
           return block.kind != '{' || block.list.joined != '\0';
         });
}

void Conditions::take_reasons() {
  why_ = blocks_.empty() ? std::string() : blocks_.back().why;
  absent_ = blocks_.empty() ? Absent() : blocks_.back().absent;
}

std::optional<bool> Conditions::needed_of(const Statement& statement) {
  if (!statement.reads) list_ = {statement.joined, status_};
  return list_.joined == '&'   ? list_.before
         : list_.joined == '|' ? negated(list_.before)
                               : std::optional<bool>(true);
}

// A link that feeds another one leaves the status of its pipe open.
void Conditions::end_pipe(const Statement& statement, std::optional<bool> success) {
  if (statement.feeds) return;
  const auto own = statement.negated ? negated(success) : success;
  const auto& [joined, before] = list_;
  status_ = statement.beside ? std::optional(true)
            : joined == '&'  ? both(before, own)
            : joined == '|'  ? (before == false || own == true ? own : std::nullopt)
                             : own;
  if (joined == '|' && before == true) status_ = true;
}

void Conditions::begin_branch(std::optional<bool> condition) {
  auto& block = blocks_.back();
  if (block.settled) condition = false;
  const auto chosen = condition == false ? condition : block.doubtful ? std::nullopt : condition;
  block.settled = block.settled || condition == true;
  block.doubtful = block.doubtful || !condition;
  block.runs = both(block.around, chosen);
  status_ = true;
}

void Conditions::end_branch() {
  auto& block = blocks_.back();
  if (block.runs == true) block.result = status_;
}

void Conditions::open(const Statement& statement, const ShellVariables& variables) {
  const std::string_view word = statement.words.front().text;
  const auto needed = needed_of(statement);
  const auto outside = blocks_.empty() ? Block() : blocks_.back();
  const auto runs = both(around(), needed);
  blocks_.push_back({.kind = word == "(" ? '{' : word.front(),
                     .around = runs,
                     .runs = runs,
                     .why = outside.why,
                     .absent = outside.absent,
                     .list = list_});
  auto& block = blocks_.back();
  if (!needed) note(block.why, status_why_);
  if (list_.joined != '\0') block.absent.note(status_absent_);
  runs_ = runs;
  take_reasons();
  status_ = true;
  status_why_.clear();
  status_absent_ = {};
  if (block.kind != 'c' || statement.words.size() < 2) return;
  const auto& [raw, at] = statement.words[1];
  block.word = known_text(variables.in_condition(raw, at));
  if (!block.word) note(block.why, trouble_in(statement, 1, variables));
  block.absent.note(absent_in(statement, 1, variables));
  block.runs = both(block.around, false);  // until a branch begins
}

void Conditions::close(const Statement& statement) {
  const bool branches = blocks_.back().kind == 'i' || blocks_.back().kind == 'c';
  if (branches) end_branch();
  const auto block = std::move(blocks_.back());
  blocks_.pop_back();
  auto result = block.result;
  if (block.kind == '{') result = status_;
  if (branches && block.doubtful) result = {};
  if (branches && !block.doubtful && !block.settled) result = true;
  list_ = block.list;
  status_why_.clear();
  status_absent_ = {};
  if (!result) note(status_why_, block.why);
  status_absent_.note(block.absent);
  end_pipe(statement, result);
  if (block.around == false) status_ = list_.before;  // it was passed over
  runs_ = around();
}

void Conditions::settle_loop(std::optional<bool> success) {
  if (!blocks_.empty()) blocks_.back().result = success;
}

// A loop whose condition is false at once never runs; of others only a shell can tell how often.
void Conditions::begin_loop() {
  auto& block = blocks_.back();
  const auto enters = block.kind == 'w'   ? status_
                      : block.kind == 'u' ? negated(status_)
                                          : std::optional<bool>(true);
  block.runs = enters == false ? both(block.around, false) : block.around;
  if (enters == false) block.result = true;
  status_ = {};
  block.absent.note(status_absent_);
  runs_ = around();
  take_reasons();
}

void Conditions::enter_branch(const Statement& statement, const ShellVariables& variables) {
  end_branch();
  const bool runs_on = statement.joined == '&' && blocks_.back().runs != false;
  std::optional<bool> fitting = false;
  for (const auto& pattern : statement.words)
    fitting = either(fitting, fits_branch(blocks_.back().word, pattern, variables));
  if (!fitting) note(blocks_.back().why, trouble_in(statement, 0, variables));
  begin_branch(fitting);
  // The branch before may run on into this one.
  if (runs_on && blocks_.back().runs == false) {
    blocks_.back().runs = both(blocks_.back().around, {});
    blocks_.back().doubtful = true;
  }
}

void Conditions::enter_condition() {
  end_branch();
  auto& block = blocks_.back();
  block.runs = both(block.around, block.settled    ? std::optional(false)
                                  : block.doubtful ? std::nullopt
                                                   : std::optional(true));
  status_ = true;
  status_why_.clear();
  status_absent_ = {};
  runs_ = around();
  take_reasons();
}

void Conditions::enter_part(bool then) {
  if (!then) end_branch();
  if (then && !status_) note(blocks_.back().why, status_why_);
  if (then) blocks_.back().absent.note(status_absent_);
  begin_branch(then ? status_ : std::optional<bool>(true));
  runs_ = around();
  take_reasons();
}

void Conditions::settle(std::optional<bool> success) {
  if (last_ == nullptr) return;
  end_pipe(*last_, success);
  if (status_) status_why_.clear();
}

void Conditions::enter(const Statement& statement, const ShellVariables& variables) {
  const bool plain = statement.array || !statement.defines.empty();
  const auto word = plain ? std::string_view() : std::string_view(statement.words.front().text);
  last_ = nullptr;
  const char kind = blocks_.empty() ? '\0' : blocks_.back().kind;
  if (statement.branch) {
    if (!blocks_.empty()) enter_branch(statement, variables);
  } else if (opens_block(word)) {
    open(statement, variables);
  } else if (word == "do" && kind != '\0') {
    begin_loop();
  } else if (word == "elif" && kind == 'i') {
    enter_condition();
  } else if ((word == "then" || word == "else") && kind == 'i') {
    enter_part(word == "then");
  } else if (closes_block(word) && kind != '\0' && (kind == '{' || (word != "}" && word != ")"))) {
    close(statement);
  } else {
    enter_command(statement, variables);
  }
}

// "a && b": b is run where a succeeds, "a || b" where it fails.
void Conditions::enter_command(const Statement& statement, const ShellVariables& variables) {
  const auto needed = needed_of(statement);
  runs_ = both(around(), needed);
  take_reasons();
  if (!needed) note(why_, status_why_);
  if (list_.joined != '\0') absent_.note(status_absent_);
  if (needed == false) return;  // the status stays
  last_ = &statement;
  const auto own = succeeds(statement, variables);
  if (list_.joined == '\0') {
    status_why_.clear();
    status_absent_ = {};
  }
  if (!own) note(status_why_, trouble_in(statement, 0, variables));
  if (own) status_absent_.note(absent_in(statement, 0, variables));
  end_pipe(statement, own);
}

}  // namespace scenarios
