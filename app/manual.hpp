// SPDX-License-Identifier: Apache-2.0
// Completion scripts and the manual page, made from the tree that parses the command line.
#pragma once
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace app {

// A completion script: subcommands where one is missing, else options and files.
// `shell`: bash, zsh or fish; throws Mistake for any other.
std::string completion(const CLI::App& program, std::string_view shell);

// A page for man(1), in troff.
std::string man_page(const CLI::App& program, std::string_view version);

}  // namespace app
