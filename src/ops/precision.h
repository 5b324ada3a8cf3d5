// SPDX-License-Identifier: Apache-2.0
//
// The precision column of an operator's row: what torch.autocast does with a call before anything
// else sees it. PyTorch's lists differ between devices (aten/src/ATen/autocast_mode.{h,cpp}).
#pragma once

#include <cstdint>

#include "steelyard/op.h"

namespace steelyard {

// What becomes of the floating-point operands; those of float64 are left alone.
enum class CastRule : std::uint8_t {
  kFollow,      // nothing: it runs in the dtypes that arrive
  kLow,         // they are cast to the dtype of the region
  kFull,        // they are cast to float32
  kFullResult,  // nothing, but a result whose dtype is not asked for is float32
  kRefused,     // PyTorch refuses the call
  kPromote,     // they are cast to float32 if one of them has it, else to the dtype of the region
};

struct Precision {
  CastRule cpu;
  CastRule cuda;
  int since = 0;  // of CUDA: the minor of the first release of PyTorch; before it, nothing
  constexpr CastRule on(const Target& target) const {
    const bool later = target.device == Device::kCuda && target.torch_minor < since;
    return later ? CastRule::kFollow : on(target.device);
  }
  constexpr CastRule on(Device device) const {
    switch (device) {
      case Device::kCpu:
        return cpu;
      case Device::kCuda:
        return cuda;
    }
    __builtin_unreachable();
  }
};

namespace precision {

inline constexpr Precision kFollow{.cpu = CastRule::kFollow, .cuda = CastRule::kFollow};
inline constexpr Precision kLow{.cpu = CastRule::kLow, .cuda = CastRule::kLow};
inline constexpr Precision kFull{.cpu = CastRule::kFull, .cuda = CastRule::kFull};
inline constexpr Precision kLowOnCpu{.cpu = CastRule::kLow, .cuda = CastRule::kFollow};
inline constexpr Precision kLowOnCuda{.cpu = CastRule::kFollow, .cuda = CastRule::kLow};
inline constexpr Precision kFullOnCpu{.cpu = CastRule::kFull, .cuda = CastRule::kFollow};
inline constexpr Precision kFullOnCuda{.cpu = CastRule::kFollow, .cuda = CastRule::kFull};
inline constexpr Precision kFullOnNewCuda{
    .cpu = CastRule::kFollow, .cuda = CastRule::kFull, .since = 15};
inline constexpr Precision kFullResultOnCuda{.cpu = CastRule::kFollow,
                                             .cuda = CastRule::kFullResult};
inline constexpr Precision kFullOrResult{.cpu = CastRule::kFull, .cuda = CastRule::kFullResult};
inline constexpr Precision kPromoteOnCpu{.cpu = CastRule::kPromote, .cuda = CastRule::kFollow};
inline constexpr Precision kPromoteOnCuda{.cpu = CastRule::kFollow, .cuda = CastRule::kPromote};
inline constexpr Precision kFullOrRefused{.cpu = CastRule::kFull, .cuda = CastRule::kRefused};
inline constexpr Precision kFullOrPromote{.cpu = CastRule::kFull, .cuda = CastRule::kPromote};

}  // namespace precision
}  // namespace steelyard
