// SPDX-License-Identifier: Apache-2.0
#include "plans/schedules/schedule_file.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

namespace strategies {

namespace {

constexpr int most = 1'000'000;  // virtual stages, microbatches

struct TableCell {
  int virtual_stage, line, column;
  Slot slot;
};

using Complain = std::function<void(const OrderMistake&)>;

[[noreturn]] void fail(int line, int column, const std::string& what) {
  throw OrderMistake{line, column, what};
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<Pass> pass_of(char letter) {
  switch (letter) {
    case 'F':
      return Pass::forward;
    case 'B':
      return Pass::backward;
    case 'I':
      return Pass::backward_input;
    case 'W':
      return Pass::backward_weight;
    default:
      return std::nullopt;
  }
}

TableCell cell_of(std::string_view text, int line, int column) {
  int virtual_stage = -1, microbatch = -1;
  const auto* end = text.data() + text.size();
  const auto stage = std::from_chars(text.data(), end, virtual_stage);
  const auto pass = stage.ptr < end ? pass_of(*stage.ptr) : std::nullopt;
  const bool whole = pass && std::from_chars(stage.ptr + 1, end, microbatch).ptr == end &&
                     text.back() != *stage.ptr;
  if (!whole || virtual_stage < 0 || microbatch < 0 || virtual_stage >= most || microbatch >= most)
    fail(line, column,
         "'" + std::string(text) +
             "' is not a pass; expected STAGE, F, B, I or W, MICROBATCH, "
             "e.g. 0F0");
  return {virtual_stage, line, column, {*pass, microbatch, 0}};
}

// "(3F1;4B0)OVERLAP_F_B", or a single pass.
void read_cell(std::string_view text, int line, int column, std::vector<TableCell>& cells) {
  constexpr std::string_view together = ")OVERLAP_F_B";
  if (!text.starts_with('(')) {
    cells.push_back(cell_of(text, line, column));
    return;
  }
  const auto parts = text.ends_with(together)
                         ? split(text.substr(1, text.size() - 1 - together.size()), ';')
                         : std::vector<std::string_view>{};
  if (parts.size() != 2)
    fail(line, column,
         "'" + std::string(text) + "' is not a pair; expected e.g. (3F1;4B0)OVERLAP_F_B");
  auto forward = cell_of(trimmed(parts[0]), line, column);
  const auto backward = cell_of(trimmed(parts[1]), line, column);
  if (forward.slot.pass != Pass::forward || backward.slot.pass != Pass::backward)
    fail(line, column, "'" + std::string(text) + "' is not a forward and a whole backward");
  forward.slot.paired = true;
  cells.push_back(forward);
  cells.push_back(backward);
}

// Returns the part of the text before the separator, and takes both off the text.
std::string_view first_part(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

void read_row(std::string_view row, int line, std::vector<TableCell>& cells,
              const Complain& complain) {
  const auto* begin = row.data();
  while (!row.empty()) {
    const auto cell = trimmed(first_part(row, ','));
    if (cell.empty()) continue;
    try {
      read_cell(cell, line, static_cast<int>(cell.data() - begin) + 1, cells);
    } catch (const OrderMistake& wrong) {
      complain(wrong);
    }
  }
}

// The cells of each device, and the line that it stands in.
struct Devices {
  std::vector<std::vector<TableCell>> cells;
  std::vector<int> lines;
};

Devices devices_of(std::string_view csv, const Complain& complain) {
  Devices devices;
  std::size_t passes = 0;
  for (int line = 1; !csv.empty(); ++line) {
    const auto row = first_part(csv, '\n');
    if (trimmed(row).empty()) continue;
    devices.lines.push_back(line);
    read_row(row, line, devices.cells.emplace_back(), complain);
    passes += devices.cells.back().size();
    if (passes > most_passes) {
      complain({line, 1,
                "more than " + std::to_string(most_passes) + " passes; no such order is played"});
      return devices;
    }
  }
  if (devices.cells.empty()) complain({1, 1, "no line holds a pass"});
  return devices;
}

// A V if the second half of 2p virtual stages comes back up; else a loop.
Layout layout_of_cells(const std::vector<std::vector<TableCell>>& devices) {
  const auto p = static_cast<int>(devices.size());
  int last = 0;
  for (const auto& device : devices)
    for (const auto& cell : device) last = std::max(last, cell.virtual_stage);
  const bool v = p > 1 && last == 2 * p - 1 &&
                 std::ranges::any_of(devices.front(), [&](const TableCell& cell) {
                   return cell.virtual_stage == last;
                 });
  return {v ? Layout::Kind::v : Layout::Kind::loop, p, last / p + 1};
}

// The passes of a virtual stage and microbatch that have been seen.
struct Seen {
  bool forward = false, backward = false, weight = false;
};
using AllSeen = std::map<std::pair<int, int>, Seen>;

void take(const TableCell& cell, const std::string& name, Seen& seen) {
  const auto pass = cell.slot.pass;
  const bool again = pass == Pass::forward           ? seen.forward
                     : pass == Pass::backward_weight ? seen.weight
                                                     : seen.backward;
  if (again) fail(cell.line, cell.column, name + " runs twice");
  if (pass != Pass::forward && !seen.forward)
    fail(cell.line, cell.column, name + " runs before its forward");
  if (pass == Pass::backward_weight && !seen.backward)
    fail(cell.line, cell.column, name + " runs before its input gradient");
  seen.forward = seen.forward || pass == Pass::forward;
  seen.backward = seen.backward || pass == Pass::backward || pass == Pass::backward_input;
  seen.weight = seen.weight || pass == Pass::backward || pass == Pass::backward_weight;
}

// Complains of the first missing pass of each virtual stage.
void check_whole(const AllSeen& all, const WrittenOrder& order, const std::vector<int>& lines,
                 const Complain& complain) {
  for (int v = 0; v < order.layout.virtual_stages(); ++v)
    for (int m = 0; m < order.microbatches; ++m) {
      const auto found = all.find({v, m});
      const auto seen = found == all.end() ? Seen{} : found->second;
      const char* missing = !seen.forward    ? "forward"
                            : !seen.backward ? "backward"
                            : !seen.weight   ? "weight pass"
                                             : nullptr;
      if (missing == nullptr) continue;
      const auto device = static_cast<std::size_t>(place_of(v, order.layout).stage);
      complain({lines[device], 1,
                "virtual stage " + std::to_string(v) + " has no " + missing + " of microbatch " +
                    std::to_string(m)});
      break;
    }
}

void add(const TableCell& cell, int device, WrittenOrder& result, AllSeen& all) {
  const auto place = place_of(cell.virtual_stage, result.layout);
  if (place.stage != device)
    fail(cell.line, cell.column,
         "virtual stage " + std::to_string(cell.virtual_stage) + " belongs to device " +
             std::to_string(place.stage) + ", not " + std::to_string(device));
  const auto name = "virtual stage " + std::to_string(cell.virtual_stage) +
                    "'s pass of microbatch " + std::to_string(cell.slot.microbatch);
  take(cell, name, all[{cell.virtual_stage, cell.slot.microbatch}]);
  auto& slots = result.order[static_cast<std::size_t>(device)];
  slots.push_back(cell.slot);
  slots.back().chunk = place.chunk;
  result.microbatches = std::max(result.microbatches, cell.slot.microbatch + 1);
}

}  // namespace

WrittenOrder read_order(std::string_view csv, const Complain& complain) {
  bool sound = true;
  const auto note = [&](const OrderMistake& wrong) {
    sound = false;
    complain(wrong);
  };
  const auto devices = devices_of(csv, note);
  if (!sound) return {};
  WrittenOrder result{.layout = layout_of_cells(devices.cells)};
  result.order.resize(devices.cells.size());
  AllSeen all;
  for (std::size_t device = 0; device < devices.cells.size(); ++device)
    for (const auto& cell : devices.cells[device]) try {
        add(cell, static_cast<int>(device), result, all);
      } catch (const OrderMistake& wrong) {
        note(wrong);
      }
  if (sound) check_whole(all, result, devices.lines, complain);
  return result;
}

}  // namespace strategies
