// SPDX-License-Identifier: Apache-2.0
//
// Where a text stops being JSON, for messages: the parser that reads it says what, and not where.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace steelyard {

// "the JSON is cut: it ends in line 3 with brackets open", "the JSON is not valid at line 3, column
// 7", "it is empty"; nothing where the text is JSON, in which NaN and Infinity count as numbers, as
// Python writes them. Looks at each byte once.
std::optional<std::string> JsonFault(std::string_view text);

}  // namespace steelyard
