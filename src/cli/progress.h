// SPDX-License-Identifier: Apache-2.0
//
// How far long work has come, for standard error.
#pragma once

#include <functional>
#include <string>

namespace steelyard::cli {

// "Estimated 9.98% (183/1833)" and a newline.
std::string ProgressLine(int done, int total);

// Writes that line to standard error, where that is a terminal or `always`; else nothing.
std::function<void(int done, int total)> StandardErrorProgress(bool always);

}  // namespace steelyard::cli
