// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// Changes that lower the peak of a training step, where they were asked for.
void AppendAdvice(const Findings& findings, report::Document* document);
void AddAdviceData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
