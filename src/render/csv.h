// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steelyard/report.h"

namespace steelyard::render {

// Appends one array of the `data` of `document` as CSV (RFC 4180, but lines end with a newline):
// the member of the root that `options.table` names. Its elements, objects, are lines; their keys
// name the columns, in the order in which they first appear. A list within a cell is joined by
// spaces. Nothing where there is no such array, or nothing in it.
void WriteCsv(const report::Document& document, const report::RenderOptions& options,
              std::string* out);

}  // namespace steelyard::render
