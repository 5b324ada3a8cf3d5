// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic that notices when it leaves 64 bits. Sizes come from files, so a product of
// dimensions can overflow on purpose; flops of large models reach 10^18, one digit below the limit.
#pragma once

#include <cstdint>
#include <optional>

namespace steelyard {

// Each returns the exact result, or nothing when it does not fit.
[[nodiscard]] constexpr std::optional<std::int64_t> CheckedAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}
[[nodiscard]] constexpr std::optional<std::int64_t> CheckedSub(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}
[[nodiscard]] constexpr std::optional<std::int64_t> CheckedMul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// An int64 that remembers whether anything on the way to it overflowed. Formulas are written as
// usual and tested once, at the end:
//
//   const CheckedInt bytes = CheckedInt(batch) * sequence * hidden * 4;
//   if (!bytes.ok()) return Unexpected(InvalidInput("the tensor is larger than 2^63 bytes",
//   where)); Use(bytes.value());
//
// It does not saturate: once overflowed it stays so, whatever is added, and has no value.
class CheckedInt {
 public:
  constexpr CheckedInt() = default;
  // Implicit, so that plain integers take part in a formula.
  constexpr CheckedInt(std::int64_t value)
      : value_(value) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr bool ok() const { return !overflowed_; }

  // The exact result. Requires: ok(). Returns 0 otherwise, which no caller should show.
  [[nodiscard]] constexpr std::int64_t value() const { return overflowed_ ? 0 : value_; }

  // The exact result, or nothing.
  [[nodiscard]] constexpr std::optional<std::int64_t> Get() const {
    return overflowed_ ? std::nullopt : std::optional(value_);
  }

  constexpr CheckedInt& operator+=(CheckedInt other) {
    // Bitwise or: the builtin must run although an operand overflowed before, and a branch is
    // saved.
    overflowed_ |= other.overflowed_ | __builtin_add_overflow(value_, other.value_, &value_);
    return *this;
  }
  constexpr CheckedInt& operator-=(CheckedInt other) {
    overflowed_ |= other.overflowed_ | __builtin_sub_overflow(value_, other.value_, &value_);
    return *this;
  }
  constexpr CheckedInt& operator*=(CheckedInt other) {
    overflowed_ |= other.overflowed_ | __builtin_mul_overflow(value_, other.value_, &value_);
    return *this;
  }

  friend constexpr CheckedInt operator+(CheckedInt a, CheckedInt b) { return a += b; }
  friend constexpr CheckedInt operator-(CheckedInt a, CheckedInt b) { return a -= b; }
  friend constexpr CheckedInt operator*(CheckedInt a, CheckedInt b) { return a *= b; }

 private:
  std::int64_t value_ = 0;
  bool overflowed_ = false;
};

}  // namespace steelyard
