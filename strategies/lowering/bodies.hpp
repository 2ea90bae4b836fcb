// SPDX-License-Identifier: Apache-2.0
// Bodies of passes, each written into the program once.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/program.hpp"
#include "strategies/lowering/cast.hpp"

namespace strategies {

// How a pass is written.
struct PassVariant {
  double slowdown = 1.0;        // of computation, which runs beside communication
  bool second_of_pair = false;  // the first has waited for what it needs
  // In a pair, the memory of both passes if this is the second, nothing if it is the first.
  std::optional<PassMemory> memory = {};
  friend auto operator<=>(const PassVariant&, const PassVariant&) = default;
};

// Writes the pieces of a pass over a segment, as the writer with this index does.
Pieces written(const Cast& cast, std::size_t writer, const Segment& segment, Pass pass,
               const PassVariant& how = {});

// A piece of a pass whose body the program has; the rest as in Piece.
struct WrittenPiece {
  sim::TemplateId body{};
  int waits_for = -1;
  std::optional<Exchange> then;
};
using WrittenPass = std::vector<WrittenPiece>;

// Invariant: the program has every body that is known here, in the order in which they were asked
// for. References that are returned stay valid.
class Bodies {
 public:
  // Both must outlive it.
  Bodies(const Cast& cast, sim::Program& program);

  // Returns a pass over a segment as the writer with this index writes it.
  const WrittenPass& pass(std::size_t writer, const Segment& segment, Pass pass,
                          const PassVariant& how = {});
  // Returns the memory of a pair of passes over two virtual stages, as the writer with this index
  // writes them.
  PassMemory pair_memory(std::size_t writer, const Segment& ahead, const Segment& back);
  // Returns the body that packs what is sent, or unpacks what has come, in a forward or a backward
  // pass: it reads and writes `bytes` in all.
  sim::TemplateId packing(double bytes, bool forward, const Gpu& gpu);

 private:
  const WrittenPass& any_pass(std::size_t writer, const Segment& segment, Pass pass,
                              const PassVariant& how);
  const Cast& cast_;
  sim::Program& program_;
  std::map<std::tuple<std::size_t, Segment, Pass, PassVariant>, WrittenPass> passes_;
  // The same again for whole virtual stages, which most passes are: [writer, virtual stage][pass].
  std::vector<std::array<const WrittenPass*, 4>> whole_;
  // The memory of pairs by writer and virtual stages.
  std::map<std::tuple<std::size_t, const Segment*, const Segment*>, PassMemory> pairs_;
  std::map<std::tuple<double, bool, Gpu>, sim::TemplateId> packing_;  // by bytes and direction
};

}  // namespace strategies
