// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "../temporary.h"

namespace steelyard {

// A linear from 8 to 4, whose batch is symbolic.
inline constexpr const char* kLinear =
    "module \"\": models.Head\n"
    "module fc: torch.nn.modules.linear.Linear\n"
    "parameter %w: f32[4,8] \"fc.weight\"\n"
    "symbol batch: 1..64 = 2\n"
    "input %x: f32[batch,8]\n"
    "%y: f32[batch,4] = aten::linear(%x, %w) in fc\n"
    "return %y\n";

inline constexpr const char* kUnmodelled =
    "input %x: f32[2,8]\n"
    "%y: f32[2,8] = my::own_op(%x)\n"
    "%z: f32[2,8] = aten::relu(%y)\n"
    "return %z\n";

// Writes `text` as a model's file and returns its path.
inline std::string WrittenModel(const std::string& text) {
  return WriteTemporary("model.syt", text);
}

}  // namespace steelyard
