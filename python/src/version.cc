// SPDX-License-Identifier: Apache-2.0
#include "steelyard/version.h"

#include "bindings.h"

namespace steelyard::python {

void BindVersion(nanobind::module_& module) {
  module.attr("VERSION") = kVersion;
  module.attr("REPORT_SCHEMA") = kReportSchema;
}

}  // namespace steelyard::python
