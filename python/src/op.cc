// SPDX-License-Identifier: Apache-2.0
#include "steelyard/op.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace nb = nanobind;

namespace steelyard::python {

void BindOp(nb::module_& module) {
  nb::class_<KnownOp>(module, "KnownOp", "One operator of the table.")
      .def_ro("name", &KnownOp::name)
      .def_ro("signature", &KnownOp::signature)
      .def_ro("family", &KnownOp::family)
      .def_ro("summary", &KnownOp::summary)
      .def_ro("example", &KnownOp::example)
      .def_ro("is_kernel", &KnownOp::is_kernel);
  module.def("known_ops", &KnownOps, "The operators that are modelled, by family.");
}

}  // namespace steelyard::python
