// SPDX-License-Identifier: Apache-2.0
#include "steelyard/import.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <vector>

#include "bindings.h"
#include "steelyard/program.h"
#include "text.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {

void BindImport(nb::module_& module) {
  module.def(
      "import_file",
      [](const std::string& path, const std::string& from, bool as_module) {
        return Unwrap(ImportFile(path, {.from = from, .as_module = as_module}));
      },
      nb::arg("path"), nb::arg("importer") = "", nb::arg("as_module") = false,
      nb::call_guard<nb::gil_scoped_release>(), "The model in a file.");
  module.def(
      "importers",
      [] {
        std::vector<std::string_view> names;
        for (const Importer& importer : Importers()) names.push_back(importer.name);
        return names;
      },
      "The formats that can be read.");
}

}  // namespace steelyard::python
