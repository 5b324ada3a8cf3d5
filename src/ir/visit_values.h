// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steelyard/program.h"

namespace steelyard {

// Visits the values an argument refers to, nested lists flattened, in order.
template <class Visit>
void VisitValues(const Program& program, const Argument& argument, const Visit& visit) {
  if (argument.kind == ArgKind::kValue) visit(argument.value);
  if (argument.kind != ArgKind::kList) return;
  for (const Argument& element : program.list(argument.list)) VisitValues(program, element, visit);
}

}  // namespace steelyard
