// SPDX-License-Identifier: Apache-2.0
//
// What a number measures, and how it is written for a person.
//
// Inside Steelyard every size and count is an exact `std::int64_t`, every time and ratio a
// `double`; none becomes text before a renderer or an error message asks for it here. This is the
// only place that turns a number into words, so a figure looks the same wherever it appears.
//
//   Format(438'042'624, Unit::kBytes)                            == "417.8 MiB"
//   Format(438'042'624, Unit::kBytes, {.style = UnitStyle::kExact}) == "438,042,624 B"
//   Format(0.0062, Unit::kSeconds)                               == "6.2 ms"
//
// The text is UTF-8 and does not depend on the locale. The only letter outside ASCII is the µ of
// µs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace steelyard {

inline constexpr std::int64_t kKiB = 1'024, kMiB = 1'048'576, kGiB = 1'073'741'824;

// What a number counts. Bytes that are held go by powers of 1024, as allocators and nvidia-smi
// count them; everything else goes by powers of 1000.
enum class Unit : std::uint8_t {
  kNone,     // A plain number, always written in full: `30,522`.
  kCount,    // How many (parameters, nodes): `768`, `109.5 M`, `46.70 B`. In full below 10,000.
  kBytes,    // Bytes held in memory or in a file: `512 B`, `417.8 MiB`, `1.89 GiB`.
  kTraffic,  // Bytes moved through a memory: `3.21 GB`. Work, hence powers of 1000.
  kFlops,    // Floating-point operations: `114.0 GFLOP`.
  kMacs,     // Multiply-adds; one is two operations: `57.01 GMAC`.
  kBytesPerSecond,  // Bandwidth: `3.35 TB/s`.
  kFlopsPerSecond,  // Speed: `989.5 TFLOP/s`.
  kFlopsPerByte,    // Arithmetic intensity: `12.3 FLOP/B`.
  kSeconds,         // Elapsed time: `812 ns`, `6.2 ms`, `1.5 s`, `3 min 20 s`.
  kPercent,         // A share, given as a fraction: 0.994 is written `99.4 %`.
  kBits,            // Bits that an element takes: `4.85 bit`.
  kRatio,           // How many times as much: `1.36x`.
};

// How much of an integer is shown.
enum class UnitStyle : std::uint8_t {
  kAuto,     // Three or four digits and a prefix.
  kDecimal,  // The same with bytes by powers of 1000, as DeepSpeed and vendors of disks count.
  kExact,    // Every digit, with thousands separators. Times and ratios are written as in `kAuto`.
};

// Whether a number that is not negative gets a sign; a difference should.
enum class Sign : std::uint8_t {
  kIfNegative,
  kAlways,
};

// How `Format` writes; the default is what reports use.
struct FormatOptions {
  UnitStyle style = UnitStyle::kAuto;
  Sign sign = Sign::kIfNegative;
};

// Returns `value` with its unit, such as `417.8 MiB`. One digit follows the point, and two from
// giga on while the number before the prefix is below 100. A value below the first prefix is
// written in full. Never rounds up to a full prefix (`1024.0 KiB` becomes `1.0 MiB`).
[[nodiscard]] std::string Format(std::int64_t value, Unit unit, FormatOptions options = {});

// Returns the same for a value that is not a whole number. A share that is not zero is never
// written as zero: `<0.1 %`. A value that is not finite is written `n/a`.
[[nodiscard]] std::string Format(double value, Unit unit, FormatOptions options = {});

// Returns the bytes that `text` says: `80GB` (powers of 1000), `80GiB` (powers of 1024), `512`,
// with a point and blanks before the unit where wanted; nothing where it says none or more than
// 2^63.
[[nodiscard]] std::optional<std::int64_t> ParseBytes(std::string_view text);

// How sure a number for people is. Everything that is not exact says so next to the number.
enum class Claim : std::uint8_t {
  kExact,
  kAtLeast,    // A lower bound, such as a total over a model with unmodelled operators.
  kEstimated,  // From a model of speed or of a workspace, not from counting.
};

// One number and all that is needed to write it.
struct Quantity {
  std::variant<std::int64_t, double> value = std::int64_t{0};
  Unit unit = Unit::kNone;
  Claim claim = Claim::kExact;
  Sign sign = Sign::kIfNegative;
};

}  // namespace steelyard
