// SPDX-License-Identifier: Apache-2.0
//
// A record as PyTorch's profiler would tell it; while it is read and written, other threads of
// Python run.
#include "session/profile.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.h"
#include "text.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {
namespace {

constexpr double kMicroseconds = 1e-3;  // of a nanosecond

void BindAverages(nb::class_<ProfiledRun>& profile) {
  profile.def(
      "averages",
      [](const ProfiledRun& self, bool by_inputs, int stack_depth, bool by_module, bool by_overload,
         bool functions) {
        return Averages(self, {.stack_depth = stack_depth,
                               .by_inputs = by_inputs,
                               .by_module = by_module,
                               .by_overload = by_overload,
                               .functions = functions});
      },
      nb::kw_only(), nb::arg("by_inputs"), nb::arg("stack_depth"), nb::arg("by_module"),
      nb::arg("by_overload"), nb::arg("functions"), nb::call_guard<nb::gil_scoped_release>());
}

const char* WordOf(SpanKind kind) {
  switch (kind) {
    case SpanKind::kOp:
      return "op";
    case SpanKind::kNode:
      return "node";
    case SpanKind::kEngine:
      return "engine";
    case SpanKind::kRange:
      return "range";
    case SpanKind::kFunction:
      return "function";
    case SpanKind::kModule:
      return "module";
  }
  return "";
}

// Rows of plain values: there may be many. Lists of inputs and names stand once.
void BindSpans(nb::class_<ProfiledRun>& profile) {
  profile.def_prop_ro("names", [](const ProfiledRun& self) { return self.spans.names; })
      .def(
          "span_rows",
          [](const ProfiledRun& self, bool stacks) {
            nb::typed<nb::list, nb::any> rows;
            for (const ProfiledSpan& row : SpanRows(self, stacks)) {
              rows.append(nb::make_tuple(WordOf(row.kind), row.name, row.overload, row.begin,
                                         row.end, row.thread, row.forward_thread, row.sequence,
                                         row.inputs, row.bytes, row.flops, row.module, row.stack));
            }
            return rows;
          },
          nb::arg("stacks"))
      .def("inputs_of",
           [](const ProfiledRun& self, std::uint64_t inputs) {
             nb::typed<nb::list, nb::any> rows;
             const auto found = self.spans.recording.inputs.find(inputs);
             if (found == self.spans.recording.inputs.end()) return rows;
             for (const RecordedInput& input : found->second) {
               rows.append(nb::make_tuple(input.sizes, input.strides, input.type, input.value));
             }
             return rows;
           })
      .def("device_rows",
           [](const ProfiledRun& self) {
             nb::typed<nb::list, nb::any> rows;
             for (const DeviceSpan& span : self.spans.device) {
               rows.append(nb::make_tuple(span.name, NanosecondsOf(self, span.begin),
                                          NanosecondsOf(self, span.end), span.device, span.stream,
                                          span.span == SY_NO_ID ? -1 : std::int64_t{span.span}));
             }
             return rows;
           })
      .def("memory_outside", [](const ProfiledRun& self) {
        nb::typed<nb::list, nb::any> rows;
        for (const MemoryChange& change : self.spans.memory) {
          if (change.span != SY_NO_ID) continue;
          rows.append(nb::make_tuple(NanosecondsOf(self, change.tick),
                                     self.spans.threads[change.thread], change.bytes));
        }
        return rows;
      });
}

void BindTrace(nb::class_<ProfiledRun>& profile) {
  profile.def(
      "trace",
      [](const ProfiledRun& self, TraceForm form, std::string name,
         std::vector<std::pair<std::string, std::string>> properties) {
        std::string trace;
        {
          const nb::gil_scoped_release free;
          trace = TraceOf(self, {form, std::move(name), std::move(properties)});
        }
        return nb::bytes(trace.data(), trace.size());
      },
      nb::arg("form"), nb::arg("name"), nb::arg("properties"));
  profile.def(
      "write_trace",
      [](const ProfiledRun& self, TraceForm form, const std::string& path,
         std::vector<std::pair<std::string, std::string>> properties) {
        const nb::gil_scoped_release free;
        const Status written = WriteTrace(self, path, {form, path, std::move(properties)});
        if (!written) throw Failure(written.error());
      },
      nb::arg("form"), nb::arg("path"), nb::arg("properties"));
}

}  // namespace

