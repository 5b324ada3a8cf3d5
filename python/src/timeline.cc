// SPDX-License-Identifier: Apache-2.0
#include "steelyard/timeline.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string_view.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "bindings.h"
#include "text.h"

namespace nb = nanobind;

namespace steelyard::python {
namespace {

// What fills a peak, by the keys of reports.
std::map<std::string, std::int64_t> ByName(const ByCategory& bytes) {
  std::map<std::string, std::int64_t> out;
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    out.emplace(NameOf(category), Of(bytes, category));
  }
  return out;
}

}  // namespace

void BindTimeline(nb::module_& module) {
  nb::class_<StageTime>(module, "StageTime", "How long a part of a weighing took.")
      .def_ro("stage", &StageTime::stage)
      .def_ro("seconds", &StageTime::seconds);
  nb::class_<Baseline>(module, "Baseline", "What the same costs without mixed precision.")
      .def_ro("peak_bytes", &Baseline::peak_bytes)
      .def_prop_ro("at_peak", [](const Baseline& baseline) { return ByName(baseline.at_peak); })
      .def_ro("moved_bytes", &Baseline::moved_bytes);
  nb::class_<Fit>(module, "Fit", "What a search for the largest size that fits has found.")
      .def_ro("limit", &Fit::limit)
      .def_ro("dimension", &Fit::dimension)
      .def_ro("place", &Fit::place)
      .def_ro("size", &Fit::size)
      .def_ro("next_size", &Fit::next_size)
      .def_ro("next_peak", &Fit::next_peak)
      .def_ro("refusal", &Fit::refusal)
      .def_ro("weighings", &Fit::weighings);
  nb::class_<Advice>(module, "Advice", "A change of a training step, and what it is with it.")
      .def_ro("change", &Advice::change)
      .def_ro("words", &Advice::words)
      .def_ro("peak", &Advice::peak)
      .def_ro("less", &Advice::less)
      .def_ro("extra_flops", &Advice::extra_flops)
      .def_ro("executed_flops", &Advice::executed_flops)
      .def_ro("changes_training", &Advice::changes_training);
}

}  // namespace steelyard::python
