// SPDX-License-Identifier: Apache-2.0
//
// What stands in a config.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/settings.h"

namespace steelyard::models {

inline Setting Number(std::int64_t number) {
  return {.kind = Setting::Kind::kInteger, .integer = number};
}
inline Setting Text(std::string text) {
  return {.kind = Setting::Kind::kText, .text = std::move(text)};
}
inline Setting Object(std::vector<std::pair<std::string, Setting>> members) {
  return {.kind = Setting::Kind::kObject, .members = std::move(members)};
}

}  // namespace steelyard::models
