// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steelyard/report.h"

namespace steelyard::render {

// Appends `chart` drawn with block characters, several rows high, its value axis on the left and
// its phases below. A column shows the largest value of all points that fall into it.
void WriteChart(const report::Chart& chart, const report::RenderOptions& options, std::string* out);

}  // namespace steelyard::render
