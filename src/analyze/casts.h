// SPDX-License-Identifier: Apache-2.0
//
// What mixed precision does to a program: which tensors are cast, and what is computed in a wide
// dtype all the same.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/peak.h"
#include "analyze/work.h"
#include "steelyard/op.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

enum class CastOf : std::uint8_t { kParameter, kActivation, kGradient };
// "parameters", "activations", "gradients".
std::string_view NameOf(CastOf what);

// Casts from one floating dtype to another that calls of one operator of the imported program make
// or cause in one phase.
struct CastGroup {
  std::string_view op;  // the texts are the kernel program's
  CastOf of = CastOf::kActivation;
  Phase phase = Phase::kForward;
  DType from = DType::kFloat32;
  DType to = DType::kBFloat16;
  std::int64_t casts = 0;
  std::int64_t bytes = 0;    // of what is made, in all
  std::int64_t moved = 0;    // read and written
  std::int64_t at_peak = 0;  // bytes of it that the peak holds
};

// By whose rules it is cast: torch.autocast's, or those of the compiler RAF (ops/raf_policy).
enum class CastRules : std::uint8_t { kTorch, kRaf };

// Why an operator computes in a wide dtype under autocast.
enum class WideReason : std::uint8_t {
  kListed,    // autocast casts its operands to float32
  kPromoted,  // it takes the widest dtype of its operands, one of which is wide
  kFollows,   // autocast leaves it alone, and its operands are wide
  kKept,      // its operands are cast down, and it casts them up again, or an override says so
  kMajority,  // under RAF's rules: most of its operands are wide
  kNoRule,    // under RAF's rules: there is none for it
};
std::string_view NameOf(WideReason reason);

// Calls of one operator of the imported program, in the forward pass and the loss, whose results
// are float32 or wider.
struct WideOperator {
  std::string_view op;
  WideReason reason = WideReason::kFollows;
  std::int64_t calls = 0;
  NodeWork work = {};
};

struct CastReport {
  std::vector<CastGroup> casts;    // most bytes moved first
  std::vector<WideOperator> wide;  // most bytes moved first
};

// Requires: `work` and `peak` are of `kernels` and `timeline`.
CastReport CountCasts(const Program& imported, const Program& kernels, const Timeline& timeline,
                      const PeakReport& peak, const WorkReport& work, const Target& target,
                      CastRules rules = CastRules::kTorch);

}  // namespace steelyard
