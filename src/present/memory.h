// SPDX-License-Identifier: Apache-2.0
//
// How much memory the model takes, what fills it where it is highest, and which tensors are to
// blame.
#pragma once

#include <cstddef>

#include "present/findings.h"
#include "steelyard/report.h"
#include "steelyard/timeline.h"

namespace steelyard::present {

// Points of charts over a step, at least one for each column of the widest terminal; where among
// them the first `event`s of the timeline are over; and the phases of a chart.
inline constexpr int kChartPoints = 240;
double ChartPlace(const Timeline& timeline, std::size_t event);
void AddPhases(const Findings& findings, report::Chart* chart);

void AppendMemory(const Findings& findings, const Shown& shown, report::Document* document);
void AddMemoryData(const Findings& findings, const Shown& shown, report::Data* data);

}  // namespace steelyard::present
