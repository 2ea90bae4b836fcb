// SPDX-License-Identifier: Apache-2.0
// The command line: parse, dispatch, and turn what went wrong into an exit status.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <iterator>
#include <new>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string_view>

#include "app/command.hpp"
#include "app/commands.hpp"
#include "app/open.hpp"
#include "scenarios/documents/error.hpp"
#include "store/store.hpp"
#include "units/spelling.hpp"

namespace app {

extern const char* const commit;  // that the build is made from; empty: not known

namespace {

void add_trace(CLI::App& command, Common& common) {
  common.with_timeline.push_back(&command);
  command
      .add_option("--trace", common.trace,
                  "Write the timeline: .json (Chrome trace events), .pftrace (Perfetto), or a "
                  "folder/ with a file per rank for PyTorch's tools")
      ->type_name("FILE");
}

void add_simulate(CLI::App& program, Common& common, Action& action) {
  auto asked = std::make_shared<SimulateRequest>();
  auto* command = program.add_subcommand("simulate", "Forecast one training step of one plan");
  command
      ->add_option("scenario", asked->file,
                   "Scenario file (YAML), or a job of a framework: launch script, configuration")
      ->required();
  command->add_flag("--full", asked->full,
                    "Simulate every rank instead of one of each class of identical ranks");
  auto* against =
      command
          ->add_option(
              "--against", asked->against,
              "Compare with this scenario: what changed, and what each change costs or wins")
          ->type_name("SCENARIO");
  command
      ->add_option(
          "--measured", asked->measured,
          "Time of a measured step, such as 12.3s, beside the forecast, and how to correct "
          "others by it")
      ->type_name("TIME")
      ->excludes(against);
  command
      ->add_option("--memory-snapshot", asked->snapshot,
                   "Write what PyTorch's caching allocator does with the tensors of a rank of the "
                   "fullest stage, as pytorch.org/memory_viz reads it: .pickle")
      ->type_name("FILE")
      ->excludes(against);
  command
      ->add_option("--plan", asked->plan,
                   "auto: search what the plan leaves open, to a gap of 5 % and for a minute at "
                   "most unless search: says otherwise, and simulate the best plan")
      ->check(one_of({"auto"}))
      ->type_name("auto")
      ->excludes(against);
  add_emission(*command, asked->emission, "the plan");
  for (auto* option : {command->get_option("--emit"), command->get_option("--emit-to"),
                       command->get_option("--diff")})
    option->excludes(against);
  add_common(*command, common);
  add_job(*command, common);
  add_corrections(*command, common)->excludes(against);
  add_trace(*command, common);
  add_report(*command, common, "timeline, bubbles, memory");
  command->footer(
      "Example:\n  stepcast simulate scenarios/examples/gpt3-175b-1024-a100.yaml "
      "--set plan.micro_batch=2 --report step.html");
  command->callback([asked, &common, &action] {
    action = [asked, &common](Streams streams) {
      return asked->against.empty()
                 ? simulate(*asked, common, streams)
                 : compare(asked->file, asked->against, asked->full, common, streams);
    };
  });
}

void add_search(CLI::App& program, Common& common, Action& action) {
  auto asked = std::make_shared<SearchRequest>();
  auto* command = program.add_subcommand(
      "search", "Find the best plans for a model on a cluster, and prove that they are");
  command
      ->add_option("scenario", asked->file,
                   "Scenario file (YAML): `plan:` fixes what it gives, `search:` limits the rest")
      ->required();
  command->add_option("--top", asked->top, "Plans to report")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--for", asked->within,
                   "Search only the plans that this framework can run (megatron, deepspeed, "
                   "torchtitan or nanotron), and say what leaving its limits would win")
      ->type_name("FRAMEWORK[@VERSION]");
  add_emission(*command, asked->emission, "the best plan");
  add_common(*command, common);
  add_job(*command, common);
  add_corrections(*command, common);
  add_trace(*command, common);
  add_report(*command, common, "timeline, bubbles, memory");
  command->footer(
      "Ctrl-C ends the search with the best plan so far and what is proved about it.\n"
      "Example:\n  stepcast search scenarios/examples/gpt3-175b-search-4096-a100.yaml "
      "--set 'search.pipeline=\"<= 32\"' --set search.time_limit=60s --top 5");
  command->callback([asked, &common, &action] {
    action = [asked, &common](Streams streams) { return search(*asked, common, streams); };
  });
}

void add_open(CLI::App& program, Common& common, Action& action) {
  auto asked = std::make_shared<OpenRequest>();
  auto* command = program.add_subcommand(
      "open", "Write the page of a scenario, sweep or purchase, and open it in a browser");
  command
      ->add_option("file", asked->file,
                   "Scenario file (searched where it says `search:`), job, sweep file or purchase "
                   "file")
      ->required();
  command->add_flag("--only-write", asked->only_write, "Open no browser");
  add_common(*command, common);
  add_job(*command, common);
  add_corrections(*command, common);
  command->add_option("--report", common.report, "Where the page goes (default: NAME.html, here)")
      ->type_name("FILE.html");
  command->footer(
      "The browser is that of $BROWSER, xdg-open or open; without one the page is only written.\n"
      "Example:\n  stepcast open scenarios/examples/gpt3-175b-1024-a100.yaml "
      "--set plan.micro_batch=2");
  command->callback([asked, &common, &action] {
    action = [asked, &common](Streams streams) { return open_page(*asked, common, streams); };
  });
}

void add_schedule(CLI::App& program, Common& common, Action& action) {
  auto asked = std::make_shared<ScheduleRequest>();
  auto* command =
      program.add_subcommand("schedule", "Play one pipeline schedule from given pass times");
  auto* named = command->add_option("--schedule", asked->schedule, schedule_names());
  auto* written = command->add_option("--order", asked->order,
                                      "CSV file of an order, a line per device: 0F0,0F1,0B0,0B1");
  written->excludes(named);
  command->add_option("--stages", asked->stages, "Pipeline stages")->excludes(written);
  command->add_option("--microbatches", asked->microbatches, "Microbatches")->excludes(written);
  command->add_option("--chunks", asked->chunks, "Model chunks per stage")->excludes(written);
  const auto add_time = [&](const std::string& name, const std::string& what) {
    return command->add_option(name, asked->times[name], what)->type_name("TIME");
  };
  add_time("--forward",
           "Forward time of a full stage: a bare number, all times in one unit, whichever it is; "
           "or a duration such as 1.5ms, and then all answers are in seconds")
      ->required();
  add_time("--backward", "Backward time; with --weight only its input-gradient part")->required();
  add_time("--weight", "Weight-gradient time");
  add_time("--comm", "Latency of an edge between stages");
  command->add_option("--slow", asked->slow, "STAGE=FACTOR: a stage slower by FACTOR (repeatable)")
      ->allow_extra_args(false);
  add_common(*command, common);
  add_trace(*command, common);
  add_report(*command, common, "timeline, bubbles, memory");
  command->footer(
      "Example:\n  stepcast schedule --schedule 1f1b --stages 4 --microbatches 8 --forward 1 "
      "--backward 2");
  command->callback([asked, &common, &action] {
    action = [asked, &common](Streams streams) { return schedule(*asked, common, streams); };
  });
}

struct Command {
  std::string_view name;
  void (*add)(CLI::App&, Common&, Action&);
};
// In the order of the help.
constexpr Command commands[] = {
    {"simulate", add_simulate}, {"search", add_search},       {"open", add_open},
    {"purchase", add_purchase}, {"sweep", add_sweep},         {"schedule", add_schedule},
    {"validate", add_validate}, {"calibrate", add_calibrate}, {"trace", add_trace_command},
    {"explain", add_explain},   {"catalog", add_catalog},     {"import", add_import}};

// Adds the command that the first word names, which is all that such a line needs, and nothing for
// the version; otherwise all, because help, completion and complaints tell of all.
void add_commands(CLI::App& program, Common& common, Action& action,
                  std::span<const char* const> words) {
  const std::string_view first = words.size() > 1 ? words[1] : "";
  if (words.size() == 2 && first == "--version") return;
  const auto named = std::ranges::find(commands, first, &Command::name);
  if (named != std::end(commands)) return named->add(program, common, action);
  for (const auto& command : commands) command.add(program, common, action);
  add_manual(program, common, action);
}

// Returns the complaint about a first word that is no command, which CLI11 would call a missing
// subcommand; empty if the word is one.
std::string unknown_command(const CLI::App& program, int argc, const char* const* argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.empty() || word.starts_with('-')) return {};
  std::vector<std::string_view> names;
  for (const auto* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return {};
    names.push_back(command->get_name());
  }
  std::string text = "stepcast: unknown command '" + word + "'";
  if (const auto nearest = units::nearest_word(word, names); !nearest.empty())
    text += "; did you mean '" + std::string(nearest) + "'?";
  return text + "\nTry 'stepcast --help'.\n";
}

