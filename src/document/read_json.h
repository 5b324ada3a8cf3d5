// SPDX-License-Identifier: Apache-2.0
//
// The way back: a report that was written as JSON, as the tree it was written from.
#pragma once

#include <string_view>

#include "steelyard/error.h"
#include "steelyard/report.h"

namespace steelyard::report {

// Returns the tree of a text that is a JSON object. Members that are null are left out, as what is
// not known. An error where the text is no JSON or no object, or holds a whole number that does not
// fit in 64 bits or an array with a null. Numbers have no units.
[[nodiscard]] Result<Data> ReadJson(std::string_view text);

}  // namespace steelyard::report
