// SPDX-License-Identifier: Apache-2.0
//
// Names that a file gives, which reports and Python have as UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

bool IsUtf8(std::string_view text);

// That it is not UTF-8. `where` is the file, and where in it.
Error NoUtf8(std::string_view text, std::string where);

// Refuses a program that has names of other bytes. JSON has none, whose reader refuses them.
Result<Program> WithNamesInUtf8(Result<Program> program, const std::string& path);

}  // namespace steelyard
