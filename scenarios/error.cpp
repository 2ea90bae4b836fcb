// SPDX-License-Identifier: Apache-2.0
#include "scenarios/error.hpp"

#include <algorithm>
#include <utility>

namespace scenarios {
namespace {

std::string lines(const std::vector<Complaint>& all) {
  std::string text;
  for (const auto& one : all)
    text += (text.empty() ? "" : "\n") + one.place + (one.place.empty() ? "" : ": ") + one.text;
  return text;
}

}  // namespace

Error::Error(std::vector<Complaint> all)
    : std::runtime_error(lines(all)), complaints(std::move(all)) {}

bool only_unsupported(const Error& error) {
  return std::ranges::all_of(error.complaints, &Complaint::unsupported);
}

}  // namespace scenarios
