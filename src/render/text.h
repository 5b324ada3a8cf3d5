// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steelyard/report.h"

namespace steelyard::render {

// Appends the `body` of `document` for a terminal: sections under headlines whose figures begin in
// one column, bars, charts, aligned tables. Keeps within the width of `options` where there is one.
void WriteText(const report::Document& document, const report::RenderOptions& options,
               std::string* out);

}  // namespace steelyard::render
