// SPDX-License-Identifier: Apache-2.0
#include "app/manual.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "app/command.hpp"

namespace app {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& of) {
  return of.get_subcommands([](const CLI::App*) { return true; });
}
std::vector<const CLI::Option*> options_of(const CLI::App& of) {
  return of.get_options([](const CLI::Option*) { return true; });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// "--set", "-h,--help".
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string words_of(const CLI::App& command) {
  std::string words;
  const auto add = [&](const std::string& word) { words += (words.empty() ? "" : " ") + word; };
  for (const auto* sub : commands_of(command)) add(sub->get_name());
  for (const auto* option : options_of(command))
    for (const auto& name : names_of(*option)) add(name);
  return words;
}

// Visits every command with its path: "stepcast", "stepcast catalog", "stepcast catalog show".
template <class Visit>
void for_each_command(const CLI::App& command, const std::string& path, const Visit& visit) {
  visit(path, command);
  for (const auto* sub : commands_of(command))
    for_each_command(*sub, path + " " + sub->get_name(), visit);
}

// The words before the cursor that are commands choose the list; files complete everywhere else.
std::string bash_completion(const CLI::App& program) {
  std::string text =
      "# bash completion of stepcast: source it, or put it where bash-completion looks.\n"
      "_stepcast() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} path=stepcast word list=\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"$path $word\" in\n";
  std::string paths, lists;
  for_each_command(program, "stepcast", [&](const std::string& path, const CLI::App& command) {
    if (&command != &program) paths += (paths.empty() ? "" : "|") + ("'" + path + "'");
    lists += "    '" + path + "') list='" + words_of(command) + "' ;;\n";
  });
  text += "      " + paths + ") path=\"$path $word\" ;;\n";
  text +=
      "    esac\n"
      "  done\n"
      "  case \"$path\" in\n" +
      lists +
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$list\" -- \"$current\"))\n"
      "  [[ $current == -* || $path == stepcast ]] ||\n"
      "    COMPREPLY+=($(compgen -f -- \"$current\"))\n"
      "}\n"
      "complete -o filenames -F _stepcast stepcast\n";
  return text;
}

// Returns the text as it stands between single quotes: `escape` for each quote, a blank for each
// line end.
std::string quoted(const std::string& text, std::string_view escape) {
  std::string out;
  for (const char c : text)
    if (c == '\'')
      out += escape;
    else
      out += c == '\n' ? ' ' : c;
  return out;
}

std::string zsh_words(const CLI::App& command) {
  std::string lines;
  const auto add = [&](const std::string& name, const std::string& what) {
    lines += "        '" + name + ":" + quoted(what, "'\\''") + "'\n";
  };
  for (const auto* sub : commands_of(command)) add(sub->get_name(), sub->get_description());
  for (const auto* option : options_of(command))
    for (const auto& name : names_of(*option)) add(name, option->get_description());
  return lines;
}

std::string zsh_completion(const CLI::App& program) {
  std::string paths, lists;
  for_each_command(program, "stepcast", [&](const std::string& path, const CLI::App& command) {
    if (&command != &program) paths += (paths.empty() ? "" : "|") + ("'" + path + "'");
    lists += "    '" + path + "')\n      list=(\n" + zsh_words(command) + "      ) ;;\n";
  });
  return "#compdef stepcast\n"
         "# zsh completion of stepcast: put it as _stepcast into a folder of $fpath.\n"
         "_stepcast() {\n"
         "  local path_='stepcast' word\n"
         "  local -a list\n"
         "  for word in ${words[2,CURRENT-1]}; do\n"
         "    case \"$path_ $word\" in\n"
         "      (" +
         paths +
         ") path_=\"$path_ $word\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$path_\" in\n" +
         lists +
         "  esac\n"
         "  _describe 'stepcast' list\n"
         "  [[ $path_ == stepcast ]] || _files\n"
         "}\n"
         "_stepcast \"$@\"\n";
}

std::string fish_completion(const CLI::App& program) {
  std::string text = "# fish completion of stepcast: put it as stepcast.fish into completions/.\n";
  const auto add = [&](const std::string& condition, const std::string& what,
                       const std::string& description) {
    text += "complete -c stepcast -n '" + condition + "' " + what + " -d '" +
            quoted(description, "\\'") + "'\n";
  };
  for_each_command(program, "stepcast", [&](const std::string& path, const CLI::App& command) {
    const bool top = &command == &program;
    const std::string condition =
        top ? "__fish_use_subcommand"
            : "__fish_seen_subcommand_from " + path.substr(path.rfind(' ') + 1);
    for (const auto* sub : commands_of(command))
      add(condition, std::string(top ? "-f " : "") + "-a " + sub->get_name(),
          sub->get_description());
    for (const auto* option : options_of(command))
      for (const auto& name : option->get_lnames())
        add(condition, "-l " + name + (takes_value(*option) ? " -r" : ""),
            option->get_description());
  });
  return text;
}

// "\\[u2026]" of the character that begins at `at`, which moves to its last byte. Texts of the
// program are valid UTF-8.
std::string troff_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const int more = byte(at) >= 0xf0 ? 3 : byte(at) >= 0xe0 ? 2 : 1;
  std::uint32_t code = byte(at) & (0x3fu >> more);
  for (int i = 0; i < more; ++i) code = code << 6 | (byte(++at) & 0x3fu);
  char hex[16];
  std::snprintf(hex, sizeof hex, "\\[u%04X]", code);
  return hex;
}

