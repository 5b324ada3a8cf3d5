// SPDX-License-Identifier: Apache-2.0
#include "steelyard/tables.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"

namespace nb = nanobind;

namespace steelyard::python {

void BindTables(nb::module_& module) {
  nb::enum_<DType>(module, "DType", "The type of a tensor's elements.")
      .value("BOOL", DType::kBool)
      .value("INT4", DType::kInt4)
      .value("UINT4", DType::kUInt4)
      .value("INT8", DType::kInt8)
      .value("UINT8", DType::kUInt8)
      .value("INT16", DType::kInt16)
      .value("UINT16", DType::kUInt16)
      .value("INT32", DType::kInt32)
      .value("UINT32", DType::kUInt32)
      .value("INT64", DType::kInt64)
      .value("UINT64", DType::kUInt64)
      .value("FLOAT4_E2M1", DType::kFloat4E2M1)
      .value("FLOAT6_E2M3", DType::kFloat6E2M3)
      .value("FLOAT6_E3M2", DType::kFloat6E3M2)
      .value("FLOAT8_E4M3", DType::kFloat8E4M3)
      .value("FLOAT8_E5M2", DType::kFloat8E5M2)
      .value("FLOAT8_E4M3FNUZ", DType::kFloat8E4M3FNUZ)
      .value("FLOAT8_E5M2FNUZ", DType::kFloat8E5M2FNUZ)
      .value("FLOAT8_E8M0", DType::kFloat8E8M0)
      .value("FLOAT16", DType::kFloat16)
      .value("BFLOAT16", DType::kBFloat16)
      .value("FLOAT32", DType::kFloat32)
      .value("FLOAT64", DType::kFloat64)
      .value("COMPLEX32", DType::kComplex32)
      .value("COMPLEX64", DType::kComplex64)
      .value("COMPLEX128", DType::kComplex128);
  module.def("dtype_named", &DTypeNamed, nb::arg("name"), "The dtype of PyTorch's name, or None.");
  nb::class_<Dim>(module, "Dim", "A size of a program that is built: a number or symbolic.");
}

}  // namespace steelyard::python
