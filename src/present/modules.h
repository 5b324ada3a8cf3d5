// SPDX-License-Identifier: Apache-2.0
//
// The module tree: what each part of the model has and does. Repeated siblings are told as one.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

void AppendModules(const Findings& findings, const Shown& shown, report::Document* document);
void AddModuleData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
