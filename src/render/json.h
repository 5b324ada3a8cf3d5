// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steelyard/report.h"

namespace steelyard::render {

// Appends the `data` of `document` as JSON (RFC 8259), keys in their order: one member a line,
// indented, but containers that hold no other container on one line each. Integers have all their
// digits, doubles as many as it takes to read them back; one that is not finite is `null`. The text
// is valid UTF-8 whatever the names were: bytes that are not become U+FFFD. Ends with a newline.
void WriteJson(const report::Document& document, const report::RenderOptions& options,
               std::string* out);

}  // namespace steelyard::render
