// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steelyard/report.h"

namespace steelyard::render {

// Appends `table` with aligned columns. Where they do not fit the width of `options`, columns go by
// their priority, and then the widest text column is shortened in the middle of its texts.
void WriteTable(const report::Table& table, const report::RenderOptions& options, std::string* out);

}  // namespace steelyard::render
