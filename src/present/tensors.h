// SPDX-License-Identifier: Apache-2.0
//
// Who a stretch of memory belongs to, in the words of the model: which tensor it is, which operator
// of the user's code made it, where that stands, and how long it is needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "present/findings.h"
#include "steelyard/program.h"

namespace steelyard::present {

// The operator as the model calls it: of the call that a kernel comes from.
std::string_view ModelOp(const Findings& findings, const Node& kernel);

// "float32 2×8 float32 2×4": what a kernel returns.
std::string ResultsText(const Program& program, const Node& kernel);

// An event, named. Texts live as long as the findings.
struct EventPlace {
  std::string_view kernel;  // "aten::addmm"; of the event itself
  std::string_view op;  // "aten::linear"; as the model calls it, the kernel where it is the same
  std::string_view module;  // path; empty for the model itself
  SourceId source = kNoId;
};
EventPlace PlaceOf(const Findings& findings, std::uint32_t event);

// A block of memory, named.
struct BlockWords {
  std::string tensor;       // "linear_73", "addmm in linear_73", "scratch of aten::linear"
  std::string layout = {};  // "float32 4×128×768"; empty for scratch
  std::string holder;       // "held by the caller", "saved by TanhBackward0, until aten::tanh"
  EventPlace made;
};
BlockWords Describe(const Findings& findings, const Block& block);

}  // namespace steelyard::present