// A line of troff that means what it says.
std::string troff(std::string_view text) {
  std::string out;
  bool begins = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    begins = c == '\n';
    if (static_cast<unsigned char>(c) >= 0x80)
      out += troff_character(text, at);
    else if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string troff_options(const CLI::App& command) {
  std::string text;
  for (const auto* option : options_of(command)) {
    std::string names;
    for (const auto& name : names_of(*option))
      names += (names.empty() ? "\\fB" : ", \\fB") + troff(name) + "\\fR";
    if (names.empty()) names = "\\fI" + troff(option->get_name()) + "\\fR";
    auto type = option->get_type_name();
    type.resize(std::min(type.find(':'), type.size()));  // the rest is what a checker says
    if (!option->get_positional() && takes_value(*option) && !type.empty())
      names += " \\fI" + troff(type) + "\\fR";
    text += ".TP\n" + names + "\n" + troff(option->get_description()) + "\n";
  }
  return text;
}

std::string troff_command(const std::string& path, const CLI::App& command) {
  std::string text = ".SS " + troff(path) + "\n" + troff(command.get_description()) + ".\n";
  text += troff_options(command);
  if (const auto footer = command.get_footer(); !footer.empty())
    text += ".PP\n.nf\n" + troff(footer) + "\n.fi\n";
  return text;
}

}  // namespace

std::string completion(const CLI::App& program, std::string_view shell) {
  if (shell == "bash") return bash_completion(program);
  if (shell == "zsh") return zsh_completion(program);
  if (shell == "fish") return fish_completion(program);
  throw Mistake("completion " + std::string(shell) + ": unknown shell; expected bash, zsh or fish");
}

std::string man_page(const CLI::App& program, std::string_view version) {
  std::string text = ".TH STEPCAST 1 \"\" \"stepcast " + std::string(version) + "\"\n" +
                     ".SH NAME\nstepcast \\- " + troff(program.get_description()) +
                     "\n.SH SYNOPSIS\n.B stepcast\n.I command\n.RI [ options ]\n.SH COMMANDS\n";
  for_each_command(program, "stepcast", [&](const std::string& path, const CLI::App& command) {
    if (&command != &program) text += troff_command(path, command);
  });
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nThe question is answered.\n"
      ".TP\n1\nIt is well formed and has no answer: no plan fits, say.\n"
      ".TP\n2\nA mistake in the command line or in a file.\n"
      ".TP\n3\nA fault of the program itself.\n"
      ".TP\n130\nInterrupted by Ctrl\\-C.\n"
      ".SH ENVIRONMENT\n"
      ".TP\nCOLUMNS\nWidth of texts, where it is not the terminal's.\n"
      ".TP\nNO_COLOR\nNo colours if set.\n"
      ".TP\nTERM, LC_ALL, LC_CTYPE, LANG\n"
      "\"dumb\", or a locale that is not UTF\\-8: ASCII only.\n";
  return text;
}

}  // namespace app
