// SPDX-License-Identifier: Apache-2.0
//
// The fusion column of an operator's row: how a compiler may join the operator with its neighbours
// into one kernel. The classes are TVM's, from the easiest to the hardest, so that a group is as
// hard as its hardest member. The graph runtime reads them; the eager one runs every operator
// alone.
//
//   .fusion = Fusion::kBroadcast,
#pragma once

#include <cstdint>
#include <string_view>

namespace steelyard {

enum class Fusion : std::uint8_t {
  kElementwise,  // each element from those at its place
  kBroadcast,    // the same, after broadcasting
  kView,         // another look at the same bytes: joins a kernel, and is none by itself
  kInjective,    // each element from one at another place
  kReduction,    // each element from many
  kOutFusable,   // a product: a pointwise operator can follow it in its kernel
  kOpaque,       // a kernel of its own
  kFromParts,    // of a composite: those of the operators it calls
};
inline constexpr Fusion kFusionFromParts = Fusion::kFromParts;

// "elementwise", "out-fusable".
std::string_view NameOf(Fusion fusion);

}  // namespace steelyard
