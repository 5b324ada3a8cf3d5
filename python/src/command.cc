// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "cli/program.h"
#include "text.h"

namespace nb = nanobind;

namespace steelyard::python {

void BindCommand(nb::module_& module) {
  module.def(
      "main", [](const std::vector<std::string>& words) { return cli::RunProgram(words); },
      nb::arg("words"), nb::call_guard<nb::gil_scoped_release>(),
      "Does what the words after the program's name ask for, as `steelyard` does; returns the "
      "exit status.");
}

}  // namespace steelyard::python
