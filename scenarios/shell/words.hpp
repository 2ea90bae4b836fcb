// SPDX-License-Identifier: Apache-2.0
// Words of a shell's language and the variables in them, without a shell: plain assignments and
// literal text. Nothing is ever executed.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/shell/word.hpp"

namespace scenarios {

// The arguments of a script or function, "$1" and its like.
struct ShellArguments {
  bool own = true;                 // the script's: they are known as far as --env has their numbers
  std::int64_t shifted = 0;        // of the script's: so many are gone
  std::vector<ShellWord> words{};  // if they are not the script's
  std::string doubt{};             // why only a shell can tell them; empty: they are known
};

using ShellValues = std::map<std::string, std::vector<ShellWord>, std::less<>>;

// The files and functions around the variables of a shell, as far as they are known without running
// anything.
struct ShellSurroundings {
  using Told = std::function<std::optional<std::string>(const std::string&)>;
  // The text of the file at a path, with trouble where only a shell can tell it; nothing: it is not
  // known to be there.
  std::function<std::optional<ShellWord>(const std::string&)> file{};
  Told command{};  // the single command that a function is, which needs no arguments
};

// The variables of a shell.
struct ShellState {
  ShellValues values{};
  // The names that programs which are started see, and why only a shell can tell whether they do;
  // empty: they do.
  std::map<std::string, std::string, std::less<>> exported{};
  std::optional<std::string> exports_all{};  // names that are set are exported: why, as above
  // Kinds that declarations give variables: 'i' calculates their values, 'l' and 'u' turn these
  // into small or large letters, 'a' and 'A' make arrays, the latter with keys.
  std::map<std::string, char, std::less<>> kinds{};
  ShellValues hidden{};  // of the shell that starts this one
  ShellSurroundings around{};

  void forget_export(const std::string& name) { exported.erase(name); }
  // Exchanges the variables that are left for those before keep_exported(), by which the values
  // are made that a command gives the program which it starts.
  void exchange_hidden() { std::swap(values, hidden); }
  // Takes the variable of the shell that starts this one.
  void take_hidden(const std::string& name) { values[name] = hidden[name]; }
};

// All that there is to a variable.
struct ShellVariable {
  std::optional<std::vector<ShellWord>> value{};
  std::optional<std::string> exported{};
  char kind = '\0';
};

class ShellVariables {
 public:
  // `env` has NAME=VALUE; the file's assignments to such a name are ignored. NAME may be the number
  // of an argument of the script. Throws Error for another form.
  explicit ShellVariables(std::span<const std::string> env);

  void assign(const std::string& name, std::vector<ShellWord> value);
  void append(const std::string& name, const std::vector<ShellWord>& value);
  // Marks a variable whose value only a shell could tell; `why`: the reason, with advice if it has
  // no value yet.
  void doubt(const std::string& name, const std::string& why);
  bool knows(std::string_view name) const { return state_.values.contains(name); }
  // The kind that a declaration gave the variable, as in ShellState; '\0': none.
  char kind_of(const std::string& name) const;
  void set_kind(const std::string& name, char kind);
  ShellVariable variable(const std::string& name) const;
  void put_back(const std::string& name, ShellVariable variable);

  const ShellArguments& arguments() const { return arguments_; }
  void restore_arguments(ShellArguments arguments) { arguments_ = std::move(arguments); }
  // Sets other arguments, and returns those before. "$@" alone keeps those of the script, which are
  // none where --env has none.
  ShellArguments exchange_arguments(std::vector<ShellWord> words);
  // All variables, to be set again behind a shell of its own.
  const ShellState& values() const { return state_; }
  ShellState& state() { return state_; }
  // Programs that are started see the variable. `why`: only a shell can tell whether; empty: they
  // do.
  void mark_exported(const std::string& name, const std::string& why = {});
  // Programs that are started see all variables that are set from here on, or no more of them.
  void export_all(bool on, const std::string& why = {});
  // Forgets the variables that a program which is started does not see.
  void keep_exported();
  // Forgets all variables, as "env -i" does.
  void keep_none();
  // Names a file that may set variables, of which nothing is known.
  void note_unread(const std::string& file) { unread_ = file; }
  bool has_unread() const { return !unread_.empty(); }
  void doubt_arguments(const std::string& why) { arguments_.doubt = why; }
  // Takes so many arguments away, if there are, and returns whether there are; a text that is no
  // number leaves only a shell to tell the rest.
  std::optional<bool> shift(std::string_view many);
  // The number of arguments. Of the script's, the last one that --env has counts.
  std::int64_t argument_count() const;
  // Whether the arguments are those of the script, and --env has none.
  bool lacks_arguments() const { return arguments_.own && argument_count() == 0; }

  // Returns the words that a word of a script stands for: quotes and backslashes are removed,
  // variables are replaced, and outside of quotes split at blanks. A variable without value, an
  // argument of the script and the output of a command are trouble of their word; all arguments of
  // the script, "$@", stay as they are unless --env has them. Scripts that double their variables
  // again and again end in trouble, too: all words that one object makes are bounded.
  std::vector<ShellWord> expanded(std::string_view raw, const Place& at) const;
  // Returns the words of a value to be assigned: trouble stays in its place in the text, marked,
  // until the value is expanded.
  std::vector<ShellWord> value_of(std::string_view raw, const Place& at) const;
  // Returns the words as those of expanded(), but arguments that the script is not given are empty.
  std::vector<ShellWord> in_condition(std::string_view raw, const Place& at) const;
  // Returns the variable's text if it is one word without trouble.
  std::optional<std::string> text_of(const std::string& name) const;
  bool exhausted() const { return budget_ < least; }  // nothing more is expanded

 private:
  friend class WordExpansion;
  std::vector<ShellWord>& set(const std::string& name);

  ShellState state_;
  std::map<std::string, std::string, std::less<>> given_;  // by --env
  ShellArguments arguments_;
  std::string unread_;  // the file that the script sources last of those that are not there
  static constexpr std::size_t least = std::size_t{64} << 10;
  mutable std::size_t budget_ = std::size_t{16} << 20;  // bytes that may still be made
};

// Returns the lines as a word in double quotes; `literal`: nothing in them is a variable.
std::string quoted_lines(std::string_view lines, bool literal);

// Returns the raw word as one that is not split: in double quotes, unless it has quotes.
std::string whole_word(const std::string& raw);

// Returns where the value begins in "NAME=…" or "NAME+=…"; npos: the word assigns nothing.
std::size_t assigned_at(std::string_view word);

// An expansion that gives its variable a value, "${NAME:=value}", as it stands in a word.
struct AssigningExpansion {
  std::string name, raw;
};

// Returns those of a word, also inside of each other; those of commands in it, "$(…)", assign
// nothing outside of these.
std::vector<AssigningExpansion> assigning_expansions(std::string_view raw);

}  // namespace scenarios
