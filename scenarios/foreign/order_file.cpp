// SPDX-License-Identifier: Apache-2.0
#include "scenarios/foreign/order_file.hpp"

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/file.hpp"

namespace scenarios {

strategies::WrittenOrder read_order(std::string_view csv, const std::string& file_name) {
  Complaints complaints(file_name);
  auto order = strategies::read_order(csv, [&](const strategies::OrderMistake& wrong) {
    complaints.add({wrong.line, wrong.column}, wrong.text);
  });
  complaints.throw_if_any();
  return order;
}

strategies::WrittenOrder load_order(const Source& source) {
  constexpr Limits limits{.bytes = std::uintmax_t{32} << 20};  // as many passes as are read
  return read_order(source.read(limits), source.file.string());
}

}  // namespace scenarios
