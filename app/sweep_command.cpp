// SPDX-License-Identifier: Apache-2.0
// The command `sweep` and its commands, as they are added to the tree that parses.
#include <memory>

#include "app/commands.hpp"
#include "app/sweep.hpp"

namespace app {
namespace {

using Run = int (*)(const StoresRequest&, const Common&, Streams);

// Adds a command that works on stores that exist already.
CLI::App* add_store_command(CLI::App& sweep, const std::shared_ptr<StoresRequest>& asked,
                            Common& common, Action& action, const char* name, const char* what,
                            Run run) {
  auto* command = sweep.add_subcommand(name, what);
  command->add_option("store", asked->stores, "Stores or shards of one sweep (SQLite)")
      ->required()
      ->type_name("STORE");
  add_common(*command, common);
  command->callback([asked, run, &common, &action] {
    action = [asked, run, &common](Streams streams) {
      refuse_sets(common, "the points of a store have theirs");
      return run(*asked, common, streams);
    };
  });
  return command;
}

void add_plot_command(CLI::App& sweep, const std::shared_ptr<StoresRequest>& asked, Common& common,
                      Action& action) {
  auto* plot = add_store_command(
      sweep, asked, common, action, "plot",
      "Draw a figure along one axis, with a line for each value of another", sweep_plot);
  plot->add_option("--figure", asked->figure, "Column to draw (default: tokens_per_s_per_gpu)")
      ->type_name("COLUMN");
  plot->add_option("--along", asked->along, "Axis that runs to the right (default: the first)")
      ->type_name("PATH");
  plot->add_option("--by", asked->by, "Axis with a line for each value (default: the next)")
      ->type_name("PATH");
  plot->add_option("--against", asked->against,
                   "Column that runs to the right instead, a mark for each place")
      ->type_name("COLUMN");
  plot->add_option("--where", asked->where, "Only points for which a condition over paths holds")
      ->type_name("CONDITION");
  plot->add_flag("--relative", asked->relative, "In percent of the first of each line");
  plot->add_option("--band", asked->band, "Mark what lies between two values of the figure")
      ->expected(2)
      ->type_name("NUMBER");
  plot->footer(
      "With --output FILE.svg the picture is an SVG image, else characters.\n"
      "Example:\n  stepcast sweep plot data.sqlite --relative --band 85 95 --output data.svg");
}

void add_store_commands(CLI::App& sweep, Common& common, Action& action) {
  auto asked = std::make_shared<StoresRequest>();
  add_store_command(sweep, asked, common, action, "status",
                    "Say how far a sweep is, and what is best so far", sweep_status);
  auto* table = add_store_command(sweep, asked, common, action, "export",
                                  "Print the points sorted by their axes, as CSV or with --json",
                                  sweep_export);
  table->add_option("--csv", asked->csv, "Write the table to FILE")->type_name("FILE");
  add_report(*table, common, "any two axes, the best of groups, a table");
  auto* merge = add_store_command(sweep, asked, common, action, "merge",
                                  "Join shards and say which points are missing", sweep_merge);
  merge->add_option("--store", asked->into, "Store to make (default: named after the shards)")
      ->type_name("FILE");
  add_plot_command(sweep, asked, common, action);
}

}  // namespace

void add_sweep(CLI::App& program, Common& common, Action& action) {
  auto asked = std::make_shared<SweepRequest>();
  auto* command = program.add_subcommand(
      "sweep", "Simulate or search every scenario of a grid, resumably, into a store");
  command->add_option("sweep", asked->file, "Sweep file (YAML): `base`, `vary`, `only_if`");
  command
      ->add_option("--store", asked->store,
                   "SQLite file of results (default: in this folder, named after the sweep)")
      ->type_name("FILE");
  command->add_option("--csv", asked->csv, "Write the table of points to FILE")->type_name("FILE");
  auto* shard = command
                    ->add_option("--shard", asked->shard,
                                 "Only the i-th of N parts, into a file of its own; nothing where "
                                 "that is complete")
                    ->type_name("i/N");
  auto* emit =
      command
          ->add_option("--emit", asked->emit, "Print a script that runs all shards instead: slurm")
          ->check(one_of({"slurm"}))
          ->type_name("ENGINE")
          ->excludes(shard);
  command
      ->add_option("--shards", asked->shards, "Shards of that script (default: by a measured rate)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->needs(emit);
  command->add_option("--minutes", asked->minutes, "How long a shard of that script may take")
      ->check(CLI::PositiveNumber)
      ->type_name("MINUTES")
      ->needs(emit)
      ->capture_default_str();
  command
      ->add_flag("--repair", asked->repair,
                 "Of a damaged store keep the sound points, compute the rest again, and leave the "
                 "damaged file beside it as FILE.damaged")
      ->excludes(emit);
  add_common(*command, common);
  add_corrections(*command, common);
  add_report(*command, common, "any two axes, the best of groups, a table");
  command->require_subcommand(0, 1);
  command->footer(
      "Ctrl-C, a crash or a power cut loses what is in flight; the same command goes on.\n"
      "Each row has a checksum, and a store a digest of all its rows: nothing is taken from one\n"
      "that is damaged, and --repair mends it.\n"
      "Example:\n  stepcast sweep scenarios/examples/sweeps/gpt3-175b-a100.yaml --store "
      "gpt3.sqlite "
      "--csv gpt3.csv\n  stepcast sweep plot gpt3.sqlite --along plan.tensor");
  // This callback runs before those of the subcommands, which may then replace the action.
  command->preparse_callback([asked, &common, &action](std::size_t) {
    action = [asked, &common](Streams streams) {
      if (asked->file.empty())
        throw Mistake("sweep: name a sweep file, or one of status, export, merge, plot");
      return sweep(*asked, common, streams);
    };
  });
  add_store_commands(*command, common, action);
}

}  // namespace app