// The command that the words name: of "sweep export" the second.
const CLI::App& named_command(const CLI::App& program) {
  const auto* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

// The options that look like one of the command's, with what was meant; empty if there are none.
std::string unknown_options(const CLI::App& program) {
  const auto* command = &named_command(program);
  std::vector<std::string> names;
  for (const auto* option : command->get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  std::string text;
  for (const auto& word : command->remaining())
    if (const auto nearest = units::nearest_word(word, known);
        word.starts_with("--") && !nearest.empty())
      text +=
          "stepcast: unknown option '" + word + "'; did you mean '" + std::string(nearest) + "'?\n";
  return text;
}

// Tells a caller what the command can show beside its answer.
void tell_of_files(const CLI::App& program, const Common& common, Caller& caller) {
  const auto& command = named_command(program);
  caller.has_page = command.get_option_no_throw("--report") != nullptr;
  caller.has_trace =
      std::ranges::find(common.with_timeline, &command) != common.with_timeline.end();
}

// The complaint about a command that a caller cannot call; empty if it can.
std::string without_document(const CLI::App& program) {
  const auto& command = named_command(program);
  const bool groups = !command.get_subcommands([](const CLI::App*) { return true; }).empty();
  if (groups || command.get_option_no_throw("--json") != nullptr) return {};
  return "stepcast: " + command.get_name() + ": prints a text and has no --json, which a call " +
         "answers with; run 'stepcast " + command.get_name() + "' as a program\n";
}

std::string version_text() {
  const std::string made_from = commit;
  return "stepcast " STEPCAST_VERSION + (made_from.empty() ? "" : " (commit " + made_from + ")");
}

constexpr const char* out_of_memory =
    "stepcast: out of memory: the answer needs more than there is, or than a limit (ulimit -v) "
    "leaves; ask for less: no --full, fewer microbatches or stages, a smaller file or grid, fewer "
    "--threads\n";

int guarded(const Action& action, Streams streams, Caller* caller) {
  try {
    return action(streams);
  } catch (const scenarios::Error& wrong) {
    if (caller != nullptr) caller->complaints = wrong.complaints;
    streams.err << wrong.what() << '\n';
  } catch (const Mistake& wrong) {
    streams.err << "stepcast: " << wrong.what() << '\n';
  } catch (const store::Error& wrong) {
    streams.err << "stepcast: " << wrong.what() << '\n';
  } catch (const std::invalid_argument& wrong) {
    streams.err << "stepcast: " << wrong.what() << '\n';
  } catch (const std::bad_alloc&) {
    streams.err << out_of_memory;
  } catch (const std::length_error&) {  // of what is longer than any memory
    streams.err << out_of_memory;
  } catch (const std::exception& fault) {
    streams.err << "stepcast: internal fault: " << fault.what() << "; please report it\n";
    return own_fault;
  }
  return wrong_input;
}

}  // namespace

int run(int argc, const char* const* argv, Streams streams, Caller* caller) {
  CLI::App program{
      "Forecasts one training step of a large language model on a cluster you may not own yet."};
  program.name("stepcast");
  program.set_version_flag("--version", version_text());
  program.require_subcommand(1);
  program.failure_message([](const CLI::App* where, const CLI::Error& wrong) {
    return "stepcast: " + std::string(wrong.what()) + "\nTry '" + where->get_name() + " --help'.\n";
  });
  Common common;
  common.caller = caller;
  Action action;
  add_commands(program, common, action, std::span(argv, static_cast<std::size_t>(argc)));
  if (const auto wrong = unknown_command(program, argc, argv); !wrong.empty()) {
    streams.err << wrong;
    return wrong_input;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    const bool asked_for_help = wrong.get_exit_code() == 0;
    const auto uncallable = caller == nullptr || asked_for_help ? "" : without_document(program);
    if (!uncallable.empty()) {
      streams.err << uncallable;
      return wrong_input;
    }
    if (!asked_for_help) streams.err << unknown_options(program);
    program.exit(wrong, streams.out, streams.err);
    if (!asked_for_help) return wrong_input;
    action = [](Streams to) {
      check_told(to);
      return success;
    };
  }
  if (caller != nullptr) tell_of_files(program, common, *caller);
  if (common.output == "-") common.output.clear();  // standard output
  return guarded(action, streams, caller);
}

}  // namespace app
