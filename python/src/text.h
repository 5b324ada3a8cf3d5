// SPDX-License-Identifier: Apache-2.0
//
// Texts on their way between Python and the library, which takes and gives bytes: a path or a name
// in a file need not be UTF-8. Included in place of nanobind's own caster of strings, which refuses
// such texts with a TypeError.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace steelyard::python {

// What stands for bytes that are not UTF-8 can be printed anywhere.
inline PyObject* TextOfBytes(const std::string& bytes) noexcept {
  return PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
}

// The bytes that Python's lone surrogates stand for (PEP 383), and an escape of any that stands for
// none. Null where there is no memory.
inline PyObject* BytesOfText(PyObject* text) noexcept {
  PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
  if (bytes != nullptr) return bytes;
  PyErr_Clear();
  return PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
}

}  // namespace steelyard::python

// The names are nanobind's.
// NOLINTBEGIN(readability-identifier-naming)
namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    PyObject* bytes = steelyard::python::BytesOfText(source.ptr());
    if (bytes == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.assign(PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)));
    Py_DECREF(bytes);
    return true;
  }

  static handle from_cpp(const std::string& value, rv_policy, cleanup_list*) noexcept {
    return steelyard::python::TextOfBytes(value);
  }
};

}  // namespace nanobind::detail
// NOLINTEND(readability-identifier-naming)
