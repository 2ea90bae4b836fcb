// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/cursor.hpp"

#include <algorithm>

namespace scenarios {

void Reading::complain(const Value& where, Complaint complaint) {
  complaints_.add({where.line, where.column, where.set}, std::move(complaint));
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

std::string Reading::place_of(const Value& where) const {
  return complaints_.text_of({where.line, where.column, where.set});
}

bool Reading::doubtful(std::string_view path) const {
  const auto inside = [](std::string_view part, std::string_view whole) {
    return whole.empty() || part == whole || (part.starts_with(whole) && part[whole.size()] == '.');
  };
  return std::ranges::any_of(doubts_, [&](const std::string& doubt) {
    return inside(path, doubt) || inside(doubt, path);
  });
}

bool Reading::doubted_itself(std::string_view path) const {
  return std::ranges::find(doubts_, path) != doubts_.end();
}

std::string Cursor::inner_path(std::string_view key) const {
  return path_ + (path_.empty() ? "" : ".") + std::string(key);
}

Cursor Cursor::in_the_end(std::string_view key, const Value& value) const {
  Cursor cursor = *this;
  if (const auto* given = value_->find(key); given != nullptr && !inherited_)
    cursor.blamed_ = given;
  cursor.value_ = &value;
  cursor.inherited_ = true;
  cursor.path_ = inner_path(key);
  return cursor;
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
