// SPDX-License-Identifier: Apache-2.0
//
// Every allocation and free in order, for those who ask.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

void AppendEvents(const Findings& findings, report::Document* document);

// Adds the array `events` to the open object: [operator, signed bytes, path of the module] each.
void AddEvents(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
