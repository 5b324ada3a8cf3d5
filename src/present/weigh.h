// SPDX-License-Identifier: Apache-2.0
//
// The report of a weighing: what to tell, and in what order.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// For people: the headline first, then memory, work, modules, operators, and what to know about
// these figures.
void PresentBody(const Findings& findings, const Shown& shown, report::Document* document);

// For programs: the exact values under the keys of docs/report.schema.json.
void PresentData(const Findings& findings, const Shown& shown, report::Document* document);

}  // namespace steelyard::present
