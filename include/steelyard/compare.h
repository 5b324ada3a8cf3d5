// SPDX-License-Identifier: Apache-2.0
//
// Two models side by side, or two reports, or one of each: what they cost and where that differs.
//
//   Result<report::Document> comparison = Compare({.a = "fp32.json", .b = "bf16.pt2"});
//   Result<std::string> text = report::Render(*comparison, "text");
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/report.h"
#include "steelyard/weigh.h"

namespace steelyard {

struct CompareOptions {
  // Two files: models, or reports that `steelyard weigh --format json` wrote.
  std::string a = {};
  std::string b = {};

  // How the models are weighed. Its path is not used; reports are taken as they are.
  WeighOptions weigh = {};

  // What of `weigh` was asked for, in the words of who asked: "--train". It cannot apply to a
  // report: it is refused where both are reports, and where one is the comparison says so.
  std::vector<std::string> asked = {};

  // How many levels of the module tree are shown, and how many modules and operators that differ.
  int depth = 2;
  int top = 10;
};

// Returns the comparison as a document: data with the arrays `totals`, `categories`, `modules` and
// `operators` (docs/comparison.schema.json), and blocks for people. The errors are those of
// `Weigh`, that a JSON file is no report or that a field of it is missing, wrong or impossible, and
// a usage error for options that apply to neither.
[[nodiscard]] Result<report::Document> Compare(const CompareOptions& options);

// The names of those arrays, each of which can be written as CSV.
[[nodiscard]] std::span<const std::string_view> ComparisonTables();

}  // namespace steelyard
