// SPDX-License-Identifier: Apache-2.0
//
// The tree of values as one array of sixteen-byte entries in the order they were added. A container
// is its entry followed by all that is inside it; its payload is the index just past that, so that
// skipping a child costs one step. The root, which is never closed, ends where the array does.
// Texts and keys share one pool.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "steelyard/report.h"
#include "steelyard/units.h"
#include "support/assert.h"

namespace steelyard::report {
namespace {

// The key of what has none: the empty text.
constexpr std::uint32_t kNoKey = kNoString;

}  // namespace

Data::Data() {
  static_assert(sizeof(Entry) == 16);
  Open(DataKind::kObject, kNoKey);
}

void Data::SetInt(std::string_view key, std::int64_t value, Unit unit) {
  Append(DataKind::kInt, unit, Key(key), std::bit_cast<std::uint64_t>(value));
}
void Data::SetDouble(std::string_view key, double value, Unit unit) {
  Append(DataKind::kDouble, unit, Key(key), std::bit_cast<std::uint64_t>(value));
}
void Data::SetText(std::string_view key, std::string_view value) {
  const std::uint32_t id = Key(key);
  Append(DataKind::kText, Unit::kNone, id, texts_.Intern(value));
}
void Data::SetBool(std::string_view key, bool value) {
  Append(DataKind::kBool, Unit::kNone, Key(key), value ? 1 : 0);
}
void Data::OpenObject(std::string_view key) { Open(DataKind::kObject, Key(key)); }
void Data::OpenArray(std::string_view key) { Open(DataKind::kArray, Key(key)); }

void Data::AddInt(std::int64_t value, Unit unit) {
  Append(DataKind::kInt, unit, Element(), std::bit_cast<std::uint64_t>(value));
}
void Data::AddDouble(double value, Unit unit) {
  Append(DataKind::kDouble, unit, Element(), std::bit_cast<std::uint64_t>(value));
}
void Data::AddText(std::string_view value) {
  Append(DataKind::kText, Unit::kNone, Element(), texts_.Intern(value));
}
void Data::AddBool(bool value) { Append(DataKind::kBool, Unit::kNone, Element(), value ? 1 : 0); }
void Data::OpenObject() { Open(DataKind::kObject, Element()); }
void Data::OpenArray() { Open(DataKind::kArray, Element()); }

void Data::Close() {
  SY_ASSERT(open_.size() > 1, "a container is closed only after it was opened");
  entries_[open_.back()].payload = entries_.size();
  open_.pop_back();
}

DataView Data::root() const {
  SY_ASSERT(open_.size() == 1, "a report is read only after all its containers are closed");
  return {this, 0};
}

std::uint32_t Data::text_count() const { return static_cast<std::uint32_t>(texts_.size()); }
std::string_view Data::text(std::uint32_t id) const { return texts_.view(id); }

void Data::Append(DataKind kind, Unit unit, std::uint32_t key, std::uint64_t payload) {
  entries_.push_back({.payload = payload, .key = key, .kind = kind, .unit = unit});
  entries_.front().payload = entries_.size();
}

void Data::Open(DataKind kind, std::uint32_t key) {
  open_.push_back(static_cast<std::uint32_t>(entries_.size()));
  Append(kind, Unit::kNone, key, 0);
}

std::uint32_t Data::Key(std::string_view key) {
  SY_ASSERT(entries_[open_.back()].kind == DataKind::kObject,
            "only a member of an object has a key");
  return texts_.Intern(key);
}

std::uint32_t Data::Element() const {
  SY_ASSERT(entries_[open_.back()].kind == DataKind::kArray, "every member of an object has a key");
  return kNoKey;
}

Unit DataView::unit() const { return data_->entries_[at_].unit; }
std::string_view DataView::key() const { return data_->text(key_id()); }

std::int64_t DataView::AsInt() const {
  SY_ASSERT(kind() == DataKind::kInt, "the value is an integer");
  return std::bit_cast<std::int64_t>(data_->entries_[at_].payload);
}
double DataView::AsDouble() const {
  SY_ASSERT(kind() == DataKind::kDouble, "the value is a double");
  return std::bit_cast<double>(data_->entries_[at_].payload);
}
bool DataView::AsBool() const {
  SY_ASSERT(kind() == DataKind::kBool, "the value is a truth value");
  return data_->entries_[at_].payload != 0;
}
std::uint32_t DataView::text_id() const {
  SY_ASSERT(kind() == DataKind::kText, "the value is a text");
  return static_cast<std::uint32_t>(data_->entries_[at_].payload);
}
std::string_view DataView::AsText() const { return data_->text(text_id()); }

std::optional<DataView> DataView::Find(std::string_view path) const {
  const std::size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  if (kind() != DataKind::kObject) return std::nullopt;
  for (const DataView child : *this) {
    if (child.key() != key) continue;
    return dot == std::string_view::npos ? child : child.Find(path.substr(dot + 1));
  }
  return std::nullopt;
}

}  // namespace steelyard::report
