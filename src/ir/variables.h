// SPDX-License-Identifier: Apache-2.0
//
// What functions of the model do to their variables, apart from computing them.
#pragma once

#include <string_view>

namespace steelyard {

// Holds the tensors of the list that is its argument until it runs; computes nothing.
inline constexpr std::string_view kLeaveOp = "steelyard::leave";

// The tensor that is its argument requires a gradient from there on.
inline constexpr std::string_view kRequireGradientOp = "steelyard::require_gradient";

}  // namespace steelyard
