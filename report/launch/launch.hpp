// SPDX-License-Identifier: Apache-2.0
// A plan as the launch configuration of a training framework. What each one can express, and the
// versions meant: docs/launch.md.
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

// `text` is ready to paste, and ends with a line feed:
//   megatron    lines of a shell script that start training on one node
//   deepspeed   a ds_config file; JSON has no comments, so that all else is in `not_expressed`
//   torchtitan  a job configuration file, TOML
//   nanotron    a configuration file, YAML
// `not_expressed` has one sentence, without a full stop, for each key of the plan, trait of the
// model or choice of training that has an effect and that the framework cannot express, or that
// lives outside of `text`: what the scenario has, and what is written instead. That is the nearest
// that the framework has; for recomputation, the nearest that recomputes at least as much.
struct Launch {
  std::string text;
  std::vector<std::string> not_expressed;
  friend bool operator==(const Launch&, const Launch&) = default;
};

// Throws std::invalid_argument if the plan does not fit the model or the batch. Linear in the
// model's layers.
Launch launch(const forecast::Scenario& scenario, Framework framework);

}  // namespace report
