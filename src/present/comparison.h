// SPDX-License-Identifier: Apache-2.0
//
// Two reports side by side: what they cost and where that differs. It reads what the reports say to
// programs, so that it does not matter whether one was weighed just now or stored as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "steelyard/report.h"

namespace steelyard::present {

// One of the two.
struct Side {
  std::string label;       // "bert.pt2"
  report::DataView data;   // of a report
  bool is_stored = false;  // it was weighed before, whatever the options are now
};

// What of it a reader asked to see.
struct ComparisonShown {
  int depth = 2;                        // levels of the module tree
  int top = 10;                         // rows of modules and of operators
  std::vector<std::string> asked = {};  // options of weighing: "--train"
};

void PresentComparison(const Side& a, const Side& b, const ComparisonShown& shown,
                       report::Document* document);

}  // namespace steelyard::present
