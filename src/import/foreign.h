// SPDX-License-Identifier: Apache-2.0
//
// Formats that models come in and that no importer reads, so that the user is told what the file is
// and what to do instead of that it is not understood.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "steelyard/error.h"

namespace steelyard {

// Whether a file that begins with `head` is to be a JSON object.
bool IsJson(std::string_view head);

// What to say about a file that begins with `head`, if it is of a format that is known.
std::optional<Error> ForeignFormat(std::string_view head);

// What to say about a folder with files of these names, if it is of a kind that is known.
std::optional<Error> ForeignFolder(std::span<const std::string> names);

}  // namespace steelyard
