// SPDX-License-Identifier: Apache-2.0
//
// The kinds of modules at each depth of the tree, those with the most work or parameters first.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// For each of `shown.depth` levels below the model the `shown.top` classes with the most work and
// those with the most parameters, the others in one row.
void AppendClasses(const Findings& findings, const Shown& shown, report::Document* document);
void AddClassData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
