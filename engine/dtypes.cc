// SPDX-License-Identifier: Apache-2.0
#include "dtypes.h"

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace steelyard::engine {
namespace {

using c10::ScalarType;

constexpr std::array<std::pair<const char*, ScalarType>, 20> kTypes{{
    {"float32", ScalarType::Float},
    {"float64", ScalarType::Double},
    {"float16", ScalarType::Half},
    {"bfloat16", ScalarType::BFloat16},
    {"int64", ScalarType::Long},
    {"int32", ScalarType::Int},
    {"int16", ScalarType::Short},
    {"int8", ScalarType::Char},
    {"uint8", ScalarType::Byte},
    {"uint16", ScalarType::UInt16},
    {"uint32", ScalarType::UInt32},
    {"uint64", ScalarType::UInt64},
    {"bool", ScalarType::Bool},
    {"complex32", ScalarType::ComplexHalf},
    {"complex64", ScalarType::ComplexFloat},
    {"complex128", ScalarType::ComplexDouble},
    {"float8_e4m3fn", ScalarType::Float8_e4m3fn},
    {"float8_e5m2", ScalarType::Float8_e5m2},
    {"float8_e4m3fnuz", ScalarType::Float8_e4m3fnuz},
    {"float8_e5m2fnuz", ScalarType::Float8_e5m2fnuz},
}};

template <class Enum>
constexpr std::int64_t Code(Enum value) {
  return static_cast<std::int64_t>(value);
}

constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kCodes{{
    {"strided", Code(c10::Layout::Strided)},
    {"contiguous_format", Code(c10::MemoryFormat::Contiguous)},
    {"preserve_format", Code(c10::MemoryFormat::Preserve)},
    {"channels_last", Code(c10::MemoryFormat::ChannelsLast)},
    {"channels_last_3d", Code(c10::MemoryFormat::ChannelsLast3d)},
}};

}  // namespace

ScalarType ScalarTypeNamed(std::string_view name) {
  for (const auto& [text, type] : kTypes) {
    if (name == text) return type;
  }
  C10_THROW_ERROR(ValueError, "the dtype " + std::string(name) + " cannot be run");
}

const char* NameOf(ScalarType type) {
  for (const auto& [text, of] : kTypes) {
    if (of == type) return text;
  }
  return c10::toString(type);
}

std::optional<std::int64_t> CodeNamed(std::string_view name) {
  for (const auto& [text, code] : kCodes) {
    if (name == text) return code;
  }
  return std::nullopt;
}

}  // namespace steelyard::engine
