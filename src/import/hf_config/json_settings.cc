// SPDX-License-Identifier: Apache-2.0
//
// How the text of a config.json becomes settings, as Python's json, which transformers uses, reads
// it: of a key that is there twice the last value counts. Python writes NaN and Infinity, which
// JSON does not have: outside of strings they become null before the text is parsed, since no
// architecture reads them and the rest of the file is good.

#include "import/hf_config/json_settings.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "import/json_fault.h"
#include "import/unreadable.h"
#include "support/json_reason.h"

namespace steelyard {
namespace {

using models::Setting;

constexpr std::uintmax_t kMostBytes = 1 << 20;
constexpr std::array<std::string_view, 3> kSpecialNumbers{"-Infinity", "Infinity", "NaN"};

Setting Converted(simdjson::dom::element element);

Setting ListOf(simdjson::dom::array array) {
  Setting out{.kind = Setting::Kind::kList};
  for (const simdjson::dom::element item : array) out.items.push_back(Converted(item));
  return out;
}

Setting ObjectOf(simdjson::dom::object object) {
  Setting out{.kind = Setting::Kind::kObject};
  std::unordered_map<std::string_view, std::size_t> places;
  for (const simdjson::dom::key_value_pair member : object) {
    const auto [place, fresh] = places.try_emplace(member.key, out.members.size());
    if (fresh) {
      out.members.emplace_back(std::string(member.key), Converted(member.value));
    } else {
      out.members[place->second].second = Converted(member.value);
    }
  }
  return out;
}

// simdjson has limited the depth.
Setting Converted(simdjson::dom::element element) {  // NOLINT(misc-no-recursion)
  Setting out;
  simdjson::dom::array array;
  simdjson::dom::object object;
  std::string_view text;
  if (element.get(array) == simdjson::SUCCESS) return ListOf(array);
  if (element.get(object) == simdjson::SUCCESS) return ObjectOf(object);
  if (element.get(text) == simdjson::SUCCESS) {
    out.kind = Setting::Kind::kText;
    out.text = text;
  } else if (element.get(out.flag) == simdjson::SUCCESS) {
    out.kind = Setting::Kind::kFlag;
  } else if (element.get(out.integer) == simdjson::SUCCESS) {
    out.kind = Setting::Kind::kInteger;
  } else if (element.get(out.real) == simdjson::SUCCESS) {
    out.kind = Setting::Kind::kReal;
  }
  return out;
}

// Python writes numbers that JSON does not have. No architecture reads them: they are null here.
std::string WithoutSpecialNumbers(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const auto special = quoted ? kSpecialNumbers.end()
                                : std::ranges::find_if(kSpecialNumbers, [&](std::string_view name) {
                                    return rest.starts_with(name);
                                  });
    if (special != kSpecialNumbers.end()) {
      out.append("null");
      i += special->size() - 1;
      continue;
    }
    out.push_back(text[i]);
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\' && i + 1 < text.size()) out.push_back(text[++i]);
  }
  return out;
}

}  // namespace

Result<Setting> ReadSettings(const std::string& path) {
  std::error_code code;
  if (std::filesystem::file_size(path, code) > kMostBytes && !code) {
    return Unexpected(InvalidInput("the file is larger than a config is", path,
                                   "A config.json has a few kilobytes."));
  }
  simdjson::padded_string text;
  if (simdjson::padded_string::load(path).get(text) != simdjson::SUCCESS) {
    return Unexpected(CannotBeRead(path));
  }
  return SettingsIn(text, path);
}

Result<Setting> SettingsIn(std::string_view text, const std::string& path) {
  simdjson::dom::parser parser;
  const std::string plain = WithoutSpecialNumbers(text);
  simdjson::dom::element root;
  if (const auto error = parser.parse(plain).get(root); error != simdjson::SUCCESS) {
    const std::optional<std::string> fault = JsonFault(text);
    return Unexpected(InvalidInput(
        fault ? *fault
              : fmt::format("not valid JSON: {}", JsonReason(simdjson::error_message(error))),
        path, "It should be the config.json that transformers writes with save_pretrained()."));
  }
  Setting settings = Converted(root);
  if (settings.kind != Setting::Kind::kObject) {
    return Unexpected(InvalidInput("the JSON is not an object", path, "A config.json is one."));
  }
  return settings;
}

}  // namespace steelyard
