// SPDX-License-Identifier: Apache-2.0
#include "scenarios/cursor.hpp"

#include <algorithm>
#include <tuple>

namespace scenarios {

namespace {

// What a file quotes may be of any length and hold anything; a complaint is one line.
std::string one_line(std::string text) {
  constexpr std::size_t longest = 2000;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

}  // namespace

void Reading::complain(const Value& where, Complaint complaint) {
  if (complaint.place.empty()) complaint.place = place_of(where);
  complaint.text = one_line(std::move(complaint.text));
  found_.push_back({where.set, where.line, where.column, std::move(complaint)});
}

std::string Reading::place_of(const Value& where) const {
  if (where.set > 0) return "--set " + std::to_string(where.set);
  return file_ + ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
}

void Reading::adopt(const Reading& part,
                    const std::function<std::string(const std::string&)>& renamed) {
  for (auto found : part.found_) {
    found.complaint.text = renamed(found.complaint.text);
    if (std::ranges::find(found_, found.complaint, &Found::complaint) == found_.end())
      found_.push_back(std::move(found));
  }
}

void Reading::throw_if_any() {
  if (found_.empty()) return;
  std::ranges::stable_sort(found_, {}, [](const Found& found) {
    return std::tuple(found.set, found.line, found.column);
  });
  std::vector<Complaint> all;
  for (auto& found : found_)
    if (all.empty() || !(all.back() == found.complaint)) all.push_back(std::move(found.complaint));
  constexpr std::size_t most = 100;  // nobody reads further before mending these
  if (all.size() > most) {
    const auto rest = std::to_string(all.size() - most);
    all.resize(most);
    all.push_back({file_, "and " + rest + " more mistakes"});
  }
  found_.clear();
  throw Error(std::move(all));
}

const Value* Reading::entry(const std::string& name) {
  named_.insert(name);
  if (overlay_ != nullptr)
    if (const auto laid = overlay_->find(name); laid != overlay_->end()) return laid->second.get();
  const auto known = entries_.find(name);
  return known == entries_.end() ? nullptr : known->second.get();
}

const Value* Reading::remember(const std::string& name, Value entry) {
  return entries_.emplace(name, std::make_shared<const Value>(std::move(entry)))
      .first->second.get();
}

bool Reading::doubtful(std::string_view path) const {
  const auto inside = [](std::string_view part, std::string_view whole) {
    return whole.empty() || part == whole || (part.starts_with(whole) && part[whole.size()] == '.');
  };
  return std::ranges::any_of(doubts_, [&](const std::string& doubt) {
    return inside(path, doubt) || inside(doubt, path);
  });
}

std::string Cursor::inner_path(std::string_view key) const {
  return path_ + (path_.empty() ? "" : ".") + std::string(key);
}

void Cursor::say(const std::string& text, bool unsupported) const {
  reading_->doubt(path_);
  reading_->complain(*blamed_, {{}, (path_.empty() ? "" : path_ + ": ") + text, unsupported});
}

void Cursor::complain_of(const Value& key, const std::string& text,
                         const std::string& meant) const {
  if (!meant.empty()) reading_->doubt(inner_path(meant));
  reading_->complain(inherited_ ? *blamed_ : key, {{}, inner_path(key.text) + ": " + text});
}

void Cursor::complain_at(std::string_view key, const std::string& text) const {
  const auto* given = inherited_ ? nullptr : value_->find(key);
  reading_->doubt(inner_path(key));
  reading_->complain(given == nullptr ? *blamed_ : *given, {{}, inner_path(key) + ": " + text});
}

void Cursor::missing(std::string_view key, std::string_view why) const {
  reading_->doubt(inner_path(key));
  reading_->complain(*blamed_, {{},
                                (path_.empty() ? "" : path_ + ": ") + "missing key '" +
                                    std::string(key) + "'; " + std::string(why)});
}

}  // namespace scenarios
