// SPDX-License-Identifier: Apache-2.0
// Private to the jobs' rooms: the words for texts that frameworks join, or do not join, into whole
// sequences.
#pragma once

namespace scenarios {

inline constexpr auto packed_texts =
    "texts in one sequence do not attend to each other; the forecast has attention over the whole "
    "sequence";
inline constexpr auto unpacked_texts =
    "without packing a sequence is as long as its text; the forecast has all at this length";

}  // namespace scenarios
