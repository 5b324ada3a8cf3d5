// SPDX-License-Identifier: Apache-2.0
//
// Every allocation and free in order, for those who ask.
#pragma once

#include <string_view>

#include "present/findings.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/timeline.h"

namespace steelyard::present {

// The path of the module in which an event happens.
std::string_view ModuleOf(const Program& program, const Event& event);

void AppendEvents(const Findings& findings, report::Document* document);

// Adds the array `events` to the open object: [operator, signed bytes, path of the module] each.
void AddEvents(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
