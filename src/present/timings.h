// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// What each part of the weighing took, where it was asked for.
void AppendTimings(const Findings& findings, report::Document* document);
void AddTimingsData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
