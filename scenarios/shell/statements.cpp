// SPDX-License-Identifier: Apache-2.0
#include "scenarios/shell/statements.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/shell/open_quotes.hpp"
#include "scenarios/shell/pipes.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {
namespace {

constexpr std::array<std::string_view, 5> declarations{"declare", "export", "local", "readonly",
                                                       "typeset"};

// A here-document that begins in the next line: the word that ends it, whether that is quoted, and
// the number of the command that it stands in.
struct HereDocument {
  std::string name{};
  bool literal = false;
  std::size_t statement = 0;
};

// Whether a word is "<(…)" or ">(…)".
bool begins_process(std::string_view word) {
  return word.starts_with("<(") || word.starts_with(">(");
}

// A script that is passed letter by letter, by line and column.
class PassedText {
 protected:
  explicit PassedText(std::string_view text) : text_(text) {}

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void pass() {
    if (text_[at_] == '\n') {
      ++line_;
      line_begin_ = at_ + 1;
    }
    ++at_;
  }
  Place here() const { return {line_, static_cast<std::int64_t>(at_ - line_begin_) + 1, 0}; }
  // The length of a place that somebody is to fill in, "<path to data>"; 0: there is none here. A
  // shell would take its signs for redirections, but a script that has one is not finished.
  std::size_t placeholder() const {
    constexpr std::string_view plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-./";
    if (peek() != '<' || plain.substr(0, 52).find(peek(1)) == plain.npos) return 0;
    const auto end = text_.find_first_not_of(plain, at_ + 1);
    if (end == text_.npos || text_[end] != '>' || text_[end - 1] == ' ') return 0;
    return end + 1 - at_;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  std::int64_t line_ = 1;
};

class Statements : private PassedText {
 public:
  explicit Statements(std::string_view text) : PassedText(text) {}

  std::vector<Statement> all() {
    while (at_ < text_.size()) step();
    end_statement();
    return std::move(statements_);
  }
  std::optional<Place> unclosed() const { return unclosed_; }

 private:
  void step() {
    const char c = peek();
    if (c == '\n') {
      pass();
      if (!in_array_ && !in_patterns_ && !goes_on()) end_statement();
      if (!here_document_.name.empty()) take_here_document();
    } else if (c == ' ' || c == '\t' || c == '\r') {
      pass();
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      while (peek() != '\n') pass();
      pass();
    } else if (c == '#') {
      while (at_ < text_.size() && peek() != '\n') pass();
    } else if (c == ')' && in_array_) {
      pass();
      in_array_ = false;
    } else if (in_test_ && c == '(' && compares_pattern()) {
      pass_group();
    } else if (in_test_ && std::string_view("<>()&|;").find(c) != std::string_view::npos) {
      sign_of_test(c);
    } else if (c == '(' && peek(1) == '(' && takes_command()) {
      arithmetic_word();
    } else if (c == '(' && defines_function()) {
      define_function();
    } else if (((c == '<' && placeholder() == 0) || c == '>' || (c == '&' && peek(1) == '>')) &&
               !begins_process(text_.substr(at_))) {
      redirect();
    } else if (c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
      if (in_patterns_)
        pass_in_patterns(c);
      else
        separate(c);
    } else {
      word();
    }
  }

  // Whether the statement is whole without a sign behind it: ")", "done", "((…))", "[[ … ]]".
  bool is_whole() const {
    const auto& words = statement_.words;
    if (words.empty() || in_array_ || in_patterns_) return false;
    const auto &first = words.front().text, &last = words.back().text;
    if (words.size() == 1) return closes_block(first) || first.starts_with("((");
    return first == "[[" ? last == "]]" : words.size() == 2 && last.starts_with("((");
  }

  // Whether a command may begin here.
  bool takes_command() const {
    const auto& words = statement_.words;
    return words.empty() || (words.size() == 1 && words.front().text == "for");
  }

  // Takes "((…))" as one word.
  void arithmetic_word() {
    const auto place = here();
    const auto begin = at_;
    int open = 0;
    while (at_ < text_.size()) {
      if (peek() == '(') ++open;
      if (peek() == ')') --open;
      pass();
      if (open == 0) break;
    }
    statement_.words.push_back({std::string(text_.substr(begin, at_ - begin)), place});
  }

