// SPDX-License-Identifier: Apache-2.0
#include "steelyard/program.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "analyze/parameters.h"
#include "bindings.h"
#include "ops/op_def.h"
#include "pass/tie_parameters.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {
namespace {

std::pair<std::int64_t, std::int64_t> LearnedSize(const Program& program) {
  const Program tied = Unwrap(TieParameters(program));
  std::set<StorageId> seen;
  std::pair<std::int64_t, std::int64_t> size{0, 0};
  for (const NamedTensor& parameter : tied.parameters) {
    const TensorView tensor(tied, parameter.value);
    const StorageId storage = tensor.value().storage;
    if (storage != kNoId && !seen.insert(storage).second) continue;
    if (tied.stored_as(parameter).find("float") == std::string_view::npos) continue;
    size.first += tensor.count();
    size.second += BytesOf(tied, parameter);
  }
  return size;
}

}  // namespace

void BindProgram(nb::module_& module) {
  nb::class_<Program>(module, "Program", "A model: its graph, as a file or a builder has it.")
      .def_prop_ro("name", [](const Program& program) { return program.text(program.name); })
      .def_prop_ro(
          "calls", [](const Program& program) { return program.main().nodes.size(); },
          "How many operators its main graph calls.")
      .def(
          "add_note",
          [](Program& program, std::string_view text) {
            program.notes.push_back(program.strings.Intern(text));
          },
          nb::arg("text"), "Has reports say something, a line.")
      .def("learned_size", LearnedSize,
           "How many floating-point numbers its parameters are, tied ones once, and their bytes: "
           "known whatever sizes of inputs are open.");
}

}  // namespace steelyard::python
