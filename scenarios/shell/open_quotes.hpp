// SPDX-License-Identifier: Apache-2.0
// Private to the room: the quotes and brackets that are open at a character of a script.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace scenarios {

class OpenQuotes {
 public:
  bool any() const { return !inside_.empty(); }
  // Returns the number of characters from `at` on that open or close quotes or brackets of
  // variables and commands, or in which signs of quotes mean nothing: what is escaped, comments and
  // here-documents inside of "$(…)"; 0: there are none. O(characters).
  std::size_t step(std::string_view text, std::size_t at);

 private:
  std::size_t opens(char sign, std::size_t length) {
    inside_ += sign;
    return length;
  }
  std::size_t closes() {
    inside_.pop_back();
    return 1;
  }

  std::string inside_;        // signs that close them, the innermost last
  int lines_left_ = 100'000;  // that may be looked at for ends of here-documents
};

}  // namespace scenarios
