// SPDX-License-Identifier: Apache-2.0
//
// The operators of the model as its author called them, by the work they cause, and those that
// Steelyard does not know.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// The `top` ones with the most work, the others in one row.
void AppendOperators(const Findings& findings, int top, report::Document* document);
// What each kind of operator does, moves and holds at the peak.
void AppendKinds(const Findings& findings, report::Document* document);
void AddKinds(const Findings& findings, report::Data* data);
// Which operators were not modelled, if any, and what that means for the totals.
void AppendUnmodelled(const Findings& findings, report::Document* document);
void AddOperatorData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
