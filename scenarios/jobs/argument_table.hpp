// SPDX-License-Identifier: Apache-2.0
// The arguments that a framework knows, and the effect of each on a forecast. A table is a file of
// scenarios/jobs/tables, which the program carries.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace scenarios {

enum class Effect {
  read,          // a key of the scenario follows from it
  none,          // neither time nor memory of a step depends on it
  not_modelled,  // they do, and the forecast has something else
  refused,       // it cannot be forecast at all
  unknown,       // the framework has no such argument
};

std::string_view word_of(Effect effect);  // "read", "without effect", "not modelled", …

struct KnownArgument {
  std::string_view name;
  std::vector<std::string_view> aliases;
  char takes = '1';       // values: 0, 1, 3, n: one or more, ?: all that follow
  std::string_view dest;  // its name in files of keys, where that is not the name with underscores
  Effect effect = Effect::unknown;
  std::string_view why;
  bool repeats = false;      // it stands for several keys: "SECTION.*", "LIST[].KEY"
  bool usually_on = false;   // of those not modelled: the forecast has it, and not that it is off
  bool negates = false;      // it switches that off which its name in files of keys switches on
  std::string_view same_as;  // arguments of the framework below that it stands for, between blanks
};

class ArgumentTable {
 public:
  // Parses the text of a table: lines "name,aliases,takes,dest,effect,why", and before them
  // "@word,why" for reasons that several arguments share. `!dest`: the argument switches that one
  // off. The effect "off": it is not modelled where it is off. Names of another framework are
  // "name,,,arguments,as,": they stand for those arguments of the table `below`, for the opposite
  // of `!argument`, or for the one whose dest ends the name. `text` and `below` must outlive the
  // table. Throws std::logic_error for other lines.
  explicit ArgumentTable(std::string_view text, const ArgumentTable* below = nullptr);

  // Finds an argument by its name, an alias or "SECTION.*" of a section that it is in, in this
  // table or below; null: unknown. O(log n).
  const KnownArgument* find(std::string_view name) const;
  const KnownArgument* find_here(std::string_view name) const;
  // Returns the arguments of this table whose name or alias begins with `prefix`, each once, in the
  // order of names. O(log n) each.
  std::vector<const KnownArgument*> beginning(std::string_view prefix) const;
  // Finds an argument by its name in files of keys; null: unknown.
  const KnownArgument* find_dest(std::string_view dest) const;
  const ArgumentTable* below() const { return below_; }
  const std::vector<KnownArgument>& all() const { return all_; }
  std::string nearest_to(std::string_view name) const;  // empty: none is near

 private:
  const ArgumentTable* below_;
  std::vector<KnownArgument> all_;
  std::map<std::string_view, std::size_t> by_name_;
  std::map<std::string, std::size_t, std::less<>> by_dest_;
};

// Returns the table of the file of that name, given without its ending; the file must exist. A
// table is made when it is first asked for, on top of the one that its first line names as
// "&table"; "above+below" is the table `above` on top of the table `below` instead.
const ArgumentTable& arguments_of(std::string_view table);

}  // namespace scenarios
