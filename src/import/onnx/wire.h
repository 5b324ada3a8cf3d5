// SPDX-License-Identifier: Apache-2.0
//
// The fields of a protobuf message, one after another, as views of its bytes. Lengths have 64
// bits, which protozero's own reader has not: a graph with its weights may be larger than 4 GiB.
//
//   for (Fields fields(message, "NodeProto"); fields.Next();) {
//     if (fields.number() == 4) node.op_type = fields.bytes();
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "steelyard/error.h"

namespace steelyard::onnx {

// Thrown where a file cannot be read on; caught at the importer's edge (docs/decisions/002).
struct Refusal {
  Error error;
};

// The number at a place among those that the bytes are. Requires: it is there.
template <class T>
T NumberAt(std::string_view bytes, std::size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place * sizeof(T), sizeof(T));
  return value;
}

class Fields {
 public:
  // `message_name` is for errors.
  Fields(std::string_view message, std::string_view message_name)
      : at_(message.data()), end_(message.data() + message.size()), message_name_(message_name) {}

  // Goes to the next field; false at the end. Throws a Refusal where the bytes are no message.
  bool Next();
  std::uint32_t number() const { return number_; }

  // The current field's value. Throw a Refusal where it is of another kind.
  std::string_view bytes() const;
  std::int64_t integer() const;
  float real() const;
  // A repeated number, packed or not: at most `limit` elements are kept in all.
  void AppendTo(std::vector<std::int64_t>& list, std::size_t limit) const;
  void AppendTo(std::vector<double>& list, std::size_t limit) const;
  void AppendDoublesTo(std::vector<double>& list, std::size_t limit) const;

 private:
  enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  [[noreturn]] void Refuse(std::string_view what) const;
  std::uint64_t Varint();
  std::string_view Take(std::uint64_t size);

  const char* at_;
  const char* end_;
  std::string_view message_name_;
  std::uint32_t number_ = 0;
  Wire wire_ = Wire::kVarint;
  std::uint64_t varint_ = 0;
  std::string_view bytes_;  // of all that is no varint
};

}  // namespace steelyard::onnx
