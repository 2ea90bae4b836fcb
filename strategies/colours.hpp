// SPDX-License-Identifier: Apache-2.0
// Colour refinement: which vertices of a graph cannot be told apart (1-dimensional
// Weisfeiler-Leman). The result is equitable: each vertex of a colour has as many neighbours of
// each colour, by each kind of edge, as every other vertex of it.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace strategies {

class Colours {
 public:
  using Colour = std::uint32_t;
  using Vertex = std::uint32_t;

  // Vertices with different keys are never alike.
  Vertex add(std::initializer_list<std::uint64_t> key);
  // An edge that its ends see as `forth` and `back`: kinds of edge, any small numbers.
  void join(Vertex a, Vertex b, std::uint32_t forth, std::uint32_t back);

  // Refines until nothing changes, and returns the colour of each vertex: numbered from zero, in
  // order of first appearance. O(edges · log degree) per round; as many rounds as a difference
  // takes to spread.
  std::vector<Colour> stable() const;

 private:
  struct Edge {
    Vertex from, to;
    std::uint32_t kind;
  };
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> key_ends_;
  std::vector<Edge> edges_;
};

}  // namespace strategies
