// SPDX-License-Identifier: Apache-2.0
//
// What the model computes and moves. Each figure says which convention it follows.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

void AppendWork(const Findings& findings, report::Document* document);
void AddWorkData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
