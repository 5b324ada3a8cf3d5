// SPDX-License-Identifier: Apache-2.0
//
// A read that is refused gives its default, and the first refusal within the whole file is kept for
// the end: architectures are written without a check after each key. Null stands for a missing key,
// but not where a size or a number of layers is asked for, which no class of transformers lets be
// null.

#include "models/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

namespace steelyard::models {
namespace {

constexpr std::int64_t kMostCount = std::int64_t{1} << 31;

const Setting kNothing{.kind = Setting::Kind::kObject};

// As the file has it, as far as a line of a message goes.
std::string Shown(const Setting& value) {
  constexpr std::size_t kMostLetters = 40;
  switch (value.kind) {
    case Setting::Kind::kNull:
      return "null";
    case Setting::Kind::kFlag:
      return value.flag ? "true" : "false";
    case Setting::Kind::kInteger:
      return fmt::format("{}", value.integer);
    case Setting::Kind::kReal:
      return fmt::format("{}", value.real);
    case Setting::Kind::kText:
      return value.text.size() > kMostLetters ? "a long text" : fmt::format("\"{}\"", value.text);
    case Setting::Kind::kList:
      return "a list";
    case Setting::Kind::kObject:
      return "an object";
  }
  return {};
}

}  // namespace

const Setting* Settings::Find(std::string_view key) const {
  const auto found = std::ranges::find(
      object_->members, key, [](const auto& member) { return std::string_view(member.first); });
  if (found == object_->members.end() || found->second.kind == Setting::Kind::kNull) return nullptr;
  return &found->second;
}

bool Settings::Stands(std::string_view key) const {
  return std::ranges::any_of(object_->members,
                             [&](const auto& member) { return member.first == key; });
}

std::string Settings::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void Settings::Refuse(std::string_view key, std::string message, std::string hint) const {
  if (!*first_error_)
    *first_error_ = InvalidInput(std::move(message), PathOf(key), std::move(hint));
}

Status Settings::status() const {
  if (*first_error_) return Unexpected(**first_error_);
  return {};
}

bool Settings::IsList(std::string_view key) const {
  const Setting* found = Find(key);
  return found != nullptr && found->kind == Setting::Kind::kList;
}

const Setting* Settings::Need(std::string_view key, bool has_default) const {
  const Setting* found = Find(key);
  if (found == nullptr && !has_default) {
    Refuse(key, "the config does not say it",
           "It should be the config.json that transformers writes with save_pretrained().");
  }
  return found;
}

void Settings::RefuseValue(std::string_view key, const Setting& value,
                           std::string_view wanted) const {
  Refuse(key, fmt::format("it is {}, not {}", Shown(value), wanted));
}

std::int64_t Settings::Whole(std::string_view key, std::optional<std::int64_t> missing,
                             Range range) const {
  const Setting* found = Need(key, missing.has_value());
  const std::int64_t instead = missing.value_or(std::max<std::int64_t>(range.least, 1));
  if (found == nullptr) return instead;
  const bool whole = found->kind == Setting::Kind::kInteger;
  if (whole && found->integer >= range.least && found->integer <= range.most) return found->integer;
  RefuseValue(key, *found, fmt::format("a number from {} to {}", range.least, range.most));
  return instead;
}

void Settings::RefuseNull(std::string_view key, Range range) const {
  if (!Stands(key) || Has(key)) return;
  RefuseValue(key, {}, fmt::format("a number from {} to {}", range.least, range.most));
}

std::int64_t Settings::Count(std::string_view key, std::optional<std::int64_t> missing) const {
  return Whole(key, missing, {.least = 0, .most = kMostCount});
}

std::int64_t Settings::Size(std::string_view key, std::optional<std::int64_t> missing) const {
  constexpr Range kRange{.least = 1, .most = kMostCount};
  RefuseNull(key, kRange);
  return Whole(key, missing, kRange);
}

std::int64_t Settings::Layers(std::string_view key, std::int64_t missing) const {
  constexpr Range kRange{.least = 0, .most = 4096};
  RefuseNull(key, kRange);
  return Whole(key, missing, kRange);
}

std::int64_t Settings::Quotient(std::string_view whole_key, std::int64_t whole,
                                std::string_view key, std::int64_t part) const {
  if (whole % part != 0) {
    Refuse(key, fmt::format("{} does not divide {}, which is {}", part, PathOf(whole_key), whole));
  }
  return whole / part;
}

std::optional<std::int64_t> Settings::CountOrNone(std::string_view key,
                                                  std::optional<std::int64_t> missing) const {
  if (Has(key)) return Count(key, missing);
  return Stands(key) ? std::nullopt : missing;
}

double Settings::Real(std::string_view key, std::optional<double> missing) const {
  const Setting* found = Need(key, missing.has_value());
  if (found == nullptr) return missing.value_or(0.0);
  if (found->kind == Setting::Kind::kReal) return found->real;
  if (found->kind == Setting::Kind::kInteger) return static_cast<double>(found->integer);
  RefuseValue(key, *found, "a number");
  return missing.value_or(0.0);
}

double Settings::Share(std::string_view key, double missing) const {
  const double share = Real(key, missing);
  if (share >= 0.0 && share <= 1.0) return share;
  RefuseValue(key, *Find(key), "a number from 0 to 1");
  return missing;
}

bool Settings::Flag(std::string_view key, std::optional<bool> missing) const {
  const Setting* found = Need(key, missing.has_value());
  if (found == nullptr) return missing.value_or(false);
  if (found->kind == Setting::Kind::kFlag) return found->flag;
  RefuseValue(key, *found, "true or false");
  return missing.value_or(false);
}

std::string Settings::Text(std::string_view key, std::optional<std::string_view> missing) const {
  const Setting* found = Need(key, missing.has_value());
  if (found == nullptr) return std::string(missing.value_or(""));
  if (found->kind == Setting::Kind::kText) return found->text;
  RefuseValue(key, *found, "a text");
  return std::string(missing.value_or(""));
}

std::vector<std::int64_t> Settings::Counts(std::string_view key) const {
  std::vector<std::int64_t> counts;
  const Setting* found = Find(key);
  if (found == nullptr) return counts;
  for (const Setting& item : found->items) {
    if (item.kind == Setting::Kind::kInteger && item.integer >= 0 && item.integer <= kMostCount) {
      counts.push_back(item.integer);
    } else {
      Refuse(key, "not a list of numbers from 0 to 2147483648");
    }
  }
  if (found->kind != Setting::Kind::kList) Refuse(key, "not a list");
  return counts;
}

std::vector<std::string> Settings::Texts(std::string_view key) const {
  std::vector<std::string> texts;
  const Setting* found = Find(key);
  if (found == nullptr) return texts;
  for (const Setting& item : found->items) {
    if (item.kind != Setting::Kind::kText) Refuse(key, "not a list of texts");
    texts.push_back(item.text);
  }
  if (found->kind != Setting::Kind::kList) Refuse(key, "not a list");
  return texts;
}

std::int64_t Settings::Members(std::string_view key) const {
  const Setting* found = Find(key);
  if (found == nullptr) return 0;
  if (found->kind != Setting::Kind::kObject) Refuse(key, "not an object");
  return static_cast<std::int64_t>(found->members.size());
}

Settings Settings::Within(std::string_view key) const {
  const Setting* found = Find(key);
  if (found != nullptr && found->kind != Setting::Kind::kObject) Refuse(key, "not an object");
  const bool usable = found != nullptr && found->kind == Setting::Kind::kObject;
  return {usable ? *found : kNothing, PathOf(key), first_error_};
}

}  // namespace steelyard::models
