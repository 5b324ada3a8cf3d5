// SPDX-License-Identifier: Apache-2.0
//
// What would make a training step smaller: every change is weighed, none is estimated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/timeline.h"
#include "steelyard/weigh.h"

namespace steelyard {

// What a change changes; one that changes several things has them all.
enum ChangeKinds : std::uint8_t {
  kRecompute = 1,
  kForm = 2,  // of the optimizer, or of zero_grad: the step trains as before
  kBatch = 4,
  kOptimizer = 8,
  kInPlace = 16,
  kLoss = 32,
  kPrecision = 64,
};

// Options other than those that were weighed.
struct Change {
  unsigned kinds = 0;
  std::string flags;  // what to type
  std::string words;
  WeighOptions options;
};

// Changes that are worth weighing: repeated modules run again in the backward pass, activations in
// place, a loss in chunks, other forms of the optimizer and leaner ones, smaller micro-batches
// where the file (`source`, as imported) leaves the batch open, gradients that are dropped, mixed
// precision.
// Requires: `weighing` is of a training step.
std::vector<Change> ChangesOf(const Program& source, const Weighing& weighing);

using WeighOptionsFn = std::function<Result<Weighing>(const WeighOptions& options)>;

// The changes, alone and together, whose peak is below that of `weighing`: the lowest peak first,
// then the least work. Left out are changes that are refused and those that another of the same
// kind beats.
std::vector<Advice> Advise(const Program& source, const Weighing& weighing,
                           const WeighOptionsFn& weigh);

}  // namespace steelyard
