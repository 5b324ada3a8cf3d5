// SPDX-License-Identifier: Apache-2.0
//
// The segments of a device's allocator: drawn where they are fullest, and what is used of them over
// the step.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// Nothing where they were not asked for.
void AppendSegments(const Findings& findings, bool all, report::Document* document);

// Tables of the data: a row for each block, and one for each change of a level.
void AddSegmentRows(const Findings& findings, report::Data* data);
void AddLevelRows(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
