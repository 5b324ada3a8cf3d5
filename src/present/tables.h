// SPDX-License-Identifier: Apache-2.0
//
// Tables for programs that read one table at a time: arrays of flat objects in the data, the keys
// of which are the columns. Some are always there; others only when they are asked for.
#pragma once

#include <span>
#include <string_view>

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

struct TableInfo {
  std::string_view name;  // its key in the data, as `--table` takes it
  std::string_view summary;
  // Adds it to the root; null where the data always has it.
  void (*add)(const Findings& findings, report::Data* data);
  bool of_each_step = false;  // it has a row for each kernel or event
  // Whether it tells of operators, which files of weights have not.
  bool needs_graph = true;
};

// Every table, the default first.
std::span<const TableInfo> Tables();

// Whether the table of that name has a row for each kernel or event.
bool IsOfEachStep(std::string_view name);
// Whether there is no table of that name without a graph.
bool NeedsGraph(std::string_view name);

// Adds the table of that name unless it is there anyway, or there is none such.
void AddTable(const Findings& findings, std::string_view name, report::Data* data);

}  // namespace steelyard::present
