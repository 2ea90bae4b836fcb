// SPDX-License-Identifier: Apache-2.0
// Private to the room: a word of a script as the words that it stands for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/shell/words.hpp"

namespace scenarios {

// The treatment of a part that only a shell can tell. `reason`: the word has its reason; `mark`:
// the reason stays marked in the text; `none`: as `reason`, but arguments that the script is not
// given are empty.
enum class Unknown { reason, mark, none };

class WordExpansion {
 public:
  WordExpansion(const ShellVariables& variables, const Place& at, std::size_t depth,
                Unknown unknown)
      : variables_(variables), at_(at), depth_(depth), unknown_(unknown) {}

  std::vector<ShellWord> of(std::string_view raw);

 private:
  std::size_t step(std::string_view raw, std::size_t i);
  // Takes the trouble marked at `i`, which came by way of a variable, as this word's; returns the
  // index behind the mark.
  std::size_t passed_mark(std::string_view text, std::size_t i, const std::string& variable);
  std::size_t escaped(std::string_view raw, std::size_t i);
  std::size_t variable(std::string_view raw, std::size_t i);
  // Adds the text of $'…' from `i` on; returns the index behind it.
  std::size_t escaped_text(std::string_view raw, std::size_t i);
  // A part of a list, "${NAME[@]:1:2}": its first word, counted from the end below zero, and the
  // number of words.
  struct Part {
    static constexpr std::int64_t all = std::int64_t{1} << 40;
    std::int64_t first = 0, count = all;
  };
  // Returns the part of which the bounds are "1:2"; nothing: only a shell can tell.
  std::optional<Part> part_of(std::string_view bounds) const;
  // Adds `most` arguments behind the first ones. Those of the script stay as they are, unless --env
  // has all of them: a job is started as it stands, so there are none.
  void add_arguments(bool apart, std::size_t first, std::int64_t most = Part::all);
  // Adds an argument of the script or function, which writes it as `shown`; one of the script may
  // be given by --env.
  void add_argument(const std::string& name, const std::string& shown,
                    std::optional<std::string_view> fallback = {});
  // Adds the value of $(…): a calculation, or a command's output.
  void in_brackets(std::string_view inside);
  // Adds the output of a command: of one that tells the script's folder a dot, of expr its sum.
  void add_output(std::string_view command);
  void add_calculated(std::string_view inside);
  // Adds the value of ${…}: NAME, NAME:-default, NAME[@], NAME%suffix and their like.
  void in_braces(std::string_view inside);
  // "${@}", "${@:2}", "${@: -1}".
  void arguments_from(std::string_view inside);
  // "${#NAME}", "${#NAME[@]}", "${!NAME}".
  void measured(std::string_view inside);
  // "${NAME[2]}", or "${NAME[key]}" of an array with keys.
  void element(const std::string& name, std::string_view index);
  // "${NAME:+word}": the word if the variable has a value, which `colon` wants not to be empty.
  void alternative(const std::string& name, std::string_view word, bool colon);
  // "${NAME,,}", "${NAME%.yaml}", "${NAME/a/b}".
  void change(const std::string& name, std::string_view inside, std::string_view operation,
              bool list);
  // "${NAME[@]:1:2}".
  void slice(const std::string& name, std::string_view inside, std::string_view bounds);
  // The text of a variable or argument, if it is one word that is known.
  std::optional<std::string> text_of(const std::string& name) const;
  // The expansion of a word inside of this one.
  WordExpansion inner(Unknown unknown = Unknown::reason) const {
    return {variables_, at_, depth_ + 1, unknown_ == Unknown::none ? unknown_ : unknown};
  }
  // The one known word that a part of ${…} stands for.
  std::optional<std::string> single(std::string_view raw) const;
  void add_default(std::string_view fallback, const std::string& name, bool list);
  void put(const std::string& name, std::string_view fallback, bool has_fallback, bool list);
  void add_words(const std::vector<ShellWord>& words, const std::string& name, bool list);
  // Adds the text of the variable of that name, which is split outside of quotes.
  void add_value(std::string_view text, const std::string& name);
  void add(std::string_view text);
  void trouble(const std::string& why);
  void end_word();

  static constexpr std::size_t longest = 65'536;

  const ShellVariables& variables_;
  Place at_;
  std::size_t depth_;
  Unknown unknown_;
  bool quoted_ = false, begun_ = false;
  bool enclosed_ = false;  // in the double quotes of another word, which its own do not end
  bool splits_ = false;    // blanks outside of quotes end a word
  bool joined_ = false;    // a list in quotes is one word, "${NAME[*]}"
  bool left_out_ = false;  // the word has a list without words, "$@", and is none without more
  ShellWord word_;
  std::vector<ShellWord> words_;
};

}  // namespace scenarios