  // Whether the words before "(" are the name of a function: "NAME ()", "function NAME ()".
  bool defines_function() const {
    const auto behind = text_.find_first_not_of(" \t", at_ + 1);
    const auto& words = statement_.words;
    if (behind == text_.npos || text_[behind] != ')' || in_array_ || in_patterns_) return false;
    return words.size() == 1 || (words.size() == 2 && words.front().text == "function");
  }
  void define_function() {
    while (peek() != ')') pass();
    pass();
    push_definition(statement_.words.back());
  }
  void push_definition(RawWord name) {
    statement_ = {};
    Statement definition;
    definition.defines = name.text;
    definition.words.push_back(std::move(name));
    push(std::move(definition));
  }

  // A sign between the words of "[[ … ]]", of which "&&" and "||" are one.
  void sign_of_test(char c) {
    const auto place = here();
    std::string sign(1, c);
    pass();
    if ((c == '&' || c == '|') && peek() == c) {
      sign += c;
      pass();
    }
    statement_.words.push_back({std::move(sign), place});
  }
  // Whether a test goes on in the next line.
  bool goes_on() const {
    if (!in_test_) return false;
    const auto& last = statement_.words.back().text;
    return last == "&&" || last == "||" || last == "[[" || last == "(";
  }

  // Whether the bracket belongs to the word before it, a pattern such as "@(a|b)".
  bool begins_group() const {
    constexpr std::string_view extended = "?*+@!";
    return at_ > 0 && extended.find(text_[at_ - 1]) != extended.npos && !statement_.words.empty();
  }
  void pass_group() {
    const auto begin = at_;
    pass();
    for (int open = 1; at_ < text_.size() && open > 0 && peek() != '\n'; pass())
      open += peek() == '(' ? 1 : peek() == ')' ? -1 : 0;
    auto& pattern = statement_.words.back().text;
    pattern += text_.substr(begin, at_ - begin);
    pattern += raw();
  }
  // Whether the bracket belongs to the pattern of "[[ TEXT == @(a|b) ]]".
  bool compares_pattern() const {
    const auto& words = statement_.words;
    if (words.size() < 3 || !begins_group()) return false;
    const auto& sign = words[words.size() - 2].text;
    return sign == "==" || sign == "=" || sign == "!=";
  }

  // Passes a sign between the patterns of a branch, "( a | b )"; the closing bracket ends them.
  void pass_in_patterns(char c) {
    if (c == '(' && begins_group()) return pass_group();
    pass();
    if (c != ')' || statement_.words.empty()) return;
    statement_.branch = true;
    statement_.joined = std::exchange(joined_, '\0');
    push(std::exchange(statement_, {}));
    in_patterns_ = false;
  }

  // Ends a branch of a case at ";;", ";&" or ";;&", whose first sign is passed already.
  void end_branch() {
    while (peek() == ';' || peek() == '&') {
      if (peek() == '&') joined_ = '&';
      pass();
    }
    in_patterns_ = true;
  }

  void separate(char c) {
    const bool begins = c == '(' && statement_.words.empty();
    const auto place = here();
    pass();
    if (c == ';' && (peek() == ';' || peek() == '&')) {
      end_statement();  // which may end a loop inside of the branch
      if (!open_.empty() && open_.back()) end_branch();
      return;
    }
    if (c == '(' && brackets_.size() < most_brackets) brackets_.push_back(begins);
    if (begins) return push_alone({"(", place});
    const bool chained = (c == '&' || c == '|') && peek() == c;
    if (chained) pass();
    const bool both = c == '|' && peek() == '&';  // "|&"
    if (both) pass();
    using End = Pipes::End;
    end_statement(chained    ? End::chained
                  : c == '|' ? End::pipe
                  : c == '&' ? End::beside
                             : End::alone,
                  chained ? c : '\0');
    if (c != ')' || brackets_.empty()) return;
    if (brackets_.back()) statement_.words.push_back({")", place});
    brackets_.pop_back();
  }

  // Drops the number right before the sign of a redirection, "2>&1": it is a descriptor, no word;
  // returns whether there is one.
  bool drop_descriptor() {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    auto& words = statement_.words;
    if (at_ > 0 && is_digit(text_[at_ - 1]) && !words.empty() &&
        std::ranges::all_of(words.back().text, is_digit))
      words.pop_back();
    else
      return false;
    return true;
  }

  void note_process(const std::string& word) {
    if (begins_process(word) && word.ends_with(')'))
      statement_.processes.push_back(word.substr(2, word.size() - 3));
  }

