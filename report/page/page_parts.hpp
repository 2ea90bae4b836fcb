// SPDX-License-Identifier: Apache-2.0
// Private to the room: parts of the documents from which a page draws.
#pragma once
#include <string>
#include <string_view>

#include "forecast/forecast.hpp"
#include "report/document.hpp"

namespace report {

// The built page (page/template.html, made from web/); the marker below stands where its data go.
std::string_view page_template();
inline constexpr std::string_view page_marker = "@STEPCAST_DATA@";

// The template with its data: JSON in which no '<' is left, so that no name in it can end the
// element that holds it.
std::string page_of(const Document& data);

// Keys of a scenario whose value is one word or number: [{"path", "type": "whole", "choice",
// "yes_no" or "text", "what", "choices", "least", "most"}].
Document keys_document();

// Slices, arrows and memory as tables (columns.hpp); web/src/timeline.ts reads them back:
//   lanes: [stage, rank, name, slices] each, in the order of the slices
//   sorts: [kind, before, after, chunk, bare, bytes, flops, steps] each: what a rank sends and
//     computes, and what goes on in it, of `passes` (-1: not told); a slice of microbatch 3 is
//     called before + " m3" + after, one that is bare or of no microbatch before + after
//   slices: sort, microbatch (less the one before it in the lane), gap (picoseconds since the end
//     of the one before it in the lane), duration (picoseconds)
//   arrows: the slice it leaves less that of the arrow before, and how many further on it ends
//   passes: names: [part, what] of steps ("": element-wise); bodies: each a table of name, gap
//     (picoseconds since the end of the step before it, which may be negative) and duration
//   memory: per stage samples of time, activations and temporary, each less the one before; the
//     sample that is the peak, and the slice that goes on then (-1: none is drawn)
//   idle, path: page_idle.cpp
Document timeline_document(const forecast::Timeline& timeline);

// Idle intervals, and the critical path of the step, of a timeline.
Document idle_document(const forecast::Timeline& timeline);
Document path_document(const forecast::Timeline& timeline);

}  // namespace report
