// SPDX-License-Identifier: Apache-2.0
//
// One row for each dtype, in the order of the enumerators, by which it is found: its names, its
// bits, its class. Short names are compared as numbers of eight bytes, since a reader of the text
// form asks for one at nearly every word.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "steelyard/tables.h"

namespace steelyard {
namespace {

enum class Class : std::uint8_t { kBool, kIntegral, kFloating, kComplex };

struct Row {
  DType dtype;
  std::string_view name;
  std::string_view short_name;
  int bits;
  Class type_class;
};

constexpr std::array kRows = {
    Row{DType::kBool, "bool", "bool", 8, Class::kBool},
    Row{DType::kInt4, "int4", "i4", 4, Class::kIntegral},
    Row{DType::kUInt4, "uint4", "u4", 4, Class::kIntegral},
    Row{DType::kInt8, "int8", "i8", 8, Class::kIntegral},
    Row{DType::kUInt8, "uint8", "u8", 8, Class::kIntegral},
    Row{DType::kInt16, "int16", "i16", 16, Class::kIntegral},
    Row{DType::kUInt16, "uint16", "u16", 16, Class::kIntegral},
    Row{DType::kInt32, "int32", "i32", 32, Class::kIntegral},
    Row{DType::kUInt32, "uint32", "u32", 32, Class::kIntegral},
    Row{DType::kInt64, "int64", "i64", 64, Class::kIntegral},
    Row{DType::kUInt64, "uint64", "u64", 64, Class::kIntegral},
    Row{DType::kFloat4E2M1, "float4_e2m1fn", "f4e2m1", 4, Class::kFloating},
    Row{DType::kFloat6E2M3, "float6_e2m3fn", "f6e2m3", 6, Class::kFloating},
    Row{DType::kFloat6E3M2, "float6_e3m2fn", "f6e3m2", 6, Class::kFloating},
    Row{DType::kFloat8E4M3, "float8_e4m3fn", "f8e4m3", 8, Class::kFloating},
    Row{DType::kFloat8E5M2, "float8_e5m2", "f8e5m2", 8, Class::kFloating},
    Row{DType::kFloat8E4M3FNUZ, "float8_e4m3fnuz", "f8e4m3fz", 8, Class::kFloating},
    Row{DType::kFloat8E5M2FNUZ, "float8_e5m2fnuz", "f8e5m2fz", 8, Class::kFloating},
    Row{DType::kFloat8E8M0, "float8_e8m0fnu", "f8e8m0", 8, Class::kFloating},
    Row{DType::kFloat16, "float16", "f16", 16, Class::kFloating},
    Row{DType::kBFloat16, "bfloat16", "bf16", 16, Class::kFloating},
    Row{DType::kFloat32, "float32", "f32", 32, Class::kFloating},
    Row{DType::kFloat64, "float64", "f64", 64, Class::kFloating},
    Row{DType::kComplex32, "complex32", "c32", 32, Class::kComplex},
    Row{DType::kComplex64, "complex64", "c64", 64, Class::kComplex},
    Row{DType::kComplex128, "complex128", "c128", 128, Class::kComplex},
};

constexpr bool RowsStandInOrder() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].dtype) != i) return false;
  }
  return true;
}
static_assert(RowsStandInOrder(), "a row is found by its enumerator");

// The characters of a short name as one number: readers ask for one at nearly every word.
constexpr std::uint64_t Packed(std::string_view name) {
  std::uint64_t packed = 0;
  for (const char c : name) packed = packed << 8U | static_cast<unsigned char>(c);
  return packed;
}

constexpr auto kShortNames = [] {
  std::array<std::uint64_t, kRows.size()> packed{};
  for (std::size_t i = 0; i < kRows.size(); ++i) packed[i] = Packed(kRows[i].short_name);
  return packed;
}();
static_assert(std::ranges::all_of(kRows, [](const Row& row) {
  return row.short_name.size() <= sizeof(std::uint64_t);
}));

const Row& RowOf(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

int BitsOf(DType dtype) { return RowOf(dtype).bits; }
std::string_view NameOf(DType dtype) { return RowOf(dtype).name; }
std::string_view ShortNameOf(DType dtype) { return RowOf(dtype).short_name; }
bool IsFloating(DType dtype) { return RowOf(dtype).type_class == Class::kFloating; }
bool IsComplex(DType dtype) { return RowOf(dtype).type_class == Class::kComplex; }
bool IsIntegral(DType dtype) { return RowOf(dtype).type_class == Class::kIntegral; }

std::optional<DType> DTypeNamed(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::optional<DType> DTypeShortNamed(std::string_view name) {
  if (name.size() > sizeof(std::uint64_t)) return std::nullopt;
  const auto found = std::ranges::find(kShortNames, Packed(name));
  if (name.empty() || found == kShortNames.end()) return std::nullopt;
  return kRows[static_cast<std::size_t>(found - kShortNames.begin())].dtype;
}

}  // namespace steelyard
