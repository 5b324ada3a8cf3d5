// SPDX-License-Identifier: Apache-2.0
#include "import/weights/part_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>

namespace steelyard::weights {
namespace {

constexpr std::size_t kDigits = 5;
constexpr std::string_view kOf = "-of-";

std::optional<int> NumberOf(std::string_view digits) {
  int number = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (code != std::errc() || end != digits.data() + digits.size() || number < 0) return {};
  return number;
}

}  // namespace

std::optional<PartName> PartOf(std::string_view name, std::string_view extension) {
  if (!name.ends_with(extension)) return std::nullopt;
  name.remove_suffix(extension.size());
  constexpr std::size_t kTail = 1 + kDigits + kOf.size() + kDigits;
  if (name.size() < kTail) return std::nullopt;
  const std::string_view tail = name.substr(name.size() - kTail);
  if (tail[0] != '-' || tail.substr(1 + kDigits, kOf.size()) != kOf) return std::nullopt;
  const std::optional<int> number = NumberOf(tail.substr(1, kDigits));
  const std::optional<int> count = NumberOf(tail.substr(1 + kDigits + kOf.size()));
  if (!number || !count || *number < 1 || *number > *count) return std::nullopt;
  return PartName{name.substr(0, name.size() - kTail), *number, *count};
}

std::string NameOfPart(const PartName& part, std::string_view extension) {
  std::array<char, 32> tail = {};
  std::snprintf(tail.data(), tail.size(), "-%05d-of-%05d", part.number, part.count);
  return std::string(part.model).append(tail.data()).append(extension);
}

std::vector<std::string> ModelsAmong(std::span<const std::string> names,
                                     std::string_view extension) {
  std::vector<std::string> models;
  for (const std::string& name : names) {
    if (!name.ends_with(extension)) continue;
    std::string first = name;
    if (std::optional<PartName> part = PartOf(name, extension)) {
      part->number = 1;
      first = NameOfPart(*part, extension);
    }
    if (std::ranges::find(models, first) == models.end()) models.push_back(std::move(first));
  }
  return models;
}

}  // namespace steelyard::weights
