// SPDX-License-Identifier: Apache-2.0
//
// What is said where a run fails, of what was weighed before it.
#pragma once

#include "execute/execution.h"
#include "execute/measurement.h"
#include "steelyard/error.h"
#include "steelyard/weigh.h"

namespace steelyard {

// Valid while the weighing is. Where memory ends a training step of a file is weighed once more,
// with the changes that `weigh --advise` knows.
Help HelpOf(const Weighing& weighing);

// "the NaN is first in kernel 12 (aten::log) of head, model.py:3"; empty where nothing is known.
std::string WhereNotFinite(const NotFinite& found, const Program& kernels);

}  // namespace steelyard
