// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steelyard/report.h"

namespace steelyard::render {

// Appends the `trace` of `document` in the JSON format of Chrome's trace viewer, which Perfetto
// reads too: slices as complete events of one thread, counters, moments as instants. One unit of
// the time axis is written as a microsecond, the unit of that format.
void WriteChromeTrace(const report::Document& document, const report::RenderOptions& options,
                      std::string* out);

}  // namespace steelyard::render