void BindProfile(nb::module_& module) {
  nb::class_<KeyAverage>(module, "KeyAverage", "Spans that are alike, summed.")
      .def_ro("name", &KeyAverage::name)
      .def_prop_ro("is_user_annotation",
                   [](const KeyAverage& row) { return row.kind == SpanKind::kRange; })
      .def_ro("inputs", &KeyAverage::inputs)
      .def_ro("overload", &KeyAverage::overload)
      .def_ro("stack", &KeyAverage::stack)
      .def_ro("module", &KeyAverage::module)
      .def_ro("is_outermost", &KeyAverage::outermost)
      .def_ro("count", &KeyAverage::count)
      .def_prop_ro("microseconds",
                   [](const KeyAverage& row) {
                     return kMicroseconds * static_cast<double>(row.nanoseconds);
                   })
      .def_prop_ro("own_microseconds",
                   [](const KeyAverage& row) {
                     return kMicroseconds * static_cast<double>(row.own_nanoseconds);
                   })
      .def_prop_ro("device_microseconds",
                   [](const KeyAverage& row) {
                     return kMicroseconds * static_cast<double>(row.device_nanoseconds);
                   })
      .def_prop_ro("own_device_microseconds",
                   [](const KeyAverage& row) {
                     return kMicroseconds * static_cast<double>(row.own_device_nanoseconds);
                   })
      .def_ro("on_device", &KeyAverage::on_device)
      .def_ro("bytes", &KeyAverage::bytes)
      .def_ro("own_bytes", &KeyAverage::own_bytes)
      .def_ro("flops", &KeyAverage::flops);
  auto profile =
      nb::class_<ProfiledRun>(module, "Profile", "What a program did, span by span.")
          .def_prop_ro("events", [](const ProfiledRun& self) { return self.spans.events; })
          .def_prop_ro("spans", [](const ProfiledRun& self) { return self.spans.spans.size(); })
          .def_prop_ro("lost", [](const ProfiledRun& self) { return self.spans.recording.lost; });
  BindAverages(profile);
  BindSpans(profile);
  BindTrace(profile);
  profile.def(
      "stack_lines",
      [](const ProfiledRun& self, bool on_device) {
        return StackLines(self, on_device ? StackTime::kDevice : StackTime::kProcessor);
      },
      nb::kw_only(), nb::arg("on_device"), nb::call_guard<nb::gil_scoped_release>());
  nb::enum_<TraceForm>(module, "TraceForm", "How a trace is written.")
      .value("CHROME", TraceForm::kChrome)
      .value("PERFETTO", TraceForm::kPerfetto);
  nb::enum_<MemoryForm>(module, "MemoryForm", "What is written of memory over time.")
      .value("SIZES", MemoryForm::kSizes)
      .value("CHANGES", MemoryForm::kChanges)
      .value("PAGE", MemoryForm::kPage);
  module.def(
      "memory_over_time",
      [](const nb::bytes& record, std::string_view where, MemoryForm form) {
        const std::string_view bytes(record.c_str(), record.size());
        const nb::gil_scoped_release free;
        return Unwrap(MemoryOverTime(bytes, where, form));
      },
      nb::arg("record"), nb::arg("where"), nb::arg("form"), "Memory that a record tells of.");
  module.def(
      "read_profile",
      [](const nb::bytes& record, std::string_view where, bool flops) {
        const std::string_view bytes(record.c_str(), record.size());
        const nb::gil_scoped_release free;
        return Unwrap(ReadProfile(bytes, where, {.flops = flops}));
      },
      nb::arg("record"), nb::arg("where"), nb::arg("flops") = false,
      "A record, read as PyTorch's profiler would tell it.");
}

}  // namespace steelyard::python
