// SPDX-License-Identifier: Apache-2.0
// Points of a grid, read as scenarios.
#include <utility>

#include "scenarios/document.hpp"
#include "scenarios/documents/value_json.hpp"
#include "scenarios/sweeps/sweep_file.hpp"
#include "scenarios/sweeps/sweep_paths.hpp"

namespace scenarios {

struct PointReader::State {
  const Grid& grid;
  Reading reading;  // entries of the catalog are the same at every point

  Value document(std::int64_t position) {
    reading.start_over("");
    Value document = grid.base;
    set_point(document, grid, indices_at(grid, position), reading);
    return document;
  }
};

namespace {

template <class T>
PointRead<T> checked(T value, Reading& reading) {
  try {
    reading.throw_if_any();
  } catch (const Error& wrong) {
    std::string reason;
    for (const auto& one : wrong.complaints) reason += (reason.empty() ? "" : "; ") + one.text;
    return {{}, std::move(reason)};
  }
  return {std::move(value), {}};
}

}  // namespace

PointReader::PointReader(const Grid& grid)
    : state_(std::make_unique<State>(State{grid, Reading("", grid.folder, grid.texts)})) {}
PointReader::~PointReader() = default;

std::string PointReader::document(std::int64_t position) {
  return json_of(state_->document(position));
}

PointRead<forecast::Scenario> PointReader::scenario(std::int64_t position) {
  auto& reading = state_->reading;
  return checked(read_document(state_->document(position), reading), reading);
}

PointRead<search::Question> PointReader::question(std::int64_t position) {
  auto& reading = state_->reading;
  return checked(read_question(state_->document(position), reading), reading);
}

}  // namespace scenarios
