// SPDX-License-Identifier: Apache-2.0
//
// A document can be read in Python and not changed: blocks and spans as C++ made them, for what
// draws them itself, and `render` for the formats. While it renders, other threads of Python run.

#include "steelyard/report.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "bindings.h"
#include "text.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {
namespace {

void BindWords(nb::module_& module) {
  nb::enum_<report::Style>(module, "Style")
      .value("PLAIN", report::Style::kPlain)
      .value("STRONG", report::Style::kStrong)
      .value("DIM", report::Style::kDim)
      .value("WARNING", report::Style::kWarning)
      .value("BLUE", report::Style::kBlue)
      .value("GREEN", report::Style::kGreen)
      .value("YELLOW", report::Style::kYellow)
      .value("RED", report::Style::kRed);
  nb::enum_<report::Align>(module, "Align")
      .value("LEFT", report::Align::kLeft)
      .value("RIGHT", report::Align::kRight);
  nb::class_<report::Span>(module, "Span", "A piece of text or a number.")
      .def_ro("content", &report::Span::content)
      .def_ro("style", &report::Span::style);
}

void BindBlocks(nb::module_& module) {
  nb::class_<report::Headline>(module, "Headline")
      .def_ro("title", &report::Headline::title)
      .def_ro("text", &report::Headline::text);
  nb::class_<report::Paragraph>(module, "Paragraph")
      .def_ro("text", &report::Paragraph::text)
      .def_ro("level", &report::Paragraph::level);
  nb::class_<report::Bar>(module, "Bar")
      .def_ro("label", &report::Bar::label)
      .def_ro("amount", &report::Bar::amount)
      .def_ro("fraction", &report::Bar::fraction)
      .def_ro("rate", &report::Bar::rate)
      .def_ro("note", &report::Bar::note)
      .def_ro("style", &report::Bar::style);
  nb::class_<report::BarList>(module, "BarList").def_ro("bars", &report::BarList::bars);
  nb::class_<report::ChartPoint>(module, "ChartPoint")
      .def_ro("x", &report::ChartPoint::x)
      .def_ro("value", &report::ChartPoint::value);
  nb::class_<report::ChartSeries>(module, "ChartSeries")
      .def_ro("name", &report::ChartSeries::name)
      .def_ro("points", &report::ChartSeries::points)
      .def_ro("style", &report::ChartSeries::style);
  nb::class_<report::Chart>(module, "Chart")
      .def_ro("unit", &report::Chart::unit)
      .def_ro("baseline", &report::Chart::baseline)
      .def_ro("series", &report::Chart::series);
  nb::class_<report::NoteList>(module, "NoteList")
      .def_ro("notes", &report::NoteList::notes)
      .def_ro("style", &report::NoteList::style);
}

void BindTable(nb::module_& module) {
  nb::class_<report::Column>(module, "Column")
      .def_ro("key", &report::Column::key)
      .def_ro("header", &report::Column::header)
      .def_ro("unit", &report::Column::unit)
      .def_ro("align", &report::Column::align);
  nb::class_<report::Row>(module, "Row")
      .def_ro("cells", &report::Row::cells)
      .def_ro("level", &report::Row::level);
  nb::class_<report::Table>(module, "Table")
      .def_ro("columns", &report::Table::columns)
      .def_ro("rows", &report::Table::rows)
      .def_ro("level", &report::Table::level);
}

}  // namespace

void BindReport(nb::module_& module) {
  module.attr("VERSION") = kVersion;
  module.attr("REPORT_SCHEMA") = kReportSchema;
  BindWords(module);
  BindBlocks(module);
  BindTable(module);
  nb::class_<report::RenderOptions>(module, "RenderOptions")
      .def(nb::init<>())
      .def_rw("width", &report::RenderOptions::width)
      .def_rw("colour", &report::RenderOptions::colour)
      .def_rw("unicode", &report::RenderOptions::unicode)
      .def_rw("units", &report::RenderOptions::units)
      .def_rw("table", &report::RenderOptions::table);
  nb::class_<report::Document>(module, "Document",
                               "A report: data for programs, blocks for people.")
      .def_ro("body", &report::Document::body)
      .def(
          "render",
          [](const report::Document& document, std::string_view format,
             const report::RenderOptions& options) {
            return Unwrap(report::Render(document, format, options));
          },
          nb::arg("format"), nb::arg("options"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace steelyard::python
