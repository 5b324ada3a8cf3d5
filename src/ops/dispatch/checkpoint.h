// SPDX-License-Identifier: Apache-2.0
//
// Regions of a program that are not kept for the backward pass but run again in it, as
// torch.utils.checkpoint runs them. Of the form that is not reentrant the nodes of the region exist
// from the forward pass on, and each tensor that one of them would save is a holder: nothing, until
// the first of them is asked for. The reentrant form is one node, which runs the region and a
// backward pass of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/autocast.h"
#include "ops/dispatch/dispatcher.h"
#include "steelyard/program.h"

namespace steelyard {

using RegionId = std::uint32_t;
using HolderId = std::uint32_t;

// Of torch.get_rng_state(), the CPU's (CPUGeneratorImplState).
inline constexpr std::int64_t kRandomStateBytes = 5056;

// What one call of `checkpoint` keeps.
struct Region {
  GraphId body = 0;
  std::vector<Tensor> inputs;
  std::vector<Saved> as_given;   // the inputs of the form that is not reentrant
  std::vector<Tensor> captured;  // what the body has besides: parameters and buffers
  Tensor random;                 // the state of random numbers when it began, where it is kept
  bool stops_early = true;       // once all that is needed has been computed again
  AutocastMode autocast{};       // in which it ran, and runs again
};

// Of the form that is not reentrant.
struct Holders {
  HolderId first = 0;
  std::uint32_t count = 0;
  std::uint32_t live = 0;    // of nodes that may still ask
  std::uint32_t filled = 0;  // by the run in the backward pass
  bool open = true;          // the region itself still runs
};

// A tensor that a node has not saved.
struct Holder {
  RegionId region = 0;
  bool live = true;
  bool detached = false;  // the tensor is one of its own on the storage of `value`
  ValueId value = kNoId;  // once the region has run again, until it is asked for
};

// Thrown where the last tensor has been saved that a region was run again for.
struct StopRecomputation {};

}  // namespace steelyard
