// SPDX-License-Identifier: Apache-2.0
#include "steelyard/program.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <string_view>
#include <utility>

#include "bindings.h"
#include "session/learned_size.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {
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
      .def(
          "learned_size",
          [](const Program& program) {
            const LearnedSize size = Unwrap(LearnedSizeOf(program));
            return std::pair(size.count, size.bytes);
          },
          "How many floating-point numbers its parameters are, tied ones once, and their bytes: "
          "known whatever sizes of inputs are open.");
}

}  // namespace steelyard::python
