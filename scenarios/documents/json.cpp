// SPDX-License-Identifier: Apache-2.0
#include "scenarios/documents/json.hpp"

#include <sstream>
#include <utility>

#include "scenarios/documents/json_tokens.hpp"

namespace scenarios {
namespace {

using TokenKind = JsonToken::Kind;

// Returns the token as a value with its place.
Value value_of(const JsonToken& token) {
  Value value;
  value.line = static_cast<int>(token.at.line);
  value.column = static_cast<int>(token.at.column);
  if (token.kind == TokenKind::begin_map) value.kind = Value::Kind::map;
  if (token.kind == TokenKind::begin_list) value.kind = Value::Kind::list;
  if (value.kind != Value::Kind::null || token.kind == TokenKind::null) return value;
  value.kind = Value::Kind::scalar;
  value.text = token.text;
  value.quoted = token.kind == TokenKind::text || token.kind == TokenKind::key;
  return value;
}

class JsonBuilder {
 public:
  JsonBuilder(JsonTokens& tokens, std::size_t nodes) : tokens_(tokens), left_(nodes) {}

  // Returns the value that the token begins. Recursion is as deep as the document, whose depth the
  // tokens bound.
  Value build(const JsonToken& token) {
    if (left_-- == 0) throw JsonMistake(token.at, "more values than any such file holds");
    Value value = value_of(token);
    if (value.kind == Value::Kind::map)
      for (auto next = &tokens_.next(); next->kind != TokenKind::end_map; next = &tokens_.next()) {
        Value key = value_of(*next);
        value.members.push_back({std::move(key), build(tokens_.next())});
      }
    if (value.kind == Value::Kind::list)
      for (auto next = &tokens_.next(); next->kind != TokenKind::end_list; next = &tokens_.next())
        value.items.push_back(build(*next));
    return value;
  }

 private:
  JsonTokens& tokens_;
  std::size_t left_;
};

}  // namespace

Value parse_json(std::string_view text, const std::string& file, const Limits& limits) {
  Complaints complaints(file);
  if (text.find_first_not_of(" \t\r\n") == text.npos) complaints.add({}, "the file is empty");
  complaints.throw_if_any();
  std::istringstream in{std::string(text)};
  JsonTokens tokens(*in.rdbuf(),
                    {.bytes = limits.bytes, .depth = static_cast<std::size_t>(limits.depth)});
  try {
    Value value = JsonBuilder(tokens, limits.nodes).build(tokens.next());
    tokens.next();  // nothing may follow
    return value;
  } catch (const JsonMistake& wrong) {
    complaints.add(wrong.at, wrong.limit.empty() ? "this is not JSON" : wrong.limit);
  }
  complaints.throw_if_any();
  return {};
}

}  // namespace scenarios
