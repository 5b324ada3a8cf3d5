// SPDX-License-Identifier: Apache-2.0
//
// The report of a file of weights: what there is of parameters. Nothing of memory or work is told,
// which need a graph.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// For people. Requires: the program has no graph.
void PresentWeightsBody(const Findings& findings, const Shown& shown, report::Document* document);

// For programs. Requires: the program has no graph.
void PresentWeightsData(const Findings& findings, const Shown& shown, report::Data* data);

}  // namespace steelyard::present
