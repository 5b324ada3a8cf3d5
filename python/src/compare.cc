// SPDX-License-Identifier: Apache-2.0
#include "steelyard/compare.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>
#include <vector>

#include "bindings.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {

void BindCompare(nb::module_& module) {
  nb::class_<CompareOptions>(module, "CompareOptions", "Two files, and how they are weighed.")
      .def(nb::init<>())
      .def_rw("a", &CompareOptions::a)
      .def_rw("b", &CompareOptions::b)
      .def_rw("weigh", &CompareOptions::weigh)
      .def_rw("asked", &CompareOptions::asked)
      .def_rw("depth", &CompareOptions::depth)
      .def_rw("top", &CompareOptions::top);
  module.def(
      "compare", [](const CompareOptions& options) { return Unwrap(Compare(options)); },
      nb::arg("options"), nb::call_guard<nb::gil_scoped_release>(),
      "Two models or reports side by side, as a document.");
  module.def("comparison_tables", [] {
    const auto names = ComparisonTables();
    return std::vector<std::string_view>(names.begin(), names.end());
  });
}

}  // namespace steelyard::python
