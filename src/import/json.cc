// SPDX-License-Identifier: Apache-2.0
//
// Decides what is said of JSON that is not as it should be: the first thing that was wrong, and the
// path to it, put together on the way back out. What a message quotes is cut, for the file may be
// forged. NaN and the infinities are read as Python writes them, bare or in quotes.

#include "import/json.h"

#include <limits>

#include "support/json_reason.h"

namespace steelyard {
namespace {

// Longest piece of the file that a message quotes, and longest path to a place in it.
constexpr std::size_t kMaxQuoted = 80;
constexpr std::size_t kMaxPath = 400;

// How Python's json module writes what JSON has no number for, bare or, since torch 2.7, quoted.
struct SpecialNumber {
  std::string_view text;
  double value;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr SpecialNumber kSpecialNumbers[] = {
    {"Infinity", kInfinity},
    {"-Infinity", -kInfinity},
    {"NaN", std::numeric_limits<double>::quiet_NaN()},
};

// At most kMaxQuoted bytes, ending where a character ends.
std::string_view Shortened(std::string_view text) {
  if (text.size() <= kMaxQuoted) return text;
  std::size_t size = kMaxQuoted;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  return text.substr(0, size);
}

// Since simdjson 3.2 the function has a parameter, which had no default at first.
template <class Field>
auto KeyWithoutEscapes(Field& field) {
  if constexpr (requires { field.unescaped_key(false); }) {
    return field.unescaped_key(false);
  } else {
    return field.unescaped_key();
  }
}

}  // namespace

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : Shortened(text)) {
    out.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  }
  if (text.size() > kMaxQuoted) out.append("...");
  out.push_back('"');
  return out;
}

std::string ReasonOf(simdjson::error_code code) {
  return std::string(JsonReason(simdjson::error_message(code)));
}

bool JsonReader::Later(JsonValue value, std::string_view& text) {
  simdjson::ondemand::object object;
  simdjson::ondemand::array array;
  auto code = value.get_object().get(object);
  if (code == simdjson::SUCCESS) {
    code = object.raw_json().get(text);
  } else if (value.get_array().get(array) == simdjson::SUCCESS) {
    code = array.raw_json().get(text);
  } else {
    return Mismatch("an object or an array", Token(value));
  }
  return code == simdjson::SUCCESS || Malformed(code);
}

bool JsonReader::Text(JsonValue value, std::string_view& out) {
  const std::string_view token = Token(value);
  if (token.empty() || token.front() != '"') return Mismatch("a string", token);
  if (token.size() >= 2 && token.back() == '"' && token.find('\\') == std::string_view::npos) {
    out = token.substr(1, token.size() - 2);
    return true;
  }
  if (value.get_string().get(out) == simdjson::SUCCESS) return true;
  return Fail("the string " + Quoted(token) + " is not valid text");
}

bool JsonReader::Int(JsonValue value, std::int64_t& out) {
  if (value.get_int64().get(out) == simdjson::SUCCESS) return true;
  return Mismatch("an integer of 64 bits", Token(value));
}

bool JsonReader::Bool(JsonValue value, bool& out) {
  if (value.get_bool().get(out) == simdjson::SUCCESS) return true;
  return Mismatch("true or false", Token(value));
}

bool JsonReader::Real(JsonValue value, double& out) {
  std::string_view token = Token(value);
  if (token.size() > 1 && token.front() == '"') token = token.substr(1, token.size() - 2);
  for (const SpecialNumber& special : kSpecialNumbers) {
    if (token != special.text) continue;
    out = special.value;
    return true;
  }
  if (value.get_double().get(out) == simdjson::SUCCESS) return true;
  return Mismatch("a number", Token(value));
}

bool JsonReader::UnescapedKey(simdjson::ondemand::field& field, std::string_view& out) {
  if (KeyWithoutEscapes(field).get(out) == simdjson::SUCCESS) return true;
  return Fail("a key is not valid text");
}

bool JsonReader::Fail(Error error) {
  if (!failed_) error_ = std::move(error);
  failed_ = true;
  return false;
}

bool JsonReader::Mismatch(std::string_view expected, std::string_view token) {
  std::string message = "expected ";
  message.append(expected);
  if (token.starts_with('{')) return Fail(message + ", found an object");
  if (token.starts_with('[')) return Fail(message + ", found an array");
  if (token.starts_with('"')) token = token.substr(1, token.size() - 2);
  return Fail(message + ", found " + Quoted(token));
}

bool JsonReader::Malformed(simdjson::error_code code) {
  return Fail("the JSON is malformed or cut short (" + ReasonOf(code) + ")");
}

bool JsonReader::Inside(std::string_view step) {
  if (named_ || path_.size() > kMaxPath) return false;
  const bool joined = path_.empty() || path_.front() == '[';
  std::string path(Shortened(step));
  if (!joined) path.push_back('.');
  path_.insert(0, path);
  return false;
}

bool JsonReader::InsideIndex(std::size_t index) {
  return Inside("[" + std::to_string(index) + "]");
}

bool JsonReader::At(std::string place) {
  if (path_.size() > kMaxPath) return false;
  if (!path_.empty()) place.append(": ").append(path_);
  path_ = std::move(place);
  named_ = true;
  return false;
}

Error JsonReader::TakeError() {
  Error error = std::move(error_);
  if (!path_.empty()) error = Within(std::move(path_), std::move(error));
  return error;
}

}  // namespace steelyard