  // Passes a redirection and its target.
  void redirect() {
    const bool numbered = drop_descriptor(), output = peek() == '>' && !numbered;
    const bool document = peek() == '<' && peek(1) == '<' && peek(2) != '<';
    const bool text = peek() == '<' && peek(1) == '<' && peek(2) == '<';
    const bool appends = peek() == '>' && peek(1) == '>';
    statement_.input = statement_.input || (peek() == '<' && !document && !text);
    while (peek() == '<' || peek() == '>' || peek() == '&' || peek() == '-') pass();
    while (peek() == ' ') pass();
    const auto place = here();
    const auto target = raw();
    note_process(target);
    if (text) statement_.document = {whole_word(target), place};
    if (output) statement_.output = target;
    if (output) statement_.appends = appends;
    if (!document) return;
    here_document_ = {.statement = statements_.size()};
    for (const char c : target)
      if (c != '\'' && c != '"' && c != '\\')
        here_document_.name += c;
      else
        here_document_.literal = true;
  }

  // Takes a here-document. It is that of the command behind a pipe, which "cat" passes it on to.
  void take_here_document() {
    const auto place = here();
    const auto begin = at_;
    auto command = here_document_.statement;
    const auto literal = here_document_.literal;
    const auto end = pass_here_document();
    if (command >= statements_.size()) return;
    while (statements_[command].feeds && command + 1 < statements_.size()) ++command;
    statements_[command].document = {quoted_lines(text_.substr(begin, end - begin), literal),
                                     place};
  }

  // Passes a here-document; returns the offset of its last line.
  std::size_t pass_here_document() {
    auto last_line = at_;
    while (at_ < text_.size()) {
      last_line = at_;
      const auto end = std::min(text_.find('\n', at_), text_.size());
      auto line = text_.substr(at_, end - at_);
      while (line.starts_with('\t')) line.remove_prefix(1);
      const bool last = line == here_document_.name;
      while (at_ < std::min(end + 1, text_.size())) pass();
      if (last) break;
    }
    here_document_ = {};
    return last_line;
  }

  void word() {
    const auto place = here();
    auto text = raw();
    if (text.empty()) {  // nothing that a word begins with
      pass();
      return;
    }
    if ((statement_.array && !in_array_) || (is_whole() && is_reserved(text))) end_statement();
    note_process(text);
    if (statement_.words.empty() && text == "esac") in_patterns_ = false;
    if (statement_.words.empty() && !in_patterns_ && takes_reserved(text, place)) return;
    const auto value = assigned_at(text);
    constexpr std::size_t few = 8;
    if (text == "[[" && statement_.words.size() < few && takes_command() && !in_patterns_)
      in_test_ = true;
    if (text == "]]") in_test_ = false;
    const auto& before = statement_.words;
    if (text == "{" && before.size() == 2 && before[0].text == "function") {
      push_definition(statement_.words.back());
      return push_alone({std::move(text), place});
    }
    statement_.words.push_back({std::move(text), place});
    if (in_patterns_) return;
    if (statement_.words.size() == 3 && statement_.words[0].text == "case") return end_statement();
    // An array begins: "NAME=(" or "declare -a NAME=(", of which only the name is kept.
    const auto& words = statement_.words;
    const auto& first = words.front().text;
    if (value == words.back().text.size() && peek() == '(' &&
        (words.size() == 1 || is_one_of(declarations, first))) {
      std::string options;
      for (const auto& word : words)
        if (word.text.starts_with('-')) options += word.text;
      const bool global = options.find('g') != options.npos;
      statement_.local = words.size() > 1 && first != "export" && first != "readonly" && !global;
      statement_.keyed = options.find('A') != options.npos;
      statement_.words.erase(statement_.words.begin(), statement_.words.end() - 1);
      pass();
      in_array_ = statement_.array = true;
    }
  }

  // Passes the rest of the word and returns it, with its quotes and brackets of variables; a
  // placeholder is put between quotes.
  std::string raw() {
    std::string before;
    auto begin = at_;
    OpenQuotes quotes;
    Place opened;  // the outermost
    while (at_ < text_.size()) {
      if (!quotes.any()) opened = here();
      if (const auto length = quotes.step(text_, at_); length > 0 || quotes.any()) {
        for (auto i = std::max<std::size_t>(1, length); i > 0 && at_ < text_.size(); --i) pass();
      } else if (const auto filled = placeholder(); filled > 0) {
        before += text_.substr(begin, at_ - begin);
        before += "'" + std::string(text_.substr(at_, filled)) + "'";
        at_ += filled;
        begin = at_;
      } else if (std::string_view(" \t\r\n;&|()<>").find(peek()) != std::string_view::npos) {
        break;
      } else {
        pass();
      }
    }
    if (quotes.any() && !unclosed_) unclosed_ = opened;
    return before + std::string(text_.substr(begin, at_ - begin));
  }

