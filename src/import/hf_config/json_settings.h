// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "models/settings.h"
#include "steelyard/error.h"

namespace steelyard {

// The object that the JSON file at `path` holds. At most a mebibyte: a config is a page.
Result<models::Setting> ReadSettings(const std::string& path);
// The same of its text; `path` is where it comes from.
Result<models::Setting> SettingsIn(std::string_view text, const std::string& path);

}  // namespace steelyard
