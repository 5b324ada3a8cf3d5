// SPDX-License-Identifier: Apache-2.0
//
// torch.cuda.empty_cache() as a node of a program. No allocation of a row stands for it: a runtime
// writes down where it happens.
#pragma once

namespace steelyard::ops {

inline constexpr const char* kEmptyCacheOp = "steelyard::empty_cache";

}  // namespace steelyard::ops
