// SPDX-License-Identifier: Apache-2.0
// A timeline as files that trace viewers open: chrome://tracing, ui.perfetto.dev.
#pragma once
#include <string>

#include "forecast/forecast.hpp"

namespace report {

// Both formats: a process per rank, a thread per lane, one bar per slice with its microbatch,
// chunk, kind, and the flops or bytes of one rank, an arrow per message, a counter of allocated
// bytes per stage, and one of the load of each link, in percent of its bandwidth. Times are rounded
// to nanoseconds, ends like starts, so that neighbours still touch and never overlap. Bars of one
// lane that overlap without nesting, which no viewer can show, are spread over further threads
// ("data (2)"). The same timeline gives the same bytes. Throws std::invalid_argument if a slice or
// sample is before zero, a slice ends before it starts, an arrow points at no slice, or a sample is
// of no link. O(slices) if they are sorted as forecast::Timeline promises.

// Chrome trace events as JSON; time stamps in microseconds.
std::string chrome_trace(const forecast::Timeline& timeline);

// Perfetto's binary format (messages of tests/report/perfetto.proto), about a third of the size.
std::string perfetto_trace(const forecast::Timeline& timeline);

}  // namespace report
