// SPDX-License-Identifier: Apache-2.0
//
// Kernels by what kind of operator they are: contractions, normalizations, elementwise operators
// and so on, as the rows say. What each kind computes, moves and holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/work.h"
#include "ops/op_def.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

struct KindReport {
  Family family = Family::kElementwise;
  std::int64_t kernels = 0;
  NodeWork work = {};
  std::int64_t held = 0;  // bytes of the peak that these kernels allocated
};

// The kinds that there are, in the order of `Family`. `kernels` is a program that `decompose` gave,
// `live` the blocks of its timeline that are alive at the peak.
std::vector<KindReport> CountKinds(const Program& kernels, const WorkReport& work,
                                   const Timeline& timeline, std::span<const std::uint32_t> live);

}  // namespace steelyard
