// SPDX-License-Identifier: Apache-2.0
//
// What a model's config.json says, as the architectures read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steelyard/error.h"

namespace steelyard::models {

// A value of the file.
struct Setting {
  enum class Kind : std::uint8_t { kNull, kFlag, kInteger, kReal, kText, kList, kObject };
  Kind kind = Kind::kNull;
  bool flag = false;
  std::int64_t integer = 0;
  double real = 0.0;
  std::string text = {};
  std::vector<Setting> items = {};  // of a list
  std::vector<std::pair<std::string, Setting>> members = {};
};

// Reads an object of the file. Every read has a type and, unless the key must be there, what stands
// for one that is missing or null: the default of transformers' class of that config. Reads never
// fail; `status` says what was wrong with the first that was.
class Settings {
 public:
  // `root` must outlive it. Requires: an object.
  explicit Settings(const Setting& root) : object_(&root), first_error_(&own_error_) {}
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  // Whether the key is there, be it null: where null is not what the class's default is.
  bool Stands(std::string_view key) const;
  bool IsList(std::string_view key) const;
  // A count or a number of a token: from 0 to 2^31.
  std::int64_t Count(std::string_view key, std::optional<std::int64_t> missing = {}) const;
  // The same where null says that there is none.
  std::optional<std::int64_t> CountOrNone(std::string_view key,
                                          std::optional<std::int64_t> missing = {}) const;
  // A size: from 1 to 2^31, and never null, which no class takes for one. So it may divide.
  std::int64_t Size(std::string_view key, std::optional<std::int64_t> missing = {}) const;
  // How many layers there are: from 0 to 4096, and never null.
  std::int64_t Layers(std::string_view key, std::int64_t missing) const;
  double Real(std::string_view key, std::optional<double> missing = {}) const;
  // A probability, such as that of dropout.
  double Share(std::string_view key, double missing) const;
  bool Flag(std::string_view key, std::optional<bool> missing = {}) const;
  std::string Text(std::string_view key, std::optional<std::string_view> missing = {}) const;
  std::vector<std::int64_t> Counts(std::string_view key) const;  // empty where it is missing
  std::vector<std::string> Texts(std::string_view key) const;
  // How many entries the object under `key` has.
  std::int64_t Members(std::string_view key) const;
  // The object under `key`; an empty one where it is missing.
  Settings Within(std::string_view key) const;

  // What `part`, which is what `key` says, divides `whole` into, which is what `whole_key` says;
  // refuses one that does not. Requires: part > 0.
  std::int64_t Quotient(std::string_view whole_key, std::int64_t whole, std::string_view key,
                        std::int64_t part) const;

  // Says that a key has a value that the architecture does not know.
  void Refuse(std::string_view key, std::string message, std::string hint = {}) const;
  Status status() const;

 private:
  Settings(const Setting& object, std::string path, std::optional<Error>* first_error)
      : object_(&object), path_(std::move(path)), first_error_(first_error) {}
  const Setting* Find(std::string_view key) const;  // nullptr where it is missing or null
  const Setting* Need(std::string_view key, bool has_default) const;
  void RefuseValue(std::string_view key, const Setting& value, std::string_view wanted) const;
  struct Range {
    std::int64_t least, most;
  };
  std::int64_t Whole(std::string_view key, std::optional<std::int64_t> missing, Range range) const;
  void RefuseNull(std::string_view key, Range range) const;
  std::string PathOf(std::string_view key) const;

  const Setting* object_;
  std::string path_;
  mutable std::optional<Error> own_error_;
  std::optional<Error>* first_error_;
};

}  // namespace steelyard::models
