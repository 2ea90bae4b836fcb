// SPDX-License-Identifier: Apache-2.0
// A plan as the launch configuration of a training framework. docs/launch.md lists what each
// framework can express, and the versions meant.
#pragma once
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "forecast/scenario.hpp"

namespace report {

enum class Framework { megatron, deepspeed, torchtitan, nanotron };

// The words by which users name them.
inline constexpr std::array<std::pair<const char*, Framework>, 4> framework_names{{
    {"megatron", Framework::megatron},
    {"deepspeed", Framework::deepspeed},
    {"torchtitan", Framework::torchtitan},
    {"nanotron", Framework::nanotron},
}};

// A file of a launch configuration, under the name by which the others know it.
struct LaunchFile {
  std::string name, text;
  friend bool operator==(const LaunchFile&, const LaunchFile&) = default;
};

// A part of a scenario that has an effect, and that a framework does not run as it is forecast.
struct Lost {
  enum class Effect {
    other_value,     // the file has another value of the key, or none
    runs_otherwise,  // the framework runs the key's value otherwise than it is forecast
    never_starts     // the framework refuses to start with the key's value
  };
  std::string key;       // "zero", of a plan; others with their section: "training.precision"
  std::string sentence;  // the scenario's value and the consequence, without a full stop
  Effect effect = Effect::other_value;
  friend bool operator==(const Lost&, const Lost&) = default;
};

std::vector<std::string> sentences_of(const std::vector<Lost>& lost);

// `text` is ready to paste, and ends with a line feed:
//   megatron    train.sh: lines of a shell script that start training on one node
//   deepspeed   ds_config.json; JSON has no comments
//   torchtitan  job.toml: a job configuration file
//   nanotron    config.yaml: a configuration file
// Lists hold sentences without a full stop.
struct Launch {
  std::string name, text;          // the main file
  std::vector<LaunchFile> beside;  // further files that the framework needs
  // Each key of the plan, trait of the model or choice of training that the framework cannot
  // express. The value in its place is the nearest that the framework has; for recomputation, the
  // nearest that recomputes at least as much.
  std::vector<Lost> not_expressed;
  // Values that a file of `beside` has, because `text` cannot hold them.
  std::vector<std::string> elsewhere;
  // Constants of a trained model that no forecast needs and the scenario lacks, such as the base of
  // rotary positions: the default of the framework that holds, or the value in its place.
  std::vector<std::string> undecided;
  friend bool operator==(const Launch&, const Launch&) = default;
};

// Names of the files that may be written for a framework, the main one first.
std::vector<std::string> launch_names(Framework framework);

// Throws std::invalid_argument if the plan does not fit the model or the batch. Linear in the
// model's layers.
Launch launch(const forecast::Scenario& scenario, Framework framework);

}  // namespace report
