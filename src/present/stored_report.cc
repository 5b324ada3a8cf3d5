// SPDX-License-Identifier: Apache-2.0
//
// Decides what of a stored report is believed. docs/report.schema.json states the fields; these are
// the ones that a comparison reads, and what must hold between them.
#include "present/stored_report.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "steelyard/error.h"
#include "steelyard/report.h"
#include "support/checked.h"

namespace steelyard::present {
namespace {

using report::DataKind;
using report::DataView;

enum class Need : unsigned char { kRequired, kOptional };

// A field of the report, or of an element of one of its arrays.
struct Field {
  std::string_view path;
  DataKind kind;  // numbers are whole and not negative
  Need need = Need::kRequired;
};

constexpr std::array kFields = {
    Field{"model.name", DataKind::kText},
    Field{"convention.name", DataKind::kText},
    Field{"inputs", DataKind::kArray},
    Field{"parameters.count", DataKind::kInt},
    Field{"parameters.bytes", DataKind::kInt},
    Field{"buffers.bytes", DataKind::kInt},
    Field{"memory.resident", DataKind::kInt},
    Field{"memory.peak", DataKind::kInt},
    Field{"memory.peak_delta", DataKind::kInt},
    Field{"memory.at_peak", DataKind::kObject},
    Field{"macs.forward", DataKind::kInt},
    Field{"macs.backward", DataKind::kInt},
    Field{"flops.forward", DataKind::kInt},
    Field{"flops.backward", DataKind::kInt},
    Field{"flops_all.forward", DataKind::kInt},
    Field{"flops_all.backward", DataKind::kInt},
    Field{"flops_all.optimizer", DataKind::kInt},
    Field{"modules", DataKind::kArray},
    Field{"traffic.forward", DataKind::kInt, Need::kOptional},
    Field{"traffic.backward", DataKind::kInt, Need::kOptional},
    Field{"traffic.optimizer", DataKind::kInt, Need::kOptional},
    Field{"operators", DataKind::kArray, Need::kOptional},
    Field{"run.device", DataKind::kText, Need::kOptional},
    Field{"run.step", DataKind::kText, Need::kOptional},
    Field{"run.runtime", DataKind::kText, Need::kOptional},
    Field{"run.does", DataKind::kText, Need::kOptional},
    Field{"run.of_steps", DataKind::kText, Need::kOptional},
    Field{"parameters.by_dtype", DataKind::kObject, Need::kOptional},
    Field{"claims.work", DataKind::kText, Need::kOptional},
    Field{"claims.memory", DataKind::kText, Need::kOptional},
};
constexpr std::array kInputFields = {Field{"name", DataKind::kText},
                                     Field{"shape", DataKind::kArray}};
constexpr std::array kModuleFields = {Field{"path", DataKind::kText},
                                      Field{"depth", DataKind::kInt},
                                      Field{"parameters", DataKind::kInt},
                                      Field{"flops", DataKind::kInt},
                                      Field{"parameter_bytes", DataKind::kInt, Need::kOptional},
                                      Field{"activation_bytes", DataKind::kInt}};
constexpr std::array kOperatorFields = {
    Field{"op", DataKind::kText}, Field{"calls", DataKind::kInt}, Field{"flops", DataKind::kInt},
    Field{"flops_all", DataKind::kInt}};

std::string_view WordOf(DataKind kind) {
  switch (kind) {
    case DataKind::kObject:
      return "an object";
    case DataKind::kArray:
      return "an array";
    case DataKind::kInt:
      return "a whole number from 0 on";
    case DataKind::kDouble:
      return "a number";
    case DataKind::kText:
      return "a text";
    case DataKind::kBool:
      return "true or false";
  }
  return {};
}

tl::unexpected<Error> Wrong(std::string_view place, std::string message) {
  return Unexpected(
      InvalidInput(std::move(message), fmt::format("field {}", place),
                   "Write the report anew with steelyard weigh MODEL --format json."));
}

Status CheckValue(DataView value, DataKind kind, std::string_view place) {
  const bool fits = value.kind() == kind && (kind != DataKind::kInt || value.AsInt() >= 0);
  if (!fits) return Wrong(place, fmt::format("it is not {}", WordOf(kind)));
  return {};
}

// `place` is that of `container`, with the dot.
Status CheckField(DataView container, const Field& field, std::string_view place) {
  const std::optional<DataView> value = container.Find(field.path);
  const std::string at = fmt::format("{}{}", place, field.path);
  if (value) return CheckValue(*value, field.kind, at);
  if (field.need == Need::kOptional) return {};
  return Wrong(at, "it is missing");
}

// Whether elements of an array may share their first field, a text.
enum class Names : unsigned char { kAny, kUnique };

// Every element of the array is an object with these fields.
template <std::size_t kCount>
Status CheckRows(DataView report, std::string_view array, const std::array<Field, kCount>& fields,
                 Names names) {
  const std::optional<DataView> rows = report.Find(array);
  if (!rows) return {};
  std::unordered_set<std::string_view> seen;
  std::size_t i = 0;
  for (const DataView row : *rows) {
    const std::string place = fmt::format("{}[{}]", array, i++);
    SY_RETURN_IF_ERROR(CheckValue(row, DataKind::kObject, place));
    for (const Field& field : fields) {
      SY_RETURN_IF_ERROR(CheckField(row, field, place + "."));
    }
    const std::string_view name = row.Find(fields[0].path)->AsText();
    if (names == Names::kUnique && !seen.insert(name).second) {
      return Wrong(fmt::format("{}.{}", place, fields[0].path),
                   fmt::format("\"{}\" stands there twice", name));
    }
  }
  return {};
}

Status CheckShapes(DataView report) {
  std::size_t i = 0;
  const DataView inputs = *report.Find("inputs");
  for (const DataView input : inputs) {
    const std::string place = fmt::format("inputs[{}].shape", i++);
    const DataView shape = *input.Find("shape");
    for (const DataView size : shape) {
      SY_RETURN_IF_ERROR(CheckValue(size, DataKind::kInt, place));
    }
  }
  return {};
}

// What the contract promises of the memory: every byte is in one category.
Status CheckMemory(DataView memory) {
  CheckedInt sum = 0;
  const DataView at_peak = *memory.Find("at_peak");
  for (const DataView category : at_peak) {
    SY_RETURN_IF_ERROR(
        CheckValue(category, DataKind::kInt, fmt::format("memory.at_peak.{}", category.key())));
    sum += category.AsInt();
  }
  const std::int64_t peak = memory.Find("peak")->AsInt();
  // On a device with whole blocks the categories hold what was asked for.
  const std::optional<DataView> requested = memory.Find("requested_peak");
  if (sum.Get() != (requested ? requested->AsInt() : peak)) {
    return Wrong("memory.at_peak",
                 fmt::format("its categories do not add up to the peak, {}", peak));
  }
  const CheckedInt whole =
      CheckedInt(memory.Find("resident")->AsInt()) + memory.Find("peak_delta")->AsInt();
  if (whole.Get() != peak) {
    return Wrong("memory.peak_delta",
                 fmt::format("with memory.resident it does not make the peak, {}", peak));
  }
  return {};
}

}  // namespace

Status CheckStoredReport(DataView report) {
  for (const Field& field : kFields) SY_RETURN_IF_ERROR(CheckField(report, field, ""));
  SY_RETURN_IF_ERROR(CheckRows(report, "inputs", kInputFields, Names::kAny));
  SY_RETURN_IF_ERROR(CheckShapes(report));
  SY_RETURN_IF_ERROR(CheckMemory(*report.Find("memory")));
  SY_RETURN_IF_ERROR(CheckRows(report, "modules", kModuleFields, Names::kUnique));
  return CheckRows(report, "operators", kOperatorFields, Names::kUnique);
}

}  // namespace steelyard::present
