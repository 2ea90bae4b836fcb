// SPDX-License-Identifier: Apache-2.0
// Private to the room: files of every framework as scenarios, each read as one of that framework.
// Mistakes go to the complaints.
#pragma once
#include "scenarios/frameworks/looked.hpp"

namespace scenarios {

struct ReadJob {
  FrameworkJob job;  // its launcher options count
  JobScenario scenario;
};

ReadJob read_megatron_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_megatron_swift_job(const Looked& looked, const JobHints& hints,
                                Complaints& complaints);
ReadJob read_torchtitan_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_deepspeed_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_neox_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_nanotron_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_primus_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_nemo1_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_nemo2_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_bridge_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_trainer_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_llamafactory_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_axolotl_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_accelerate_job(const Looked& looked, const JobHints& hints, Complaints& complaints);
ReadJob read_automodel_job(const Looked& looked, const JobHints& hints, Complaints& complaints);

}  // namespace scenarios
