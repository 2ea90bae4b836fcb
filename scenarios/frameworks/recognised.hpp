// SPDX-License-Identifier: Apache-2.0
// Private to the room: whose job a file is, by its content.
#pragma once
#include "scenarios/frameworks/looked.hpp"

namespace scenarios {

bool is_megatron_job(const Looked& looked);
bool is_megatron_swift_job(const Looked& looked);
bool is_torchtitan_job(const Looked& looked);
bool is_deepspeed_job(const Looked& looked);
bool is_neox_job(const Looked& looked);
bool is_nanotron_job(const Looked& looked);
bool is_primus_job(const Looked& looked);
bool is_nemo1_job(const Looked& looked);
bool is_nemo2_job(const Looked& looked);
bool is_bridge_job(const Looked& looked);
bool is_trainer_job(const Looked& looked);
bool is_llamafactory_job(const Looked& looked);
bool is_axolotl_job(const Looked& looked);
bool is_accelerate_job(const Looked& looked);
bool is_automodel_job(const Looked& looked);

}  // namespace scenarios
