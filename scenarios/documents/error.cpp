// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/error.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace scenarios {
namespace {

std::string lines(const std::vector<Complaint>& all) {
  std::string text;
  for (const auto& one : all)
    text += (text.empty() ? "" : "\n") + one.place + (one.place.empty() ? "" : ": ") + one.text;
  return text;
}

// Returns the text of a complaint as one line of bounded length: it may quote any text of a file.
std::string one_line(std::string text) {
  constexpr std::size_t longest = 2000;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

bool is_before(const Place& a, const Place& b) {
  return std::tie(a.set, a.line, a.column) < std::tie(b.set, b.line, b.column);
}

}  // namespace

Error::Error(std::vector<Complaint> all)
    : std::runtime_error(lines(all)), complaints(std::move(all)) {}

bool only_unsupported(const Error& error) {
  return std::ranges::all_of(error.complaints, &Complaint::unsupported);
}

std::string Complaints::text_of(const Place& at) const {
  if (at.set > 0) return "--set " + std::to_string(at.set);
  return file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

void Complaints::add(const Place& at, Complaint complaint) {
  if (left_out_ >= enough) throw_if_any();
  if (full_ && !is_before(at, found_[most - 1].at)) return leave_out(complaint);
  if (complaint.place.empty()) complaint.place = text_of(at);
  complaint.text = one_line(std::move(complaint.text));
  keep({at, std::move(complaint)});
}

bool Complaints::holds(const Complaint& complaint) const {
  return std::ranges::find(found_, complaint, &Found::complaint) != found_.end();
}

void Complaints::keep(Found found) {
  found_.push_back(std::move(found));
  if (found_.size() >= 2 * most) leave_out_beyond_most();
}

std::vector<std::string> Complaints::texts() const {
  std::vector<std::string> all;
  for (const auto& found : found_) all.push_back(found.complaint.text);
  return all;
}

void Complaints::leave_out(const Complaint& complaint) {
  ++left_out_;
  all_unsupported_ = all_unsupported_ && complaint.unsupported;
}

void Complaints::leave_out_beyond_most() {
  std::ranges::stable_sort(found_, is_before, &Found::at);
  const auto same = [](const Found& a, const Found& b) { return a.complaint == b.complaint; };
  found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
  for (; found_.size() > most; found_.pop_back()) leave_out(found_.back().complaint);
  full_ = found_.size() == most;
}

void Complaints::throw_if_any() {
  if (found_.empty()) return;
  leave_out_beyond_most();
  std::vector<Complaint> all;
  for (auto& found : found_) all.push_back(std::move(found.complaint));
  if (left_out_ > 0)
    all.push_back({file_,
                   "and " + std::to_string(left_out_) +
                       (left_out_ == 1       ? " more mistake"
                        : left_out_ < enough ? " more mistakes"
                                             : " more mistakes, behind which nothing was read"),
                   all_unsupported_});
  *this = Complaints(std::move(file_));
  throw Error(std::move(all));
}

}  // namespace scenarios
