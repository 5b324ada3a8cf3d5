// SPDX-License-Identifier: Apache-2.0
//
// What the model computes and moves. Each figure says which convention it follows.
#pragma once

#include "analyze/work.h"
#include "present/findings.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::present {

void AppendWork(const Findings& findings, report::Document* document);
void AddWorkData(const Findings& findings, report::Data* data);

// The keys of a part's work, of a module or an operator, whose row is open. `counted` is the unit
// of what the report's convention counts.
void SetWork(const NodeWork& work, Unit counted, report::Data* data);

}  // namespace steelyard::present
