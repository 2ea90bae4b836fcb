// SPDX-License-Identifier: Apache-2.0
// The names by which users call schedules.
#pragma once
#include <array>
#include <utility>

#include "plans/plan.hpp"

namespace strategies {

inline constexpr std::array<std::pair<const char*, ScheduleKind>, 10> schedule_names{{
    {"gpipe", ScheduleKind::gpipe},
    {"1f1b", ScheduleKind::one_f_one_b},
    {"interleaved", ScheduleKind::interleaved},
    {"zb-h1", ScheduleKind::zb_h1},
    {"zb-h2", ScheduleKind::zb_h2},
    {"zb-v", ScheduleKind::zb_v},
    {"v-half", ScheduleKind::v_half},
    {"v-min", ScheduleKind::v_min},
    {"dualpipe", ScheduleKind::dualpipe},
    {"dualpipe-v", ScheduleKind::dualpipe_v},
}};

constexpr const char* name_of(ScheduleKind kind) {
  for (const auto& [name, known] : schedule_names)
    if (known == kind) return name;
  return "";
}

}  // namespace strategies
