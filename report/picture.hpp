// SPDX-License-Identifier: Apache-2.0
// Private to the room: a schedule drawn with characters, one row per stage, time to the right.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "report/style.hpp"

namespace report {

enum class Shade { forward, backward, weight, recompute, optimizer, communication, other, idle };

// A bar of a row from `start` to `end`, in any unit that the whole picture shares. If marks of one
// row overlap, the earlier in the list is in front.
struct Mark {
  double start = 0, end = 0;
  Shade shade = Shade::other;
  std::string label;  // ASCII: "F3"; may be empty
};

struct PictureRow {
  std::string title;
  std::vector<Mark> marks;
};

// "F3": the name of a pass of this microbatch in a picture; with chunks "F3a", "F3b", …
std::string pass_label(char letter, std::int64_t microbatch, std::int64_t chunk, bool chunks);

// The row numbers to draw of `count` where at most `most` (two or more) have room: evenly spread,
// the first and the last among them.
std::vector<int> spread(int count, int most);

// Draws rows from time `begin` to `end` across the width, then a key. If every mark is wide enough
// for its label, labels are drawn ("F0F1F2B0=="); else each cell shows one of the shades that it
// holds, so that along a row every shade gets its share of the cells. O(marks + cells).
std::string picture(const std::vector<PictureRow>& rows, double begin, double end,
                    const TextOptions& options);

}  // namespace report
