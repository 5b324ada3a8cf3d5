// SPDX-License-Identifier: Apache-2.0
//
// The rules of writing numbers. Each unit has a suffix and a base; a value takes the largest prefix
// that leaves at least 1 before the point, decided after rounding, so that no number ever reads
// `1024.0 KiB` or `1000.0 M`.
#include "support/units.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "steelyard/units.h"
#include "support/assert.h"

namespace steelyard {
namespace {

constexpr std::array<std::string_view, 7> kBinaryPrefixes = {"",   "Ki", "Mi", "Gi",
                                                             "Ti", "Pi", "Ei"};
constexpr std::array<std::string_view, 7> kDecimalPrefixes = {"", "k", "M", "G", "T", "P", "E"};
// As people count parameters: billions.
constexpr std::array<std::string_view, 7> kCountPrefixes = {"", "k", "M", "B", "T", "P", "E"};
constexpr std::size_t kGiga = 3;

// Counts below this are more useful in full: `2,431 operators`.
constexpr double kCountInFullBelow = 10'000;

std::string_view Suffix(Unit unit) {
  switch (unit) {
    case Unit::kNone:
    case Unit::kCount:
      return "";
    case Unit::kBytes:
    case Unit::kTraffic:
      return "B";
    case Unit::kFlops:
      return "FLOP";
    case Unit::kMacs:
      return "MAC";
    case Unit::kBytesPerSecond:
      return "B/s";
    case Unit::kFlopsPerSecond:
      return "FLOP/s";
    case Unit::kFlopsPerByte:
      return "FLOP/B";
    case Unit::kSeconds:
      return "s";
    case Unit::kPercent:
      return "%";
    case Unit::kBits:
      return "bit";
    case Unit::kRatio:
      return "x";
  }
  SY_UNREACHABLE("every unit has a suffix");
}

// Whether the unit is written with prefixes of magnitude.
bool HasPrefixes(Unit unit) {
  switch (unit) {
    case Unit::kCount:
    case Unit::kBytes:
    case Unit::kTraffic:
    case Unit::kFlops:
    case Unit::kMacs:
    case Unit::kBytesPerSecond:
    case Unit::kFlopsPerSecond:
      return true;
    case Unit::kNone:
    case Unit::kFlopsPerByte:
    case Unit::kSeconds:
    case Unit::kPercent:
    case Unit::kBits:
    case Unit::kRatio:
      return false;
  }
  SY_UNREACHABLE("every unit has prefixes or has none");
}

// Digits after the point of a magnitude written with the prefix at `exponent`. Gibibytes are what
// devices have few of, so they get a second digit.
int Decimals(std::size_t exponent, double scaled) {
  if (exponent == 0) return 0;
  return exponent >= kGiga && scaled < 99.995 ? 2 : 1;
}

// What `scaled` becomes when it is written with `decimals` digits.
double Rounded(double scaled, int decimals) {
  const double power = decimals == 2 ? 100.0 : decimals == 1 ? 10.0 : 1.0;
  return std::round(scaled * power) / power;
}

Scale PrefixScale(double magnitude, Unit unit, UnitStyle style) {
  const bool binary = unit == Unit::kBytes && style != UnitStyle::kDecimal;
  const double base = binary ? 1024.0 : 1000.0;
  const auto& prefixes = binary                 ? kBinaryPrefixes
                         : unit == Unit::kCount ? kCountPrefixes
                                                : kDecimalPrefixes;
  double divisor = 1.0;
  std::size_t exponent = 0;
  if (unit != Unit::kCount || magnitude >= kCountInFullBelow) {
    while (exponent + 1 < prefixes.size()) {
      const double scaled = magnitude / divisor;
      if (Rounded(scaled, Decimals(exponent, scaled)) < base) break;
      divisor *= base;
      ++exponent;
    }
  }
  return {.prefix = prefixes[exponent],
          .suffix = Suffix(unit),
          .divisor = divisor,
          .decimals = Decimals(exponent, magnitude / divisor)};
}

Scale SecondsScale(double magnitude) {
  // Compared after rounding to one digit, as with the prefixes.
  if (magnitude < 0.99995e-6) return {.prefix = "n", .suffix = "s", .divisor = 1e-9, .decimals = 0};
  if (magnitude < 0.99995e-3) return {.prefix = "µ", .suffix = "s", .divisor = 1e-6, .decimals = 1};
  if (magnitude < 0.99995) return {.prefix = "m", .suffix = "s", .divisor = 1e-3, .decimals = 1};
  return {.prefix = "", .suffix = "s", .divisor = 1.0, .decimals = 1};
}

std::string WithSign(std::string text, bool negative, Sign sign) {
  if (negative) return text.insert(0, 1, '-');
  if (sign == Sign::kAlways) return text.insert(0, 1, '+');
  return text;
}

std::string Grouped(std::uint64_t magnitude) {
  const fmt::format_int digits(magnitude);
  const std::string_view plain(digits.data(), digits.size());
  std::string text;
  text.reserve(plain.size() + plain.size() / 3);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (i > 0 && (plain.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(plain[i]);
  }
  return text;
}

std::string Minutes(double magnitude) {
  const auto seconds = static_cast<std::int64_t>(std::llround(magnitude));
  constexpr std::int64_t kHour = 3600;
  if (seconds < kHour) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / kHour, seconds % kHour / 60);
}

bool ReadsAsMinutes(double seconds) {
  constexpr double kFrom = 120.0;
  constexpr double kUpTo = 1e15;  // thirty million years: no time that anybody weighs
  return seconds >= kFrom && seconds < kUpTo;
}

// The text of a magnitude without its sign.
std::string FormatMagnitude(double magnitude, Unit unit, UnitStyle style) {
  if (unit == Unit::kNone) return fmt::format("{:.1f}", magnitude);
  if (unit == Unit::kSeconds && ReadsAsMinutes(magnitude)) return Minutes(magnitude);
  const Scale scale = CommonScale(magnitude, unit, style);
  const double scaled = magnitude / scale.divisor;
  if (unit == Unit::kRatio) return FormatIn(scaled, scale) + std::string(scale.suffix);
  if (unit == Unit::kPercent && scaled > 0 && scaled < 0.05) return "<0.1 %";
  const std::string word = scale.Word();
  const std::string_view gap = word.empty() ? "" : " ";
  return fmt::format("{:.{}f}{}{}", scaled, scale.decimals, gap, word);
}

}  // namespace

std::string Scale::Word() const { return fmt::format("{}{}", prefix, suffix); }

Scale CommonScale(double largest, Unit unit, UnitStyle style) {
  const double magnitude = std::isfinite(largest) ? std::fabs(largest) : 0.0;
  if (unit == Unit::kSeconds) return SecondsScale(magnitude);
  if (unit == Unit::kPercent) return {.suffix = Suffix(unit), .divisor = 0.01, .decimals = 1};
  if (unit == Unit::kRatio) {
    constexpr double kInFull = 99.995;
    return {.suffix = Suffix(unit), .decimals = magnitude < kInFull ? 2 : 0};
  }
  if (unit == Unit::kBits) return {.suffix = Suffix(unit), .decimals = 2};
  if (unit == Unit::kFlopsPerByte) return {.suffix = Suffix(unit), .decimals = 1};
  if (!HasPrefixes(unit) || style == UnitStyle::kExact) return {.suffix = Suffix(unit)};
  return PrefixScale(magnitude, unit, style);
}

std::string FormatIn(std::int64_t value, const Scale& scale, Sign sign) {
  const bool in_full = scale.divisor == 1.0 && scale.decimals == 0;
  if (in_full && value != 0) return Format(value, Unit::kNone, {.sign = sign});
  return FormatIn(static_cast<double>(value), scale, sign);
}

std::string FormatIn(double value, const Scale& scale, Sign sign) {
  if (!std::isfinite(value)) return "n/a";
  if (value == 0) return "0";
  const double magnitude = std::fabs(value) / scale.divisor;
  // From 2^53 on a double is a whole number anyway, and below 2^64 it fits.
  const bool grouped = scale.decimals == 0 && magnitude < 0x1p64;
  // What is not zero is not written as zero.
  const double least = std::pow(10.0, -scale.decimals);
  if (scale.decimals > 0 && magnitude < least / 2) {
    return WithSign(fmt::format("<{:.{}f}", least, scale.decimals), value < 0, sign);
  }
  std::string text = grouped ? Grouped(static_cast<std::uint64_t>(std::llround(magnitude)))
                             : fmt::format("{:.{}f}", magnitude, scale.decimals);
  return WithSign(std::move(text), value < 0, sign);
}

std::string Format(std::int64_t value, Unit unit, FormatOptions options) {
  // The magnitude of the most negative number does not fit an int64.
  const auto magnitude =
      value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  const auto approximate = static_cast<double>(magnitude);
  const bool scaled =
      HasPrefixes(unit) && CommonScale(approximate, unit, options.style).divisor > 1.0;
  const bool whole = unit == Unit::kNone || (HasPrefixes(unit) && !scaled);
  if (!whole)
    return WithSign(FormatMagnitude(approximate, unit, options.style), value < 0, options.sign);
  const std::string_view suffix = Suffix(unit);
  return WithSign(fmt::format("{}{}{}", Grouped(magnitude), suffix.empty() ? "" : " ", suffix),
                  value < 0, options.sign);
}

std::string Format(double value, Unit unit, FormatOptions options) {
  if (!std::isfinite(value)) return "n/a";
  constexpr double kInt64Limit = 0x1p63;
  if (HasPrefixes(unit) && std::fabs(value) < kInt64Limit) {
    // An average may have a fraction; it is worth a digit only where no prefix gives one.
    const bool has_fraction = std::fabs(value) < 999.95 && value != std::round(value);
    if (!has_fraction) return Format(static_cast<std::int64_t>(std::llround(value)), unit, options);
    const Scale in_full{.suffix = Suffix(unit), .decimals = 1};
    const std::string_view gap = in_full.suffix.empty() ? "" : " ";
    return fmt::format("{}{}{}", FormatIn(value, in_full, options.sign), gap, in_full.suffix);
  }
  std::string text = FormatMagnitude(std::fabs(value), unit, options.style);
  // The sign of what is too small to be told tells nothing.
  if (options.sign == Sign::kAlways && text.starts_with('<')) return text;
  return WithSign(std::move(text), std::signbit(value) && value != 0, options.sign);
}

std::string FormatLimit(std::int64_t bytes) {
  std::string binary = Format(bytes, Unit::kBytes);
  if (bytes < 1000) return binary;
  return fmt::format("{} ({})", Format(bytes, Unit::kBytes, {.style = UnitStyle::kDecimal}),
                     binary);
}

std::optional<std::int64_t> ParseBytes(std::string_view text) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || !std::isfinite(number) || number < 0.0) return std::nullopt;
  std::string_view unit(stopped, static_cast<std::size_t>(end - stopped));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.ends_with('B')) unit.remove_suffix(1);
  if (unit == "K") unit = "k";  // as it is often written
  const auto scaled = [&](std::span<const std::string_view> prefixes, double base) {
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      if (prefixes[i] == unit) return number * std::pow(base, static_cast<double>(i));
    }
    return -1.0;
  };
  const double bytes = std::max(scaled(kDecimalPrefixes, 1000.0), scaled(kBinaryPrefixes, 1024.0));
  if (bytes < 0.0 || bytes >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

}  // namespace steelyard
