// SPDX-License-Identifier: Apache-2.0
// Functions of a script, and the variables that are theirs alone while they run.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/shell/statements.hpp"
#include "scenarios/shell/words.hpp"

namespace scenarios {

class ShellFunctions {
 public:
  using Body = std::shared_ptr<const std::vector<Statement>>;
  // By function that runs: its local variables, as they were before.
  using Locals = std::vector<std::map<std::string, ShellVariable, std::less<>>>;

  // Takes the function that the first statement defines, if the definition `runs`. Returns the
  // number of statements behind it that are its body, brackets included. O(statements of the body)
  std::size_t define(std::span<const Statement> statements, bool runs);
  bool none() const { return bodies_.empty(); }
  bool has(std::string_view name) const { return bodies_.contains(name); }
  // The statements of a function that there is, which counts as called from here on.
  Body body(std::string_view name);
  // The place of a function's name in a statement, from `first` on; the number of words: it calls
  // none.
  std::size_t called_by(const Statement& statement, std::size_t first) const;
  // The names of functions that were never called, in the order of the alphabet.
  std::vector<std::string> uncalled() const;

  void forget(const std::string& name) { bodies_.erase(name); }
  // Shells that are started have the function, "export -f NAME", or have it no more.
  void mark_exported(std::string_view name, bool on);
  bool is_exported(std::string_view name) const;
  // Forgets the functions that a shell which is started does not have.
  void keep_exported();

  // A function begins; its `local` variables begin, whose names are in a statement's words from
  // `first` to `end`; it ends, and variables of these names are again what they were.
  void enter() { locals_.emplace_back(); }
  bool runs() const { return !locals_.empty(); }
  void add_locals(const Statement& statement, std::size_t first, std::size_t end,
                  ShellVariables& variables);
  void leave(ShellVariables& variables);
  // All local variables, to be set again behind a copy of the shell.
  const Locals& locals() const { return locals_; }
  void restore_locals(Locals locals) { locals_ = std::move(locals); }

 private:
  struct Function {
    Body body;
    bool called = false, exported = false;
  };
  std::map<std::string, Function, std::less<>> bodies_;
  Locals locals_;
};

}  // namespace scenarios
