// SPDX-License-Identifier: Apache-2.0
//
// What DTensors do beside their operators: they are made of a process's own tensor, take another
// placement, and give a process's own tensor back.
#pragma once

#include <cstdint>
#include <string_view>

#include "ops/dispatch/dispatcher.h"
#include "ops/parallel/placement.h"

namespace steelyard::ops {

// The record of the profiler in which a DTensor's operators run.
inline constexpr std::string_view kSubclass = "PythonSubclass";

// The collective or the copy that takes a tensor a way (redistribute_local_tensor).
Tensor Moved(Dispatcher& d, const Tensor& local, const Way& way);

// In which placement the gradient of a tensor is redistributed: of a sum each process has the whole
// (_normalize_placements_for_grad).
constexpr Placement OfGradient(const Placement& placement) {
  return placement == kPartial ? kReplicate : placement;
}

// DTensor.from_local(local, mesh, [way.from]); its gradient arrives in the placement `way.to`.
Tensor Taken(Dispatcher& d, const Tensor& local, const Way& way);

// Whether what a collective of the backward pass gives is waited for by it, or by whoever uses it:
// a tensor of another class, to which no other is added in place (AsyncCollectiveTensor).
enum class Waits : std::uint8_t { kAtOnce, kWhenUsed };

// DTensor.redistribute; the gradient of what it gives arrives as `arrives`. A tensor `mask` says
// which rows of a sum are not this process's: they are made zero first, and it goes.
Tensor Redistributed(Dispatcher& d, const Tensor& local, const Way& way, const Placement& arrives,
                     Waits waits, Tensor mask = {});

// DTensor.to_local
Tensor Given(Dispatcher& d, const Tensor& local);

}  // namespace steelyard::ops
