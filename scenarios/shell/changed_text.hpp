// SPDX-License-Identifier: Apache-2.0
// Texts that a shell changes while it puts in a variable's value.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace scenarios {

// Returns the text after the operation of "${NAME<operation>}": ",," "^^" "," "^" for the case of
// letters, "%a" "%%a" "#a" "##a" without a suffix or prefix, "/a/b" "//a/b" with a part
// replaced. Returns nothing for other operations, patterns inside of "/", quotes, and texts and
// patterns so long, or with so many stars, that matching them takes long.
std::optional<std::string> changed_text(const std::string& text, std::string_view operation);

}  // namespace scenarios
