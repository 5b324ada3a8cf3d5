// SPDX-License-Identifier: Apache-2.0
#include "models/settings.h"

#include <algorithm>

namespace steelyard::models {
namespace {

constexpr std::int64_t kMostCount = std::int64_t{1} << 31;

const Setting kNothing{.kind = Setting::Kind::kObject};

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

std::int64_t Settings::Count(std::string_view key, std::optional<std::int64_t> missing) const {
  const Setting* found = Need(key, missing.has_value());
  if (found == nullptr) return missing.value_or(1);
  if (found->kind == Setting::Kind::kInteger && found->integer >= 0 &&
      found->integer <= kMostCount) {
    return found->integer;
  }
  Refuse(key, "not a number from 0 to 2147483648");
  return missing.value_or(1);
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
  Refuse(key, "not a number");
  return missing.value_or(0.0);
}

bool Settings::Flag(std::string_view key, std::optional<bool> missing) const {
  const Setting* found = Need(key, missing.has_value());
  if (found == nullptr) return missing.value_or(false);
  if (found->kind == Setting::Kind::kFlag) return found->flag;
  Refuse(key, "not true or false");
  return missing.value_or(false);
}

std::string Settings::Text(std::string_view key, std::optional<std::string_view> missing) const {
  const Setting* found = Need(key, missing.has_value());
  if (found == nullptr) return std::string(missing.value_or(""));
  if (found->kind == Setting::Kind::kText) return found->text;
  Refuse(key, "not a text");
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
