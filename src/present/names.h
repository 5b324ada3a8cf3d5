// SPDX-License-Identifier: Apache-2.0
//
// How a report calls things: by the names that stand in the user's code (module paths, source
// lines, arguments) and by PyTorch's names for operators and dtypes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "analyze/work.h"
#include "steelyard/program.h"
#include "steelyard/report.h"

namespace steelyard::present {

// A space at which a report does not break a line: between an input's name and its sizes.
inline constexpr std::string_view kNoBreak = "\u00a0";

// "4×128"; "scalar" for no dimensions.
std::string SizesText(std::span<const std::int64_t> sizes);

// "float32 4×128".
std::string LayoutText(const Program& program, ValueId id);

// "BertLayer" of "transformers.models.bert.modeling_bert.BertLayer".
std::string_view ShortClass(std::string_view class_name);

// The class of the model, or what its file calls it.
std::string_view ModelName(const Program& program);

// "transformers/models/bert/modeling_bert.py:99"; empty where the file does not say.
std::string SourceText(const Program& program, SourceId source);

// What follows the parent's path in the path of a module: "layer.0" of "bert.encoder.layer.0".
std::string_view RelativePath(std::string_view path, std::string_view parent);

// "1 tensor", "3 tensors": `noun` with an s unless there is one.
std::string Counted(std::int64_t count, std::string_view noun);

// What a convention counts: operations, or multiply-adds as one.
inline Unit UnitOf(const Convention& convention) { return convention.measure.unit; }

// The header of a column of work: "work (torch)".
std::string WorkHeader(const Convention& convention);

// A column of numbers, of a priority as in report::Column.
report::Column NumberColumn(std::string key, std::string header, Unit unit, int priority = 0);

// A number as a report shows it.
inline Quantity In(Unit unit, std::int64_t value, Claim claim = Claim::kExact) {
  return {.value = value, .unit = unit, .claim = claim};
}

// Sums and products stop at what fits: totals were checked, but not every sum of them.
inline std::int64_t SumOf(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

// The work of all phases together.
inline NodeWork TotalOf(const WorkReport& work) {
  NodeWork total;
  for (const NodeWork& phase : work.by_phase) total += phase;
  return total;
}

// Bytes that an operator reads and writes.
inline std::int64_t Moved(const NodeWork& work) { return SumOf(work.read, work.written); }

// The `flops` of the JSON contract: of contractions only, whatever convention the text follows.
inline std::int64_t ContractionFlops(const NodeWork& work) { return SumOf(work.macs, work.macs); }

// Operations per byte moved; 0 where nothing moves.
inline double IntensityOf(const NodeWork& work) {
  const std::int64_t moved = Moved(work);
  return moved == 0 ? 0.0 : static_cast<double>(work.flops_all) / static_cast<double>(moved);
}

// `part` of `whole` as a fraction; 0 of nothing.
inline double FractionOf(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}
inline Quantity ShareOf(std::int64_t part, std::int64_t whole, Claim claim = Claim::kExact) {
  return {.value = FractionOf(part, whole), .unit = Unit::kPercent, .claim = claim};
}

}  // namespace steelyard::present
