// SPDX-License-Identifier: Apache-2.0
//
// How tools count work. Rules of operators say what is done (Work); a convention says what of it
// counts. Most weigh the kinds of arithmetic that kernels do; some count calls as the model makes
// them, by a list of their own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ops/op_def.h"
#include "steelyard/units.h"

namespace steelyard {

// What one operation of a kind counts for.
struct Weights {
  int mac = 0;
  int alu = 0;
  int special = 0;
  int compare = 0;
  int move = 0;
};

// A call that a tool counts by a rule of its own. The first rule of a list that fits decides.
struct CallRule {
  std::string_view op = {};  // as the model calls it, without overload: "aten::layer_norm"
  // What it counts: for each multiply-add of its contractions, ...
  int mac = 0;
  int input = 0;    // each element of its first operand,
  int output = 0;   // each element of its first result,
  int spatial = 0;  // each point of that result's image: its dimensions after the second.
  int times = -1;   // Elements count as often as this argument says, by its place; -1: once.
  // The rule fits where these arguments, by their places, are passed and true. -1: either way.
  int given = -1;
  int truth = -1;
};

// One number that a tool gives for a model.
struct Measure {
  std::string_view name;  // "flops", "macs", "transcendentals"
  Unit unit;
  Weights weights = {};  // of kernels, forward and backward, or
  std::span<const CallRule> calls =
      {};  // of calls: those without a rule, and backward, are nothing
};

struct Convention {
  std::string_view name;     // "torch"
  std::string_view summary;  // what it counts, for reports: "contractions, 2 x multiply-adds"
  std::string_view source;   // where the convention is stated, and where it is followed roughly
  Measure measure;
  // What the tool prints beside it; null where that is nothing.
  const Measure* beside = nullptr;
  // Operators, without overloads, whose products the tool leaves out although the convention
  // includes them: a kernel of that name, and all that runs within a call of it; unless that is in
  // a call of one that is counted.
  std::span<const std::string_view> uncounted = {};
  std::span<const std::string_view> counted = {};
  // Multiply-adds that the tool counts of a kernel beyond those it does; null: none.
  Count (*excess)(const OpView& kernel) = nullptr;
  // It prints billions of operations, each kernel's rounded to 32 bits before they are summed up.
  bool prints_rounded = false;

  bool counts_calls() const { return !measure.calls.empty(); }
};

std::span<const Convention> Conventions();
// nullptr if there is none of this name.
const Convention* FindConvention(std::string_view name);

// Work of a kernel in the unit of a measure that weighs kinds. Overflow is kept.
Count Weigh(const Work& work, const Weights& weights);

}  // namespace steelyard
