// SPDX-License-Identifier: Apache-2.0
//
// Where Python's calls become weighings: other threads of Python run meanwhile, and a refusal is
// raised as an exception. Totals are one list of names, from which fields and text both come. A
// weighing that has ended forgets its listener, which may refer to whoever holds it.

#include "steelyard/weigh.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
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
namespace {

// Which device it is for, and how that is set.
void BindDevice(nb::class_<WeighOptions>& weigh) {
  weigh
      .def_prop_rw(
          "device", [](const WeighOptions& options) { return options.target.name; },
          [](WeighOptions& options, std::string_view name) {
            const std::optional<Target> target = TargetNamed(name);
            if (!target) throw nb::value_error("there is no such device");
            options.target = *target;
          },
          "One of `target_names`; sets what is said of a device anew.")
      .def_prop_rw(
          "device_memory", [](const WeighOptions& options) { return options.target.memory; },
          nullptr, "Bytes that programs may take of the device; 0 of a cpu.")
      .def_prop_rw(
          "cudnn_attention",
          [](const WeighOptions& options) { return options.target.cudnn_attention; },
          [](WeighOptions& options, bool on) { options.target.cudnn_attention = on; })
      .def_prop_rw(
          "deterministic", [](const WeighOptions& options) { return options.target.deterministic; },
          [](WeighOptions& options, bool on) { options.target.deterministic = on; })
      .def_prop_rw(
          "torch_release",
          [](const WeighOptions& options) {
            return "2." + std::to_string(options.target.torch_minor);
          },
          [](WeighOptions& options, std::string_view release) {
            const std::optional<int> minor = TorchMinorOf(release);
            if (!minor) throw nb::value_error("of this release nothing is known");
            options.target.torch_minor = *minor;
          },
          "One of `torch_releases`: whose code of CUDA runs.");
}

void BindOptionsOfWeighing(nb::module_& module) {
  nb::class_<GenerateOptions>(module, "GenerateOptions",
                              "Text that a model writes after a prompt, token by token.")
      .def(nb::init<>())
      .def_rw("prompt", &GenerateOptions::prompt)
      .def_rw("tokens", &GenerateOptions::tokens)
      .def_rw("beams", &GenerateOptions::beams)
      .def_rw("store", &GenerateOptions::store)
      .def_rw("numbers", &GenerateOptions::numbers)
      .def_rw("block", &GenerateOptions::block)
      .def_rw("shared_prefix", &GenerateOptions::shared_prefix)
      .def_rw("bandwidth", &GenerateOptions::bandwidth)
      .def_rw("operations", &GenerateOptions::operations);
  nb::class_<WeighOptions> weigh(module, "WeighOptions", "What is weighed, and how it is counted.");
  weigh.def(nb::init<>())
      .def_rw("path", &WeighOptions::path)
      .def_rw("importer", &WeighOptions::from)
      .def_rw("dtype", &WeighOptions::dtype, nb::arg().none())
      .def_rw("attention", &WeighOptions::attention)
      .def_rw("use_cache", &WeighOptions::use_cache)
      .def_rw("generate", &WeighOptions::generate, nb::arg().none())
      .def_rw("bind", &WeighOptions::bind)
      .def_rw("mode", &WeighOptions::mode)
      .def_rw("train", &WeighOptions::train)
      .def_rw("amp", &WeighOptions::amp)
      .def_rw("runtime", &WeighOptions::runtime)
      .def_rw("schedule", &WeighOptions::schedule)
      .def_rw("budget", &WeighOptions::budget, nb::arg().none())
      .def_rw("progress", &WeighOptions::progress)
      .def_rw("count", &WeighOptions::count)
      .def_rw("at", &WeighOptions::at)
      .def_rw("strict", &WeighOptions::strict)
      .def_rw("fit", &WeighOptions::fit, nb::arg().none())
      .def_rw("devices", &WeighOptions::devices)
      .def_rw("alloc_conf", &WeighOptions::alloc_conf)
      .def_rw("segments", &WeighOptions::segments)
      .def_rw("as_module", &WeighOptions::as_module)
      .def_rw("hold_variables", &WeighOptions::hold_variables)
      .def_rw("advise", &WeighOptions::advise);
  BindDevice(weigh);
  nb::class_<ReportOptions>(module, "ReportOptions", "What of a weighing a report shows.")
      .def(nb::init<>())
      .def_rw("depth", &ReportOptions::depth)
      .def_rw("top", &ReportOptions::top)
      .def_rw("classes", &ReportOptions::classes)
      .def_rw("detailed", &ReportOptions::detailed)
      .def_rw("events", &ReportOptions::events)
      .def_rw("timings", &ReportOptions::timings)
      .def_rw("table", &ReportOptions::table);
}

constexpr std::pair<const char*, std::int64_t Totals::*> kTotals[] = {
    {"parameter_count", &Totals::parameter_count},
    {"parameter_bytes", &Totals::parameter_bytes},
    {"buffer_bytes", &Totals::buffer_bytes},
    {"forward_macs", &Totals::forward_macs},
    {"forward_flops", &Totals::forward_flops},
    {"forward_flops_all", &Totals::forward_flops_all},
    {"resident_bytes", &Totals::resident_bytes},
    {"peak_bytes", &Totals::peak_bytes},
    {"operators", &Totals::operators},
    {"modelled_operators", &Totals::modelled_operators}};

// "Totals(parameter_count=7850, ...)"
std::string TextOf(const Totals& totals) {
  std::string text;
  for (const auto& [name, field] : kTotals) {
    text.append(text.empty() ? "Totals(" : ", ").append(name).append("=");
    text.append(std::to_string(totals.*field));
  }
  return text + ")";
}

void BindWeighings(nb::module_& module) {
  nb::class_<Totals> totals(module, "Totals",
                            "Parameters, work of the forward pass, and memory of all that was "
                            "weighed.");
  for (const auto& [name, field] : kTotals) totals.def_ro(name, field);
  totals.def("__repr__", &TextOf);
  nb::class_<Weighing>(module, "Weighing", "A weighed model.")
      .def_ro("totals", &Weighing::totals)
      .def_ro("elapsed_seconds", &Weighing::elapsed_seconds)
      .def_ro("times", &Weighing::times)
      .def_ro("fit", &Weighing::fit)
      .def_ro("baseline", &Weighing::baseline)
      .def_ro("advice", &Weighing::advice)
      .def("describe", nb::overload_cast<const Weighing&, const ReportOptions&>(&Describe),
           nb::arg("options"), nb::call_guard<nb::gil_scoped_release>(),
           "The report as a document.")
      .def(
          "write_report",
          [](const Weighing& weighing, std::string_view format, const ReportOptions& options,
             const report::RenderOptions& render) {
            return Unwrap(WriteReport(weighing, format, options, render));
          },
          nb::arg("format"), nb::arg("options"), nb::arg("render"),
          nb::call_guard<nb::gil_scoped_release>(), "The report in the format of that name.");
}

// A listener of Python's may refer to what holds the weighing; nobody calls it any more.
Weighing Finished(Weighing weighing) {
  weighing.options.progress = nullptr;
  return weighing;
}

template <std::vector<Choice> (*kChoices)()>
std::vector<std::string_view> Names() {
  std::vector<std::string_view> names;
  for (const Choice& choice : kChoices()) names.push_back(choice.name);
  return names;
}

void BindComparisons(nb::module_& module) {
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

}  // namespace

void BindWeigh(nb::module_& module) {
  BindOptionsOfWeighing(module);
  BindWeighings(module);
  BindComparisons(module);
  module.def(
      "weigh", [](const WeighOptions& options) { return Finished(Unwrap(Weigh(options))); },
      nb::arg("options"), nb::call_guard<nb::gil_scoped_release>(),
      "Weighs the model in the file that the options name.");
  module.def(
      "weigh",
      [](const Program& program, const WeighOptions& options) {
        return Finished(Unwrap(Weigh(Program(program), options)));
      },
      nb::arg("program"), nb::arg("options"), nb::call_guard<nb::gil_scoped_release>(),
      "Weighs a program that is in memory.");
  module.def("report_formats", &Names<&ReportFormats>);
  module.def("report_tables", &Names<&ReportTables>);
  module.def("counting_conventions", &Names<&CountingConventions>);
  module.def("runtimes", &Names<&Runtimes>);
  module.def("schedules", &Names<&Schedules>);
  module.def("target_names", &TargetNames);
  module.def("torch_releases", &TorchReleases);
  module.def("cache_stores", &Names<&CacheStores>);
  module.def("cache_numbers", &Names<&CacheNumbers>);
  module.def("format_of_file", &FormatOfFile, nb::arg("path"));
}

}  // namespace steelyard::python
