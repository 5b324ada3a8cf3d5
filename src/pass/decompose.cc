// SPDX-License-Identifier: Apache-2.0

#include "pass/decompose.h"

#include "ops/dispatch/dispatcher.h"

namespace steelyard {

Result<Program> Decompose(const Program& program, const Target& target, Variables variables) {
  return Dispatcher(program, target, variables).Run();
}

}  // namespace steelyard
