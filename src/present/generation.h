// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// What a generation keeps of each token, and what its calls cost. Nothing where none was weighed.
void AppendGeneration(const Findings& findings, report::Document* document);
void AddGenerationData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
