// SPDX-License-Identifier: Apache-2.0
// JSON with places, and gzip around it.
#include <zlib.h>

#include <sstream>

#include "scenarios/documents/error.hpp"
#include "scenarios/documents/json.hpp"
#include "scenarios/documents/json_tokens.hpp"
#include "scenarios/documents/unpacked.hpp"
#include "scenarios/documents/value_json.hpp"
#include "tests/catch.hpp"

namespace json_spec {

using scenarios::JsonLimits;
using scenarios::JsonMistake;
using scenarios::JsonTokens;

namespace {

scenarios::Value parsed(std::string_view text) {
  return scenarios::parse_json(text, "f.json", {.nodes = 1000});
}

std::string complaint(std::string_view text) {
  try {
    parsed(text);
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "none";
}

// The mistake that ends the tokens, as "LINE:COLUMN limit", or "sound".
std::string ends(const std::string& text, const JsonLimits& limits = {}) {
  std::istringstream in(text);
  JsonTokens tokens(*in.rdbuf(), limits);
  try {
    while (tokens.next().kind != scenarios::JsonToken::Kind::end) {
    }
  } catch (const JsonMistake& wrong) {
    return std::to_string(wrong.at.line) + ":" + std::to_string(wrong.at.column) + " " +
           wrong.limit;
  }
  return "sound";
}

std::string packed(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string unpacked(const std::string& bytes, const scenarios::UnpackLimits& limits = {}) {
  std::stringbuf in(bytes);
  scenarios::Unpacked text(in, limits);
  try {
    return {std::istreambuf_iterator<char>(&text), {}};
  } catch (const scenarios::PackedMistake& wrong) {
    return wrong.what();
  }
}

}  // namespace

TEST_CASE("a JSON document becomes a value whose parts know where they stand") {
  const auto value = parsed("{\"a\": [1, -2.5e3, true],\n  \"b\": {\"c\": \"x\"}, \"d\": null}");
  CHECK(scenarios::json_of(value) == R"({"a":[1,-2500.0,true],"b":{"c":"x"},"d":null})");
  const auto& number = value.find("a")->items[1];
  CHECK(number.text == "-2.5e3");
  CHECK(number.line == 1);
  CHECK(number.column == 11);
  const auto& text = *value.find("b")->find("c");
  CHECK(text.quoted);
  CHECK(text.line == 2);
  CHECK(text.column == 14);
}

TEST_CASE("escapes, surrogate pairs and a byte order mark are read") {
  CHECK(parsed(R"(["\"\\\/\b\f\n\r\tA\u00e9\u20AC\ud83d\ude00"])").items[0].text ==
        "\"\\/\b\f\n\r\tA\u00e9\u20AC\U0001F600");
  CHECK(parsed("\xEF\xBB\xBF{}").column == 1);
  CHECK(complaint("[\"\\ud83d\"]") == "f.json:1:9: this is not JSON");
  CHECK(complaint("[\"\\ude00\"]") == "f.json:1:9: this is not JSON");
  CHECK(complaint("[\"\\x\"]") == "f.json:1:4: this is not JSON");
  CHECK(complaint("[\"\xC3(\"]") == "f.json:1:5: this is not JSON");         // invalid UTF-8
  CHECK(complaint("[\"\xED\xA0\x80\"]") == "f.json:1:6: this is not JSON");  // a surrogate
  CHECK(complaint("[\"a\nb\"]") == "f.json:1:4: this is not JSON");
}

TEST_CASE("numbers are read as Python writes them, also infinite, undefined and too large ones") {
  const auto numbers = parsed("[NaN, Infinity, -Infinity, 1e999, -1e999, 1e-999, 0.5]");
  const auto of = [&](std::size_t i) { return scenarios::json_number(numbers.items[i].text); };
  CHECK(std::isnan(of(0)));
  CHECK(of(1) == std::numeric_limits<double>::infinity());
  CHECK(of(2) == -of(1));
  CHECK(of(3) == of(1));
  CHECK(of(4) == of(2));
  CHECK(of(5) == 0);
  CHECK(of(6) == 0.5);
  CHECK(scenarios::json_number("0." + std::string(400, '0') + "1") == 0);
  CHECK(scenarios::json_number(std::string(400, '9') + ".5") == of(1));
  for (const auto* wrong :
       {"[01]", "[1.]", "[.5]", "[+1]", "[1e]", "[-]", "[-Inf]", "[nan]", "[0x1]"})
    CHECK_THAT(complaint(wrong), STEPCAST_HOLDS("this is not JSON"));
}

TEST_CASE("a text that is no JSON is refused at the byte that is wrong") {
  CHECK(complaint(" \n ") == "f.json:1:1: the file is empty");
  CHECK(complaint("{\"a\": 1,}") == "f.json:1:9: this is not JSON");
  CHECK(complaint("[1 2]") == "f.json:1:4: this is not JSON");
  CHECK(complaint("[1}") == "f.json:1:3: this is not JSON");
  CHECK(complaint("{} x") == "f.json:1:4: this is not JSON");
  CHECK(complaint("{\"a\":\n [tru]}") == "f.json:2:6: this is not JSON");
  CHECK(complaint("{a: 1}") == "f.json:1:2: this is not JSON");
}

TEST_CASE("a document of JSON has its limits") {
  CHECK(complaint(std::string(100'000, '[')) ==
        "f.json:1:65: nested more than 64 levels deep; no such file needs that");
  std::string many = "[0";
  for (int i = 0; i < 1000; ++i) many += ",0";
  CHECK(complaint(many + "]") == "f.json:1:2000: more values than any such file holds");
  CHECK(ends("[1," + std::string(2000, '\n') + "2]", {.blanks = 1000}) ==
        "1002:1 more than 1000 bytes of white space in a row; no such file needs that");
  CHECK(ends("[\"" + std::string(3 << 20, 'x') + "\"]", {.token = 1 << 20})
            .ends_with(" a text of more than 1 MiB; no such file needs that"));
  CHECK(ends("[" + std::string(3 << 20, '1') + "]", {.token = 1 << 20}) ==
        "1:1048579 a text of more than 1 MiB; no such file needs that");
  std::string long_list = "[0";
  for (int i = 0; i < (2 << 20); ++i) long_list += ",0";
  CHECK(ends(long_list + "]") == "sound");
  CHECK_THAT(ends(long_list + "]", {.bytes = 1 << 20}),
             STEPCAST_HOLDS("larger than 1 MiB; no more is read of such a file"));
}

TEST_CASE("gzip is unpacked member by member, unpacked text is given as it is") {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i);
  CHECK(unpacked(text) == text);
  CHECK(unpacked("") == "");
  CHECK(unpacked(packed(text)) == text);
  CHECK(unpacked(packed(text) + packed("more") + "zeros behind it") == text + "more");
  const auto cut = packed(text).substr(0, 1000);
  CHECK(unpacked(cut) == "cannot be unpacked; the compressed file is damaged or cut off");
  auto damaged = packed(text);
  damaged[5000] = static_cast<char>(damaged[5000] ^ 0x55);
  CHECK(unpacked(damaged) == "cannot be unpacked; the compressed file is damaged or cut off");
}

TEST_CASE("an archive that unpacks to far more than its size is refused on the way") {
  const auto bomb = packed(std::string(std::size_t{8} << 20, ' '));
  CHECK(unpacked(bomb).size() == std::size_t{8} << 20);  // small enough to do no harm
  CHECK(unpacked(bomb, {.free = 1 << 20}) ==
        "unpacks to more than 200 times its size; no trace does that");
}

}  // namespace json_spec
