// SPDX-License-Identifier: Apache-2.0
//
// A weighing as those who present it see it.
#pragma once

#include "present/findings.h"
#include "steelyard/weigh.h"

namespace steelyard {

// Valid while the weighing is. Requires: it was weighed.
present::Findings FindingsOf(const Weighing& weighing);

}  // namespace steelyard
