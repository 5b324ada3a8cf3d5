// SPDX-License-Identifier: Apache-2.0
//
// One model as several tools count it: side by side by operator, and what each of them leaves out
// or counts for what it is not.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// Nothing where the findings have no counts to compare. Figures are those that the tools print,
// mistakes included.
void AppendConventions(const Findings& findings, int top, report::Document* document);
void AddConventionData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
