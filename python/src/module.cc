// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>

#include "bindings.h"

// What is declared here comes before what mentions it, so that signatures name Python's types.
NB_MODULE(_core, module) {
  using namespace steelyard::python;   // NOLINT(google-build-using-namespace)
  nanobind::set_leak_warnings(false);  // What lives until the interpreter ends is no leak.
  BindError(module);
  BindUnits(module);
  BindTables(module);
  BindProgram(module);
  BindOp(module);
  BindPass(module);
  BindReport(module);
  BindImport(module);
  BindTimeline(module);
  BindWeigh(module);
  BindRun(module);
  BindWatch(module);
  BindProfile(module);
  BindBuilder(module);
  BindCommand(module);
}
