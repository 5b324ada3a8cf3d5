// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "models/settings.h"
#include "steelyard/error.h"

namespace steelyard {

// The object that the JSON file at `path` holds. At most a mebibyte: a config is a page.
Result<models::Setting> ReadSettings(const std::string& path);

}  // namespace steelyard
