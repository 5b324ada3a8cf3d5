// SPDX-License-Identifier: Apache-2.0
#include "steelyard/units.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>

#include "bindings.h"
#include "text.h"

namespace nb = nanobind;

namespace steelyard::python {

void BindUnits(nb::module_& module) {
  nb::enum_<Unit>(module, "Unit", "What a number measures.")
      .value("NONE", Unit::kNone)
      .value("COUNT", Unit::kCount)
      .value("BYTES", Unit::kBytes)
      .value("TRAFFIC", Unit::kTraffic)
      .value("FLOPS", Unit::kFlops)
      .value("MACS", Unit::kMacs)
      .value("BYTES_PER_SECOND", Unit::kBytesPerSecond)
      .value("FLOPS_PER_SECOND", Unit::kFlopsPerSecond)
      .value("FLOPS_PER_BYTE", Unit::kFlopsPerByte)
      .value("SECONDS", Unit::kSeconds)
      .value("PERCENT", Unit::kPercent)
      .value("BITS", Unit::kBits)
      .value("RATIO", Unit::kRatio);
  nb::enum_<UnitStyle>(module, "UnitStyle", "How much of a number is shown.")
      .value("AUTO", UnitStyle::kAuto)
      .value("DECIMAL", UnitStyle::kDecimal)
      .value("EXACT", UnitStyle::kExact);
  nb::enum_<Sign>(module, "Sign")
      .value("IF_NEGATIVE", Sign::kIfNegative)
      .value("ALWAYS", Sign::kAlways);
  nb::enum_<Claim>(module, "Claim")
      .value("EXACT", Claim::kExact)
      .value("AT_LEAST", Claim::kAtLeast)
      .value("ESTIMATED", Claim::kEstimated);
  nb::class_<Quantity>(module, "Quantity", "A number and all that is needed to write it.")
      .def_ro("value", &Quantity::value)
      .def_ro("unit", &Quantity::unit)
      .def_ro("claim", &Quantity::claim)
      .def_ro("sign", &Quantity::sign);
  module.def(
      "format",
      [](std::int64_t value, Unit unit, UnitStyle style, Sign sign) {
        return Format(value, unit, {.style = style, .sign = sign});
      },
      nb::arg("value"), nb::arg("unit"), nb::arg("style") = UnitStyle::kAuto,
      nb::arg("sign") = Sign::kIfNegative, "The number with its unit, as reports write it.");
  module.def(
      "format",
      [](double value, Unit unit, UnitStyle style, Sign sign) {
        return Format(value, unit, {.style = style, .sign = sign});
      },
      nb::arg("value"), nb::arg("unit"), nb::arg("style") = UnitStyle::kAuto,
      nb::arg("sign") = Sign::kIfNegative);
  module.def("parse_bytes", &ParseBytes, nb::arg("text"),
             "The bytes that a text such as 80GiB says, or None.");
}

}  // namespace steelyard::python
