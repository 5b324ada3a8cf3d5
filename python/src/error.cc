// SPDX-License-Identifier: Apache-2.0
#include "steelyard/error.h"

#include <nanobind/nanobind.h>

#include <exception>
#include <string>

#include "bindings.h"
#include "text.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {
namespace {

const char* ClassOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
      return "InvalidInputError";
    case ErrorCode::kUnsupported:
      return "UnsupportedError";
    case ErrorCode::kNotFound:
      return "NotFoundError";
    case ErrorCode::kUsage:
      return "UsageError";
    case ErrorCode::kInternal:
      return "InternalError";
  }
  return "InternalError";
}

nb::object Text(const std::string& bytes) { return nb::steal(TextOfBytes(bytes)); }

}  // namespace

void BindError(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      const Error& error = failure.error();
      const nb::object kind = nb::module_::import_("steelyard.errors").attr(ClassOf(error.code));
      const nb::object raised = kind(Text(error.message), Text(error.where), Text(error.hint));
      PyErr_SetObject(kind.ptr(), raised.ptr());
    }
  });
}

}  // namespace steelyard::python
