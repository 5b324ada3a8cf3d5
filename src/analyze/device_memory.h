// SPDX-License-Identifier: Apache-2.0
//
// The three numbers that are called the memory of a program on a CUDA device: what it allocates,
// what PyTorch's allocator reserves for that, and what the process takes.
#pragma once

#include <cstdint>
#include <optional>

#include "hardware/process.h"
#include "memory/caching/steps.h"
#include "steelyard/program.h"

namespace steelyard {

struct DeviceMemoryReport {
  ReservedUse use;
  std::optional<StepCourse> course = {};  // where it was asked for
  // The device has no room for the whole model that an engine would share.
  bool made_in_parts = false;
  std::int64_t total = 0;  // bytes of the device that programs may take
  // What the process takes besides what is reserved; the sum of both is what NVML tells.
  Interval overhead;
  Interval process() const { return {use.reserved + overhead.low, use.reserved + overhead.high}; }
  // Whether it certainly fits: an allocation beside the most that the rest may take never failed.
  bool fits() const { return !use.out_of_memory && process().high <= total; }
};

// What a process that runs these kernels loads besides.
ProcessUse ProcessUseOf(const Program& kernels);

}  // namespace steelyard
