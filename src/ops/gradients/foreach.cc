// SPDX-License-Identifier: Apache-2.0

#include "ops/gradients/foreach.h"

#include <string>

namespace steelyard::gradients {

std::vector<Tensor> OneDivisor(Dispatcher&, const Backward& b) {
  Refuse("PyTorch has no derivative of " + std::string(b.op().def().name->text()) +
         " by its divisor");
}

}  // namespace steelyard::gradients
