// SPDX-License-Identifier: Apache-2.0
//
// simdjson's on-demand values with the checks that a file from a stranger needs: every function
// returns false when the text is not what it should be, and the reader then knows the first thing
// that was wrong and the path to it. Plain `bool` rather than `Status`, because these run once per
// token and an `Error` is a hundred bytes to return.
//
//   bool ok = json.Object(value, [&](std::string_view key, JsonValue field) {
//     if (key == "major") return json.Int(field, major);
//     return true;  // any other key is skipped
//   });
#pragma once

#if !defined(SIMDJSON_EXCEPTIONS) || SIMDJSON_EXCEPTIONS
#error "compile with SIMDJSON_EXCEPTIONS=0: no exceptions across this code"
#endif
#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/padded_text.h"
#include "steelyard/error.h"

namespace steelyard {

using JsonValue = simdjson::ondemand::value;

// `text` in quotes for a message: shortened, control characters replaced.
std::string Quoted(std::string_view text);

// What simdjson says of a text, without its full stop.
std::string ReasonOf(simdjson::error_code code);

// A text on its way to being read; it must outlive this.
class JsonText {
 public:
  explicit JsonText(const PaddedText& text)
      : code_(parser_.iterate(text.view().data(), text.size(), text.capacity()).get(document_)) {
    if (code_ == simdjson::SUCCESS) code_ = document_.get_value().get(root_);
  }
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;

  bool ok() const { return code_ == simdjson::SUCCESS; }
  // Why not.
  simdjson::error_code code() const { return code_; }
  // Requires: ok().
  JsonValue root() const { return root_; }
  // Whether something follows the value. Requires: all of it was read.
  bool Continues() { return document_.current_location().error() == simdjson::SUCCESS; }

 private:
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  JsonValue root_;
  simdjson::error_code code_;
};

class JsonReader {
 public:
  // --- Values. A value is read once, except by Token and IsNull, which do not consume it.
  // ---------

  // Calls `on_field(key, value)`, which returns false to stop, for each field in the file's order.
  template <class F>
  bool Object(JsonValue value, F&& on_field);
  // The same in two steps, for what is done with an object before its fields are gone through.
  bool GetObject(JsonValue value, simdjson::ondemand::object& out) {
    if (value.get_object().get(out) == simdjson::SUCCESS) return true;
    return Mismatch("an object", Token(value));
  }
  template <class F>
  bool Fields(simdjson::ondemand::object& object, F&& on_field);
  // Calls `on_element(value)` for each element.
  template <class F>
  bool Array(JsonValue value, F&& on_element);
  // Calls `on_field(key, value)` for the one alternative that a tagged union holds: its first
  // field that is not null.
  template <class F>
  bool Variant(JsonValue value, F&& on_field);

  // Some things can only be understood after others that the file may have put behind them. Later
  // keeps the text of an object or array, and Now reads it: `read(value)`.
  //
  // (simdjson can search an object for a key from its beginning again, but takes for granted that
  // what it went over before was well formed: with a forged file that is undefined behaviour.)
  bool Later(JsonValue value, std::string_view& text);
  template <class F>
  bool Now(std::string_view text, F&& read);

  // The text of a string, unescaped; valid as long as the document is.
  bool Text(JsonValue value, std::string_view& out);
  bool Int(JsonValue value, std::int64_t& out);
  bool Bool(JsonValue value, bool& out);
  // Python's infinities and NaN, quoted or bare, are numbers too.
  bool Real(JsonValue value, double& out);
  // The characters of a scalar, quotes and escapes included; those of "[" or "{" for the others.
  static std::string_view Token(JsonValue value) {
    std::string_view token = value.raw_json_token();
    while (!token.empty() && IsSpace(token.back())) token.remove_suffix(1);
    return token;
  }
  static bool IsNull(JsonValue value) { return Token(value) == "null"; }

  // --- Failure -----------------------------------------------------------------------------------

  // All return false, for use in a return statement.

  // Records what is wrong, unless something is already.
  bool Fail(Error error);
  bool Fail(std::string message) { return Fail(InvalidInput(std::move(message))); }
  // The value is not `expected` ("an integer").
  bool Mismatch(std::string_view expected, std::string_view token);
  // Extends the failure's path: it happened inside the field or "[index]" `step`. No effect once
  // the place has a name.
  bool Inside(std::string_view step);
  // Names the place, e.g. "node 17 (aten::linear)"; steps further out are no longer of interest.
  bool At(std::string place);

  bool failed() const { return failed_; }
  // The failure with its path as the place. Requires: failed().
  Error TakeError();

 private:
  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  static std::string_view RawKey(simdjson::ondemand::field& field) {
    const char* begin = field.key().raw();
    const char* end = begin;
    // The text's first pass has seen the closing quote.
    while (*end != '"' && *end != '\\') ++end;
    return {begin, static_cast<std::size_t>(end - begin + (*end == '\\'))};
  }
  bool Key(simdjson::ondemand::field& field, std::string_view& out) {
    out = RawKey(field);
    return out.empty() || out.back() != '\\' || UnescapedKey(field, out);
  }
  bool UnescapedKey(simdjson::ondemand::field& field, std::string_view& out);
  bool Malformed(simdjson::error_code code);
  bool InsideIndex(std::size_t index);

  // Of texts that were kept. What they unescape must stay as long as this.
  std::vector<std::unique_ptr<simdjson::ondemand::parser>> parsers_;
  Error error_;
  std::string path_;
  bool failed_ = false;
  bool named_ = false;
};

template <class F>
bool JsonReader::Object(JsonValue value, F&& on_field) {
  simdjson::ondemand::object object;
  return GetObject(value, object) && Fields(object, on_field);
}

template <class F>
bool JsonReader::Fields(simdjson::ondemand::object& object, F&& on_field) {
  for (auto next : object) {
    simdjson::ondemand::field field;
    if (const auto code = std::move(next).get(field); code != simdjson::SUCCESS) {
      return Malformed(code);
    }
    std::string_view key;
    if (!Key(field, key)) return false;
    if (!on_field(key, std::move(field).value())) return Inside(key);
  }
  return true;
}

template <class F>
bool JsonReader::Array(JsonValue value, F&& on_element) {
  simdjson::ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    return Mismatch("an array", Token(value));
  }
  std::size_t index = 0;
  for (auto next : array) {
    JsonValue element;
    if (const auto code = next.get(element); code != simdjson::SUCCESS) {
      return Malformed(code);
    }
    if (!on_element(element)) return InsideIndex(index);
    ++index;
  }
  return true;
}

template <class F>
bool JsonReader::Now(std::string_view text, F&& read) {
  parsers_.push_back(std::make_unique<simdjson::ondemand::parser>());
  simdjson::ondemand::document document;
  JsonValue value;
  // It lies in a padded text, so that there is at least the padding behind it.
  auto code = parsers_.back()
                  ->iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING)
                  .get(document);
  if (code == simdjson::SUCCESS) code = document.get_value().get(value);
  return code == simdjson::SUCCESS ? read(value) : Malformed(code);
}

template <class F>
bool JsonReader::Variant(JsonValue value, F&& on_field) {
  bool found = false;
  const bool read = Object(value, [&](std::string_view key, JsonValue alternative) {
    if (found || IsNull(alternative)) return true;
    found = true;
    return on_field(key, alternative);
  });
  return read && (found || Fail("the object holds no alternative: every field is missing or null"));
}

}  // namespace steelyard
