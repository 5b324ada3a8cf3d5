// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "present/run.h"

namespace steelyard::present {

struct RunSide {
  std::string_view name;  // "bf16"
  Run run;
};

// Two runs that ran in turns, and how many times as long the stages of the second took. Requires:
// there are two sides.
void PresentRunComparison(std::span<const RunSide> sides, std::span<const StageRatio> ratios,
                          const Shown& shown, report::Document* document);

}  // namespace steelyard::present
