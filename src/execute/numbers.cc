// SPDX-License-Identifier: Apache-2.0
//
// Elements are read as bits: a number whose exponent is all ones is infinite or, with a mantissa,
// no number. Formats of 8 bits, some of which have no infinity, are passed over.
#include "execute/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace steelyard {
namespace {

// A sign, an exponent and a mantissa, the highest bit first (IEEE 754).
struct Format {
  DType dtype;
  int exponent_bits;
  int mantissa_bits;

  constexpr int bytes() const { return (1 + exponent_bits + mantissa_bits) / 8; }
  constexpr std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  }
  constexpr std::uint64_t sign() const {
    return std::uint64_t{1} << (exponent_bits + mantissa_bits);
  }
};

constexpr std::array kFormats{
    Format{DType::kFloat64, 11, 52},
    Format{DType::kFloat32, 8, 23},
    Format{DType::kFloat16, 5, 10},
    Format{DType::kBFloat16, 8, 7},
};

const Format* FormatOf(DType dtype) {
  const auto* const found = std::ranges::find(kFormats, dtype, &Format::dtype);
  return found == kFormats.end() ? nullptr : found;
}

// The bits of an element, which may lie anywhere.
template <class Bits>
std::uint64_t BitsAt(const void* elements, std::int64_t i) {
  Bits bits;
  std::memcpy(&bits, static_cast<const char*>(elements) + i * std::int64_t{sizeof(Bits)},
              sizeof(Bits));
  return bits;
}

template <class Bits>
std::int64_t CountIn(const Format& format, const void* elements, std::int64_t bytes) {
  const std::int64_t count = bytes / std::int64_t{sizeof(Bits)};
  const std::uint64_t infinity = format.infinity(), sign = format.sign();
  std::int64_t nans = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if ((BitsAt<Bits>(elements, i) & ~sign) > infinity) ++nans;
  }
  return nans;
}

template <class Bits>
NotNumbers FindIn(const Format& format, const SyElements& elements) {
  const auto count = static_cast<std::int64_t>(elements.byte_count / sizeof(Bits));
  const std::uint64_t infinity = format.infinity(), sign = format.sign();
  NotNumbers found;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = BitsAt<Bits>(elements.bytes, i) & ~sign;
    found.nan |= bits > infinity;
    found.infinity |= bits == infinity;
  }
  return found;
}

double NumberOf(const Format& format, std::uint64_t bits) {
  const std::uint64_t one = std::uint64_t{1} << format.mantissa_bits;
  const auto exponent = static_cast<int>((bits & format.infinity()) >> format.mantissa_bits);
  const auto mantissa = static_cast<double>(bits & (one - 1));
  const int largest = (1 << format.exponent_bits) - 1;
  const int bias = largest / 2;
  double number = 0;
  if (exponent == largest && mantissa != 0) return std::numeric_limits<double>::quiet_NaN();
  if (exponent == largest) {
    number = std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    number = std::ldexp(mantissa, 1 - bias - format.mantissa_bits);
  } else {
    number =
        std::ldexp(mantissa + static_cast<double>(one), exponent - bias - format.mantissa_bits);
  }
  return (bits & format.sign()) == 0 ? number : -number;
}

}  // namespace

std::int64_t CountNans(DType dtype, const void* elements, std::int64_t bytes) {
  const Format* const format = FormatOf(dtype);
  if (format == nullptr) return 0;
  switch (format->bytes()) {
    case sizeof(std::uint16_t):
      return CountIn<std::uint16_t>(*format, elements, bytes);
    case sizeof(std::uint32_t):
      return CountIn<std::uint32_t>(*format, elements, bytes);
    default:
      return CountIn<std::uint64_t>(*format, elements, bytes);
  }
}

NotNumbers FindNotNumbers(const SyElements& elements) {
  const std::optional<DType> dtype = DTypeNamed(elements.layout.dtype);
  const Format* const format = dtype ? FormatOf(*dtype) : nullptr;
  if (format == nullptr) return {};
  switch (format->bytes()) {
    case sizeof(std::uint16_t):
      return FindIn<std::uint16_t>(*format, elements);
    case sizeof(std::uint32_t):
      return FindIn<std::uint32_t>(*format, elements);
    default:
      return FindIn<std::uint64_t>(*format, elements);
  }
}

std::optional<double> FirstNumber(const SyElements& elements) {
  const std::optional<DType> dtype = DTypeNamed(elements.layout.dtype);
  const Format* const format = dtype ? FormatOf(*dtype) : nullptr;
  if (format == nullptr) return std::nullopt;
  const auto size = static_cast<std::size_t>(format->bytes());
  if (elements.byte_count < size) return std::nullopt;
  std::uint64_t bits = 0;  // little-endian, as files and PyTorch have them
  std::memcpy(&bits, elements.bytes, size);
  return NumberOf(*format, bits);
}

}  // namespace steelyard
