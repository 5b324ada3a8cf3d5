// SPDX-License-Identifier: Apache-2.0
//
// What the model is: its name, its parameters, its inputs; of a mixture of experts, how much of it
// one token uses.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

void AppendModel(const Findings& findings, report::Document* document);
void AddModelData(const Findings& findings, report::Data* data);

// Parts of these, for what has parameters and nothing to run.
void AddParameterWords(const ParameterReport& parameters, report::Sentence* text);
void AddParameterData(const Findings& findings, report::Data* data);
// Bits that a parameter takes, with the scales of its block.
double BitsEach(const TensorTotal& total);
void AddModelName(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
