// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// Mixed precision: memory without and with it, what is cast, and what stays wide. Nothing where it
// was not asked for. Of the lists at most `top` lines each.
void AppendPrecision(const Findings& findings, int top, report::Document* document);
void AddPrecisionData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
