// SPDX-License-Identifier: Apache-2.0
//
// How much memory the model takes, what fills it where it is highest, and which tensors are to
// blame.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

void AppendMemory(const Findings& findings, const Shown& shown, report::Document* document);
void AddMemoryData(const Findings& findings, const Shown& shown, report::Data* data);

}  // namespace steelyard::present
