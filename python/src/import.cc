// SPDX-License-Identifier: Apache-2.0
#include "steelyard/import.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.h"
#include "steelyard/program.h"
#include "text.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {

void BindImport(nb::module_& module) {
  nb::class_<ModuleFacts>(module, "ModuleFacts", "What is known of a module at hand.")
      .def(
          "__init__",
          [](ModuleFacts* facts, const std::map<std::string, std::string>& stored,
             const std::optional<std::vector<std::pair<std::uint32_t, std::vector<std::string>>>>&
                 let_go,
             const std::vector<std::pair<std::string, std::int64_t>>& kept,
             std::vector<std::string> keeps,
             const std::vector<std::pair<std::uint32_t, std::vector<std::string>>>& given,
             const std::vector<std::pair<std::uint32_t, std::string>>& requires_gradient) {
            new (facts) ModuleFacts();
            for (const auto& [name, place] : stored) facts->stored.push_back({name, place});
            for (const auto& [name, bytes] : kept) facts->kept.push_back({name, bytes});
            facts->keeps = std::move(keeps);
            for (const auto& [node, values] : given) facts->given.push_back({node, values});
            for (const auto& [before, value] : requires_gradient) {
              facts->requires_gradient.push_back({before, value});
            }
            if (!let_go) return;
            facts->let_go.emplace();
            for (const auto& [node, values] : *let_go) facts->let_go->push_back({node, values});
          },
          nb::arg("stored"), nb::arg("let_go").none() = nb::none(), nb::arg("kept") = nb::list(),
          nb::arg("keeps") = nb::list(), nb::arg("given") = nb::list(),
          nb::arg("requires_gradient") = nb::list(),
          "Where tensors lie, by their names; after which nodes which values are let go; what it "
          "holds of its last call, by names and in bytes, and which values it keeps; by the last "
          "nodes of checkpointed functions what these are given; and before which nodes which "
          "values begin to require a gradient.")
      .def_prop_rw(
          "sizes",
          [](const ModuleFacts& facts) {
            return std::map<std::string, std::int64_t>(facts.sizes.begin(), facts.sizes.end());
          },
          [](ModuleFacts& facts, const std::map<std::string, std::int64_t>& sizes) {
            facts.sizes.assign(sizes.begin(), sizes.end());
          },
          "What sizes that only the data tell were for the example inputs, by their symbols.");
  module.def(
      "import_file",
      [](const std::string& path, const std::string& from, bool as_module,
         const std::optional<ModuleFacts>& facts) {
        return Unwrap(ImportFile(
            path, {.from = from, .as_module = as_module, .module = facts ? &*facts : nullptr}));
      },
      nb::arg("path"), nb::arg("importer") = "", nb::arg("as_module") = false,
      nb::arg("module").none() = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
      "The model in a file.");
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
