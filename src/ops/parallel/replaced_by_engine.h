// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace steelyard::ops {

// What DeepSpeed's engine with stage 3 has a model call in place of an operator: itself, of most.
std::string_view ReplacedByEngine(std::string_view op);

}  // namespace steelyard::ops
