// SPDX-License-Identifier: Apache-2.0
//
// In which order a caller lets the results of a program go.
#pragma once

#include <cstdint>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

// Places in the main graph's outputs. Several results are a tuple, which Python takes apart from
// its end; what passes have appended since the file was read goes after what the file returns.
// Requires: CanRelease.
std::vector<std::uint32_t> ReleaseOrder(const Program& program);

// Whether `released` has the first outputs of the program, once each.
bool CanRelease(const Program& program);

}  // namespace steelyard
