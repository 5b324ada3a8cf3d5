// SPDX-License-Identifier: Apache-2.0
//
// The run as slices over steps, a step being one kernel: phases hold modules, those hold the
// operators that the model calls, those hold kernels. Beside them the memory, by category.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

void PresentTrace(const Findings& findings, report::Document* document);

}  // namespace steelyard::present
