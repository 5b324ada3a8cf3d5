// SPDX-License-Identifier: Apache-2.0
//
// The module `steelyard._core`: one file and one function for each public header that Python sees,
// and one for the command line. They only name what the headers have; what makes it pleasant in
// Python is written in Python.
#pragma once

#include <nanobind/nanobind.h>

namespace steelyard::python {

void BindBuilder(nanobind::module_& module);
void BindCommand(nanobind::module_& module);
void BindError(nanobind::module_& module);
void BindImport(nanobind::module_& module);
void BindOp(nanobind::module_& module);
void BindPass(nanobind::module_& module);
void BindProfile(nanobind::module_& module);
void BindProgram(nanobind::module_& module);
void BindReport(nanobind::module_& module);
void BindRun(nanobind::module_& module);
void BindTables(nanobind::module_& module);
void BindTimeline(nanobind::module_& module);
void BindUnits(nanobind::module_& module);
void BindWatch(nanobind::module_& module);
void BindWeigh(nanobind::module_& module);

}  // namespace steelyard::python
