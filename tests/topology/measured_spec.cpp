// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/catch.hpp"
#include "topology/measured.hpp"

namespace measured_spec {

using namespace topology;
namespace {

const std::string head = "# source\nkind,pass,batch,m,n,k,causal,implementation,efficiency\n";
using Pass = MeasuredAttention::Pass;
using Layout = units::Kernel::Layout;

TEST_CASE("a table of measured kernels is read row by row") {
  const auto table = parse_measured(head +
                                    "product,forward,1,128,256,512,,,0.5\n"
                                    "product,weight_gradient,4,8,16,32,,,0.25\r\n"
                                    "\n"
                                    "attention,both,,2048,2048,128,1,flash-2,0.4\n");
  const Measured expected{
      {{Layout::forward, 1, 128, 256, 512, 0.5}, {Layout::weight_gradient, 4, 8, 16, 32, 0.25}},
      {{Pass::both, 128, 2048, true, 0.4, units::FusedAttention::flash_2}}};
  CHECK(table == expected);
}

TEST_CASE("columns may stand in any order") {
  const auto table = parse_measured(
      "efficiency,kind,k,n,m,batch,pass,implementation,causal\n"
      "0.5,product,3,2,1,4,input_gradient,,\n");
  CHECK(table.products == std::vector<MeasuredProduct>{{Layout::input_gradient, 4, 1, 2, 3, 0.5}});
}

TEST_CASE("a measured attention knows its kernel; of unknown kernels nothing is read") {
  using enum units::FusedAttention;
  const auto text = head +
                    "attention,forward,,512,512,64,0,flash-2,0.2\n"
                    "attention,backward,,512,512,64,0,flash-1,0.1\n"
                    "attention,forward,,512,512,64,0,flash-3,0.3\n"
                    "attention,forward,,512,512,64,0,triton,0.4\n"
                    "attention,both,,512,512,64,0,memory-efficient,0.5\n"
                    "attention,both,,512,512,64,0,,0.6\n";
  CHECK(parse_measured(text).attention ==
        std::vector<MeasuredAttention>{{Pass::forward, 64, 512, false, 0.2, flash_2},
                                       {Pass::backward, 64, 512, false, 0.1, flash_1},
                                       {Pass::forward, 64, 512, false, 0.3, flash_3},
                                       {Pass::both, 64, 512, false, 0.5, memory_efficient},
                                       {Pass::both, 64, 512, false, 0.6, std::nullopt}});
}

TEST_CASE("a mistake in a table is named with its line") {
  const auto message = [](const std::string& row) {
    try {
      parse_measured(head + row);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(message("product,forward,1,128,256\n") == "line 3: the row has too few cells");
  CHECK(message("gemm,forward,1,1,1,1,,,0.5\n") ==
        "line 3: unknown kind 'gemm'; expected product, attention or stream");
  CHECK(message("product,both,1,1,1,1,,,0.5\n") ==
        "line 3: unknown pass 'both'; expected forward, input_gradient or weight_gradient");
  CHECK(message("attention,first,,1,1,1,0,,0.5\n") ==
        "line 3: unknown pass 'first'; expected forward, backward or both");
  CHECK(message("product,forward,1,-4,1,1,,,0.5\n") ==
        "line 3: m must be a positive number, not '-4'");
  CHECK(message("product,forward,1,4,1,1x,,,0.5\n") ==
        "line 3: k must be a positive number, not '1x'");
  CHECK(message("product,forward,1,4,1,1,,,nan\n") ==
        "line 3: efficiency must be a positive number, not 'nan'");
  CHECK(message("product,forward,1,4,1,1,,,61\n") ==
        "line 3: efficiency is a share of peak, not more than 1.5");
  CHECK(message("attention,both,,4,4,1,yes,,0.5\n") == "line 3: causal must be 0 or 1, not 'yes'");
  CHECK_THROWS_WITH(
      parse_measured("kind,pass,batch,m,n,k,causal,implementation,efficiency,precision\n"
                     "attention,both,,4,4,1,1,,0.5,fp8\n"),
      "line 2: only products are measured in fp8; leave the precision out");
  CHECK_THROWS_WITH(parse_measured("kind,pass\n"), "line 1: column 'batch' is missing");
}

TEST_CASE("the tables of the catalog can be read") {
  for (const std::string name : {"a100", "h100"}) {
    std::ifstream file(STEPCAST_SOURCE_DIR "/scenarios/catalog/kernels/" + name + ".csv");
    std::stringstream text;
    text << file.rdbuf();
    const auto table = parse_measured(text.str());
    CHECK(table.products.size() > 100);
    CHECK(table.attention.size() > 20);
  }
}

}  // namespace
}  // namespace measured_spec
