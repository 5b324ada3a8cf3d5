// SPDX-License-Identifier: Apache-2.0
//
// Decides which JSON can be a report: values of the kinds that the tree has, members that are null
// left out. Where one is not, the path to it is put together on the way back out of the recursion,
// so that nothing is spent on it while all goes well.

#include "document/read_json.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "steelyard/error.h"
#include "steelyard/report.h"
#include "steelyard/units.h"
#include "support/json_reason.h"

namespace steelyard::report {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// Puts values into the open container. What a value is has been asked before it is taken. Depth is
// bounded by the parser, which gives up at 1024.
class Builder {
 public:
  explicit Builder(Data* data) : data_(*data) {}

  bool Members(element value) {
    const simdjson::dom::object object = value.get_object().value_unsafe();
    for (const auto [key, member] : object) {
      if (member.is_null()) continue;
      if (!Member(key, member)) return Fails(std::string(key));
    }
    return true;
  }

  // Where it failed: "memory.events[3][1]".
  const std::string& place() const { return place_; }

 private:
  // Puts what is around it before the place.
  bool Fails(std::string step) {
    if (!place_.empty() && place_.front() != '[') step += '.';
    place_.insert(0, step);
    return false;
  }

  bool Elements(element value) {
    const simdjson::dom::array array = value.get_array().value_unsafe();
    std::size_t i = 0;
    for (const element one : array) {
      if (!Element(one)) return Fails("[" + std::to_string(i) + "]");
      ++i;
    }
    return true;
  }

  bool Member(std::string_view key, element value) {
    switch (value.type()) {
      case element_type::OBJECT:
        data_.OpenObject(key);
        return Closed(Members(value));
      case element_type::ARRAY:
        data_.OpenArray(key);
        return Closed(Elements(value));
      case element_type::INT64:
        data_.SetInt(key, value.get_int64().value_unsafe(), Unit::kNone);
        return true;
      case element_type::DOUBLE:
        data_.SetDouble(key, value.get_double().value_unsafe(), Unit::kNone);
        return true;
      case element_type::STRING:
        data_.SetText(key, value.get_string().value_unsafe());
        return true;
      case element_type::BOOL:
        data_.SetBool(key, value.get_bool().value_unsafe());
        return true;
      default:  // of simdjson's enum, which may grow
        return false;
    }
  }

  bool Element(element value) {
    switch (value.type()) {
      case element_type::OBJECT:
        data_.OpenObject();
        return Closed(Members(value));
      case element_type::ARRAY:
        data_.OpenArray();
        return Closed(Elements(value));
      case element_type::INT64:
        data_.AddInt(value.get_int64().value_unsafe(), Unit::kNone);
        return true;
      case element_type::DOUBLE:
        data_.AddDouble(value.get_double().value_unsafe(), Unit::kNone);
        return true;
      case element_type::STRING:
        data_.AddText(value.get_string().value_unsafe());
        return true;
      case element_type::BOOL:
        data_.AddBool(value.get_bool().value_unsafe());
        return true;
      default:
        return false;
    }
  }

  bool Closed(bool complete) {
    data_.Close();
    return complete;
  }

  Data& data_;
  std::string place_;
};

}  // namespace

Result<Data> ReadJson(std::string_view text) {
  simdjson::dom::parser parser;
  element root;
  const simdjson::error_code problem = parser.parse(simdjson::padded_string(text)).get(root);
  if (problem != simdjson::SUCCESS) {
    return Unexpected(InvalidInput(
        fmt::format("it is no JSON: {}", JsonReason(simdjson::error_message(problem)))));
  }
  if (root.type() != element_type::OBJECT) {
    return Unexpected(InvalidInput("the JSON is not an object, as reports are"));
  }
  Data data;
  Builder builder(&data);
  if (!builder.Members(root)) {
    return Unexpected(InvalidInput("it is a value that no report has", "field " + builder.place()));
  }
  return data;
}

}  // namespace steelyard::report
