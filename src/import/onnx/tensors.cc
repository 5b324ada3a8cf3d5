// SPDX-License-Identifier: Apache-2.0
//
// Decides how much of a stored tensor is read: its sizes always, its contents only if they are few
// and in the file itself, since shapes and settings are that small and of weights only the size
// matters. Floats of 16 bits are decoded here, from bytes or from the integers that ONNX lists them
// as.

#include "import/onnx/tensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

namespace steelyard::onnx {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;

double HalfToDouble(std::uint16_t bits) {
  const auto exponent = static_cast<int>(bits >> 10U & 0x1fU);
  const double fraction = bits & 0x3ffU;
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (exponent == 0x1f) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

double BFloatToDouble(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
}

template <class T>
std::vector<std::int64_t> Integers(std::string_view raw, std::size_t count) {
  std::vector<std::int64_t> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(static_cast<std::int64_t>(NumberAt<T>(raw, i)));
  }
  return out;
}

// Nothing where the dtype holds no integers, or several in a byte.
std::optional<std::vector<std::int64_t>> RawIntegers(DType dtype, std::string_view raw,
                                                     std::size_t count) {
  const auto width = static_cast<std::size_t>(BitsOf(dtype)) / 8;
  if (width == 0 || raw.size() != count * width) return std::nullopt;
  if (dtype == DType::kBool || dtype == DType::kUInt8) return Integers<std::uint8_t>(raw, count);
  if (dtype == DType::kInt8) return Integers<std::int8_t>(raw, count);
  if (dtype == DType::kInt16) return Integers<std::int16_t>(raw, count);
  if (dtype == DType::kUInt16) return Integers<std::uint16_t>(raw, count);
  if (dtype == DType::kInt32) return Integers<std::int32_t>(raw, count);
  if (dtype == DType::kUInt32) return Integers<std::uint32_t>(raw, count);
  if (dtype == DType::kInt64) return Integers<std::int64_t>(raw, count);
  if (dtype == DType::kUInt64) return Integers<std::uint64_t>(raw, count);
  return std::nullopt;
}

std::optional<std::vector<double>> RawReals(DType dtype, std::string_view raw, std::size_t count) {
  const auto width = static_cast<std::size_t>(BitsOf(dtype)) / 8;
  if (width == 0 || raw.size() != count * width) return std::nullopt;
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) {
    if (dtype == DType::kFloat32) {
      out.push_back(static_cast<double>(NumberAt<float>(raw, i)));
    } else if (dtype == DType::kFloat64) {
      out.push_back(NumberAt<double>(raw, i));
    } else if (dtype == DType::kFloat16) {
      out.push_back(HalfToDouble(NumberAt<std::uint16_t>(raw, i)));
    } else if (dtype == DType::kBFloat16) {
      out.push_back(BFloatToDouble(NumberAt<std::uint16_t>(raw, i)));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

// 16-bit floats that are not raw stand as integers, bit for bit.
std::optional<std::vector<double>> ListedReals(DType dtype, const TensorProto& tensor) {
  if (dtype == DType::kFloat32 || dtype == DType::kFloat64) return tensor.reals;
  if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) return std::nullopt;
  std::vector<double> out;
  for (const std::int64_t bits : tensor.integers) {
    const auto half = static_cast<std::uint16_t>(bits);
    out.push_back(dtype == DType::kFloat16 ? HalfToDouble(half) : BFloatToDouble(half));
  }
  return out;
}

void ReadContents(const TensorProto& tensor, std::size_t count, Item& item) {
  if (IsFloating(*item.dtype)) {
    auto reals = tensor.raw.empty() ? ListedReals(*item.dtype, tensor)
                                    : RawReals(*item.dtype, tensor.raw, count);
    if (reals && reals->size() == count) item.reals = std::move(reals);
    return;
  }
  if (IsComplex(*item.dtype)) return;
  std::optional<std::vector<std::int64_t>> integers = tensor.integers;
  if (!tensor.raw.empty()) integers = RawIntegers(*item.dtype, tensor.raw, count);
  if (!integers || integers->size() != count) return;
  item.numbers.emplace();
  for (const std::int64_t number : *integers) item.numbers->push_back(DimOf(number));
}

// Nothing is read where the files beside the model are not there: most models can be weighed so.
void ReadExternal(const TensorProto& tensor, std::size_t count, Item& item,
                  ExternalData& external) {
  const std::size_t size = count * static_cast<std::size_t>(BitsOf(*item.dtype)) / 8;
  const auto raw = external.Bytes(tensor.location, tensor.offset, size);
  if (!raw) return;
  TensorProto beside = tensor;
  beside.raw = *raw;
  ReadContents(beside, count, item);
}

}  // namespace

Dim DimOf(std::int64_t number) { return Dim(std::clamp(number, -kMost, kMost)); }

Item ItemOf(const TensorProto& tensor, ExternalData& external) {
  const auto refuse = [&](const std::string& what) {
    throw Refusal{InvalidInput(what, "tensor \"" + std::string(tensor.name) + "\"")};
  };
  Item item;
  item.name = tensor.name;
  item.dtype = DTypeOf(tensor.type);
  item.stored = true;
  item.shape.emplace();
  if (tensor.sizes.size() > static_cast<std::size_t>(Dims::kMaxRank)) {
    refuse("it has more than 64 dimensions");
  }
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.sizes) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count) || count > kMost) {
      refuse("its sizes are negative or absurd");
    }
    item.shape->emplace_back(size);
  }
  const bool few = count <= static_cast<std::int64_t>(kMostContents);
  if (!item.dtype || !few) return item;
  if (!tensor.external) {
    ReadContents(tensor, static_cast<std::size_t>(count), item);
  } else {
    ReadExternal(tensor, static_cast<std::size_t>(count), item, external);
  }
  return item;
}

}  // namespace steelyard::onnx
