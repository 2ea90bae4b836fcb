// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string_view>

#include "plans/words.hpp"
#include "tests/catch.hpp"
#include "topology/words.hpp"

namespace words_spec {
namespace {

// Checks that an enum, whose values count from 0, has a name of its own for each.
template <class E>
void name_each_once(std::size_t values, std::size_t first = 0) {
  std::set<std::string_view> names;
  for (const auto& [name, value] : words_of(E{})) names.insert(name);
  CHECK(names.size() == words_of(E{}).size());
  for (std::size_t i = first; i < values; ++i) {
    const auto value = static_cast<E>(i);
    CAPTURE(i);
    CHECK(names.erase(units::word(value)) == 1);
  }
  CHECK(names.empty());
}

TEST_CASE("every choice has one word, and no two have the same") {
  name_each_once<units::Precision>(7);
  name_each_once<model::Activation>(5);
  name_each_once<model::Norm>(2);
  name_each_once<model::Position>(4);
  name_each_once<model::AttentionKernel>(8);
  name_each_once<model::ExpertProducts>(3);
  name_each_once<model::Scaling>(4);
  name_each_once<model::Module>(8, 1);  // all but `other`
  name_each_once<topology::NvLink::Kind>(4);
  name_each_once<topology::Fabric::Kind>(6);
  name_each_once<topology::Collective>(6);
  name_each_once<strategies::ScheduleKind>(10);
  name_each_once<strategies::ContextMethod>(3);
  name_each_once<strategies::Optimizer>(8);
  name_each_once<strategies::Offload::Tier>(3);
  name_each_once<strategies::GradientCompression>(3);
  name_each_once<strategies::ActivationCompression>(3);
  name_each_once<strategies::Degree>(5);
  name_each_once<strategies::GraphedPart>(3);
  name_each_once<strategies::MoeDispatcher>(4);
  name_each_once<strategies::TensorOverlap>(2);
}

TEST_CASE("a value that no word stands for has the empty word") {
  CHECK(units::word(model::Module::other).empty());
  CHECK(units::word(strategies::Recompute::Kind::full_layers).empty());
}

TEST_CASE("an order of ranks is the words of its degrees") {
  CHECK(strategies::word(strategies::Plan{}.rank_order) == "tp-cp-ep-dp-pp");
}

}  // namespace
}  // namespace words_spec
