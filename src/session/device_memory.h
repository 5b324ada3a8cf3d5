// SPDX-License-Identifier: Apache-2.0
//
// What a weighed program takes of its device, whose allocator it has run with for some steps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/device_memory.h"
#include "steelyard/error.h"
#include "steelyard/weigh.h"

namespace steelyard {

// A timeline, and what is resident before it.
struct EarlierRun {
  Timeline timeline;
  std::vector<ResidentBlock> residents;
};

// What ran before the step that is weighed. An allocator finds what it left.
struct EarlierRuns {
  std::optional<EarlierRun> making;      // of an engine that takes a whole model
  std::optional<EarlierRun> first_step;  // before a steady one
};

// Whether the device has an allocator that keeps what is freed.
[[nodiscard]] bool Caches(const WeighOptions& options);

// The making of the engine that runs the steps of `program`, as imported, and the first of these if
// the steady one is to be weighed; nothing where no allocator keeps what they left. Returns the
// errors of passes.
[[nodiscard]] Result<EarlierRuns> RunEarlier(const Program& program, const WeighOptions& options);

// Each storage that is resident before `timeline`, that of `kernels`, as `module.to("cuda")` moves
// them: those of a module's children before its own, parameters before buffers; then inputs, and
// what else there is.
[[nodiscard]] std::vector<ResidentBlock> ResidentBlocks(const Program& kernels,
                                                        const Timeline& timeline);

// Runs the weighed steps one after the other: a forward pass three times, of training the first
// step and two steady ones, as long as only the last is told; a call that gives up one cache and
// keeps another once, since none is like it. `timeline` is that of `kernels`.
// Returns an error where PyTorch would not know the first of `alloc_conf`.
[[nodiscard]] Result<DeviceMemoryReport> RunOnDevice(const Program& kernels,
                                                     const Timeline& timeline,
                                                     const WeighOptions& options,
                                                     const EarlierRuns& earlier);

// The same once for each of `alloc_conf`, the least reserved first; nothing where there are not
// several. Equal ones stay in the order in which they were given. `device` is what `RunOnDevice`
// told of the first.
[[nodiscard]] Result<std::vector<AllocatorTrial>> CompareAllocators(
    const Program& kernels, const Timeline& timeline, const WeighOptions& options,
    const EarlierRuns& earlier, const DeviceMemoryReport& device);

// What `program`, as imported, takes of the device of the options; nothing else of it is weighed.
// Requires: `Caches`. Returns the errors of passes.
[[nodiscard]] Result<DeviceFit> FitOn(const Program& program, const WeighOptions& options);

// Bytes that a device must have for it: what the process may take at most, or the peak where
// nothing but the program takes memory.
[[nodiscard]] std::int64_t NeededBytes(const Weighing& weighing);

// The CUDA devices that are meant by these names; an error for a name that is none.
[[nodiscard]] Result<std::vector<Target>> DevicesNamed(std::span<const std::string> names);

}  // namespace steelyard
