// SPDX-License-Identifier: Apache-2.0
//
// torch.amp.GradScaler leaves out the optimizer's step where gradients have overflowed: it looks
// at a number that unscaling has left. A program has the step whether or not; here is what is not
// to run then.
#pragma once

#include <optional>

#include "steelyard/program.h"

namespace steelyard {

// The nodes from `begin` to before `end` run where the number `found` is 0. What they let go is let
// go in either case.
struct OptionalStep {
  ValueId found = kNoId;
  NodeId begin = 0;
  NodeId end = 0;
};

// Nothing where no gradient scaler looks at the gradients.
std::optional<OptionalStep> OptionalStepOf(const Program& kernels);

}  // namespace steelyard
