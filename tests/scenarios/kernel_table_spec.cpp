// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/yaml.hpp"
#include "scenarios/measured/kernel_table.hpp"
#include "tests/catch.hpp"
#include "tests/scenarios/complaints.hpp"

namespace kernel_table_spec {

namespace {

const std::string header = "kind,pass,batch,m,n,k,causal,implementation,efficiency,precision\n";
const std::string table =
    "# device: Some GPU\n# date: 2026-01-02\n# driver: 550.54\n# a remark of several: words\n"
    "# memory: 80 GiB\n# memory_bandwidth: 2 TB/s\n# peak.bf16: 300 TFLOP/s\n# sms: 100\n" +
    header +
    "product,forward,1,4096,4096,4096,,,0.75,bf16\n"
    "product,forward,1,4096,4096,4096,,,0.7,fp8\n"
    "stream,copy,,,1000000,,,,0.6,bf16\n";

std::string complaint_of(const std::string& csv) {
  try {
    const auto read = scenarios::read_kernel_table(csv, "t.csv");
    scenarios::device_of(read, "");
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "no complaint";
}

}  // namespace

TEST_CASE("a measured table carries the device's data sheet in its comments") {
  const auto read = scenarios::read_kernel_table(table, "t.csv");
  CHECK(read.measured.products.size() == 1);
  CHECK(read.measured.narrow.size() == 1);
  REQUIRE(read.measured.streams.size() == 1);
  CHECK(read.measured.streams[0].traffic.value == 1e6);
  const auto device = scenarios::device_of(read, "");
  CHECK(device.memory_bandwidth.value == 2e12);
  CHECK(device.sms == 100);
  CHECK(device.efficiency.products.empty());
  CHECK(scenarios::device_yaml(read, "", "my.csv") ==
        "source: 'kernels measured on Some GPU, date 2026-01-02, driver 550.54'\n"
        "memory: 80 GiB\nmemory_bandwidth: 2 TB/s\nsms: 100\npeak: {bf16: 300 TFLOP/s}\n"
        "kernels: my.csv\n");
}

TEST_CASE("figures that the table lacks come from the device it is laid over") {
  const auto read = scenarios::read_kernel_table(header + "stream,copy,,,1000,,,,0.1,\n", "t.csv");
  CHECK(scenarios::device_of(read, "h100-80gb-sxm").sms == 132);
  CHECK(scenarios::device_yaml(read, "h100-80gb-sxm", "my.csv") ==
        "base: h100-80gb-sxm\nsource: 'kernels measured'\nkernels: my.csv\n");
}

TEST_CASE("every wrong line of a measured table is told, with the cell that is wrong") {
  CHECK(complaint_of(header +
                     "gemm,forward,1,1,1,1,,,0.5,\nstream,copy,,,-3,,,,0.5,\n"
                     "product,forward,1,1,1,1,,,7,\nproduct,forward,1,1,1,1,,,0.5,int4\n") ==
        "t.csv:2:1: unknown kind 'gemm'; expected product, attention or stream\n"
        "t.csv:3:15: n must be a positive number, not '-3'\n"
        "t.csv:4:27: efficiency is a share of peak, not more than 1.5\n"
        "t.csv:5:31: unknown precision 'int4'; expected bf16, fp16 or fp8");
  CHECK(complaint_of("kind,pass,batch,m,n,k,causal,implementation\n") ==
        "t.csv:1:1: column 'efficiency' is missing");
  CHECK(complaint_of("# nothing\n") ==
        "t.csv:1:1: the table has no row; expected a line of column names and rows such as "
        "'product,forward,1,4096,4096,4096,,,0.75'");
}

TEST_CASE("a table without a data sheet needs a base, and a wrong sheet is told where it stands") {
  CHECK(complaint_of(header + "stream,copy,,,1000,,,,0.1,\n") ==
        "t.csv:1:1: the table does not say the device's memory; write a comment line '# memory: 80 "
        "GiB', or name a device of the catalog with --base\n"
        "t.csv:1:1: the table does not say the device's memory_bandwidth; write a comment line '# "
        "memory_bandwidth: 3.35 TB/s', or name a device of the catalog with --base\n"
        "t.csv:1:1: the table does not say the device's peak; write a comment line '# peak.bf16: "
        "989 TFLOP/s', or name a device of the catalog with --base");
  auto wrong = table;
  wrong.replace(wrong.find("80 GiB"), 6, "80 GiX");
  CHECK_THAT(complaint_of(wrong), STEPCAST_HOLDS("t.csv:5:11: memory: "));
}

}  // namespace kernel_table_spec
