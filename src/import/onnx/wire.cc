// SPDX-License-Identifier: Apache-2.0
//
// Decides what counts as a message: fields of four wire types, since nothing in ONNX is a group,
// each length held against the bytes that are left before it is believed. Repeated numbers may come
// packed or one by one, and are kept up to a limit, so that no weights are copied.

#include "import/onnx/wire.h"

#include <limits>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>
#include <string>

namespace steelyard::onnx {
namespace {

template <class T>
void AppendFixed(std::string_view bytes, std::size_t limit, std::vector<double>& list) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(T) && list.size() < limit; ++i) {
    list.push_back(NumberAt<T>(bytes, i));
  }
}

}  // namespace

void Fields::Refuse(std::string_view what) const {
  throw Refusal{InvalidInput(std::string(what), std::string(message_name_),
                             "Was the file written completely? Export the model again.")};
}

std::uint64_t Fields::Varint() {
  try {
    return protozero::decode_varint(&at_, end_);
  } catch (const protozero::exception&) {
    Refuse("the file is cut or damaged");
  }
}

std::string_view Fields::Take(std::uint64_t size) {
  if (size > static_cast<std::uint64_t>(end_ - at_)) Refuse("the file is cut or damaged");
  const std::string_view taken(at_, static_cast<std::size_t>(size));
  at_ += size;
  return taken;
}

bool Fields::Next() {
  if (at_ == end_) return false;
  const std::uint64_t key = Varint();
  number_ = key >> 3U <= std::numeric_limits<std::uint32_t>::max()
                ? static_cast<std::uint32_t>(key >> 3U)
                : 0;
  if (number_ == 0) Refuse("a field has an impossible number");
  switch (key & 7U) {
    case 0:
      wire_ = Wire::kVarint;
      varint_ = Varint();
      return true;
    case 1:
      wire_ = Wire::kFixed64;
      bytes_ = Take(sizeof(std::uint64_t));
      return true;
    case 2:
      wire_ = Wire::kBytes;
      bytes_ = Take(Varint());
      return true;
    case 5:
      wire_ = Wire::kFixed32;
      bytes_ = Take(sizeof(std::uint32_t));
      return true;
    default:
      Refuse("a field is of a kind that does not exist");
  }
}

std::string_view Fields::bytes() const {
  if (wire_ != Wire::kBytes) Refuse("field " + std::to_string(number_) + " is no text or message");
  return bytes_;
}

std::int64_t Fields::integer() const {
  if (wire_ != Wire::kVarint) Refuse("field " + std::to_string(number_) + " is no integer");
  return static_cast<std::int64_t>(varint_);
}

float Fields::real() const {
  if (wire_ != Wire::kFixed32) Refuse("field " + std::to_string(number_) + " is no float");
  return NumberAt<float>(bytes_, 0);
}

void Fields::AppendTo(std::vector<std::int64_t>& list, std::size_t limit) const {
  if (wire_ == Wire::kVarint) {
    if (list.size() < limit) list.push_back(static_cast<std::int64_t>(varint_));
    return;
  }
  Fields packed(bytes(), message_name_);
  while (packed.at_ != packed.end_ && list.size() < limit) {
    list.push_back(static_cast<std::int64_t>(packed.Varint()));
  }
}

void Fields::AppendTo(std::vector<double>& list, std::size_t limit) const {
  if (wire_ == Wire::kVarint || wire_ == Wire::kFixed64) {
    Refuse("field " + std::to_string(number_) + " holds no floats");
  }
  AppendFixed<float>(bytes_, limit, list);
}

void Fields::AppendDoublesTo(std::vector<double>& list, std::size_t limit) const {
  if (wire_ == Wire::kVarint || wire_ == Wire::kFixed32) {
    Refuse("field " + std::to_string(number_) + " holds no doubles");
  }
  AppendFixed<double>(bytes_, limit, list);
}

}  // namespace steelyard::onnx
