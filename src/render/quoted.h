// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steelyard::render {

// Appends `text` as a JSON string (RFC 8259), quotes included. Bytes that are no UTF-8 become
// U+FFFD.
void AppendQuoted(std::string_view text, std::string* out);

}  // namespace steelyard::render
