// SPDX-License-Identifier: Apache-2.0
//
// What readers and passes want the report to say: assumptions, and what could not be done.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

void AppendNotes(const Findings& findings, report::Document* document);
void AddNoteData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
