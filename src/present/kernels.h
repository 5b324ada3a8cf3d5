// SPDX-License-Identifier: Apache-2.0
//
// What the graph runtime tells besides memory at the peak: its kernels, what is held while each
// runs, and what they need in any order.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// "Compiled into 223 kernels; in any order they need 1.4 GB or more". Nothing of an eager run.
void AppendKernelSummary(const Findings& findings, report::Document* document);

// A line for each kernel. Requires: a graph.
void AppendKernels(const Findings& findings, report::Document* document);

// The object "graph", of a graph; and the table of kernels, or of the operators of an eager run.
void AddKernelData(const Findings& findings, report::Data* data);
void AddKernelRows(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
