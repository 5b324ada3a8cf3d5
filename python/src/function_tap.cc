// SPDX-License-Identifier: Apache-2.0
//
// The interpreter's own hook for profilers, in C: no object of Python is made for a call. A
// function has its name written once; its code is kept alive until the end, so that no other takes
// its place.
#include "function_tap.h"

#include <Python.h>
#include <frameobject.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace steelyard::python {
namespace {

std::string Text(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    return "?";
  }
  return {bytes, static_cast<std::size_t>(size)};
}

class FunctionTap {
 public:
  FunctionTap(const SyObserver& observer, std::vector<std::string> prefixes, std::string own)
      : observer_(observer), prefixes_(std::move(prefixes)), own_(std::move(own)) {
    std::ranges::sort(prefixes_, std::greater{}, &std::string::size);
  }
  FunctionTap(const FunctionTap&) = delete;
  FunctionTap& operator=(const FunctionTap&) = delete;
  ~FunctionTap() {
    for (const auto& [code, id] : ids_) Py_DECREF(code);
  }

  // What functions of our own call, which hooks of the program's modules run, is not the program's.
  void Enter(PyFrameObject* frame) {
    const std::uint32_t id = IdOf(frame);
    if (id == SY_NO_ID) {
      ++own_depth_;
    } else if (own_depth_ == 0) {
      observer_.enter_range(id, SY_FUNCTION_RANGE);
    }
  }
  void Leave(PyFrameObject* frame) {
    const std::uint32_t id = IdOf(frame);
    if (id == SY_NO_ID) {
      own_depth_ = std::max(own_depth_ - 1, 0);  // those that had begun it are not counted
    } else if (own_depth_ == 0) {
      observer_.leave_range(id, SY_FUNCTION_RANGE);
    }
  }

  // The outermost first.
  void EnterAll(PyFrameObject* innermost) {
    std::vector<PyFrameObject*> frames;
    Py_XINCREF(innermost);
    for (PyFrameObject* frame = innermost; frame != nullptr; frame = PyFrame_GetBack(frame)) {
      frames.push_back(frame);
    }
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      Enter(*frame);
      own_depth_ = 0;  // a program may be run by us
      Py_DECREF(*frame);
    }
  }

 private:
  std::uint32_t IdOf(PyFrameObject* frame) {
    PyCodeObject* const code = PyFrame_GetCode(frame);
    const auto [found, is_new] = ids_.try_emplace(code, 0);
    if (!is_new) {
      Py_DECREF(code);
      return found->second;
    }
    if (Text(code->co_filename).starts_with(own_)) return found->second = SY_NO_ID;
    const std::string name = NameOf(*code);
    found->second = static_cast<std::uint32_t>(std::hash<std::string>{}(name));
    const SyEntry entry{.size = 0,
                        .kind = SY_NAME,
                        .id = found->second,
                        .numbers = {},
                        .text_size = static_cast<std::uint32_t>(name.size()),
                        .spare = 0};
    observer_.add_entry(&entry, name.data());
    return found->second;
  }

  std::string NameOf(const PyCodeObject& code) const {
    std::string file = Text(code.co_filename);
    for (const std::string& prefix : prefixes_) {
      if (!file.starts_with(prefix)) continue;
      file.erase(0, prefix.size());
      break;
    }
    return file + "(" + std::to_string(code.co_firstlineno) + "): " + Text(code.co_name);
  }

  const SyObserver& observer_;
  std::vector<std::string> prefixes_;
  std::string own_;
  std::unordered_map<PyCodeObject*, std::uint32_t> ids_;
  int own_depth_ = 0;  // functions of our own that run
};

FunctionTap*& tap() {
  static FunctionTap* the_tap = nullptr;
  return the_tap;
}

int OnEvent(PyObject*, PyFrameObject* frame, int what, PyObject*) {
  if (tap() == nullptr) return 0;
  if (what == PyTrace_CALL) tap()->Enter(frame);
  if (what == PyTrace_RETURN) tap()->Leave(frame);
  return 0;
}

}  // namespace

void BeginFunctions(const SyObserver& observer, std::vector<std::string> prefixes,
                    std::string own) {
  EndFunctions();
  tap() = new FunctionTap(observer, std::move(prefixes), std::move(own));
  tap()->EnterAll(PyEval_GetFrame());
  PyEval_SetProfile(OnEvent, nullptr);
}

void EndFunctions() {
  if (tap() == nullptr) return;
  PyEval_SetProfile(nullptr, nullptr);
  delete std::exchange(tap(), nullptr);
}

}  // namespace steelyard::python