  // Takes a word of the language that is a statement of its own, or belongs to what stands behind
  // it; returns whether it is one.
  bool takes_reserved(const std::string& text, const Place& place) {
    if (text == "!") {
      pipes_.negate();
      return true;
    }
    if (text == "time") return pass_time();
    const bool alone =
        text == "{" || text == "if" || text == "while" || text == "until" || parts_block(text);
    if (alone) push_alone({text, place});
    return alone;
  }

  // Passes the option of "time -p", which is behind the word; returns whether it has no other.
  bool pass_time() {
    const auto behind = text_.substr(at_);
    const auto next = std::min(behind.find_first_not_of(" \t"), behind.size());
    const auto rest = behind.substr(next);
    if (!rest.starts_with('-')) return true;
    if (!rest.starts_with("-p ")) return false;
    at_ += next + 2;
    return true;
  }

  void push_alone(RawWord word) {
    statement_ = {};
    statement_.words.push_back(std::move(word));
    end_statement();
  }

  // Ends the statement. `joining`: the sign that joins the next statement to it.
  void end_statement(Pipes::End how = Pipes::End::alone, char joining = '\0') {
    auto& words = statement_.words;
    statement_.joined = joined_;
    if (words.size() == 2 && words.front().text == "function") {  // its body is in the next line
      push_definition(words.back());
    } else if (!words.empty()) {
      const auto word = words.front().text;
      if ((word == "done" || word == "esac") && !open_.empty()) open_.pop_back();
      push(std::move(statement_), how);
      joined_ = joining;
      if (is_loop(word) || word == "case") open_.push_back(word == "case");
      if (word == "case") in_patterns_ = true;
    }
    in_test_ = false;
    statement_ = {};
  }

  void push(Statement statement, Pipes::End how = Pipes::End::alone) {
    statement.loops = static_cast<int>(std::ranges::count(open_, false));
    statements_.push_back(std::move(statement));
    pipes_.add(statements_, how);
  }

  static constexpr std::size_t most_brackets = 10'000;
  std::vector<bool> open_;      // loops and cases around; true: a case
  std::vector<bool> brackets_;  // round ones around; true: commands of a shell of its own
  char joined_ = '\0';
  Pipes pipes_;
  bool in_array_ = false, in_patterns_ = false, in_test_ = false;
  HereDocument here_document_;
  std::optional<Place> unclosed_;  // quotes or brackets that have no end
  Statement statement_;
  std::vector<Statement> statements_;
};

}  // namespace

std::vector<Statement> statements_of(std::string_view text) { return Statements(text).all(); }

std::optional<Place> unclosed_quote(std::string_view text) {
  Statements statements(text);
  statements.all();
  return statements.unclosed();
}

bool is_syntax(const Statement& statement) {
  const auto& word = statement.words.front().text;
  return !statement.array && statement.defines.empty() && is_reserved(word) && word != "for" &&
         word != "select";
}

bool reads_commands(const Statement& statement) {
  if (statement.document.text.empty()) return false;
  constexpr std::array<std::string_view, 4> shells{"sbatch", "bash", "sh", "ssh"};
  const auto is_shell = [&](std::string_view word) {
    word.remove_prefix(word.rfind('/') + 1);
    return std::ranges::find(shells, word) != shells.end();
  };
  const auto& words = statement.words;
  return is_shell(words.front().text) || is_shell(words.back().text) ||
         (words.size() > 1 && is_shell(words[words.size() - 2].text));  // bash -s
}

std::vector<RawWord> batch_options(std::string_view text) {
  constexpr std::string_view mark = "#SBATCH";
  std::vector<RawWord> words;
  std::int64_t line_number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line_number) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    const auto first = line.find_first_not_of(" \t\r");
    if (first != line.npos && line[first] != '#') break;  // Slurm reads no further
    if (line.starts_with(mark))
      for (auto& statement : statements_of(line.substr(mark.size())))
        for (auto& word : statement.words)
          if (!word.text.starts_with("'<"))  // a placeholder is no option
            words.push_back({std::move(word.text), Place{line_number, 1, 0}});
    begin = end + 1;
  }
  return words;
}

}  // namespace scenarios
