// SPDX-License-Identifier: Apache-2.0
//
// What a function of the model calls its own: a program says where such variables go.
#pragma once

#include <string_view>

namespace steelyard {

// Holds the tensors of the list that is its argument until it runs; computes nothing.
inline constexpr std::string_view kLeaveOp = "steelyard::leave";

}  // namespace steelyard
