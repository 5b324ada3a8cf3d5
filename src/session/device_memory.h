// SPDX-License-Identifier: Apache-2.0
//
// What a weighed program takes of its device, whose allocator it has run with for some steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyze/device_memory.h"
#include "steelyard/error.h"
#include "steelyard/weigh.h"

namespace steelyard {

// The timeline of the first step before a steady one, and what is resident before it.
struct FirstStep {
  Timeline timeline;
  std::vector<std::int64_t> residents;
};

// Whether the device has an allocator that keeps what is freed.
[[nodiscard]] bool Caches(const WeighOptions& options);

// The first of the steps of which `program`, as imported, is to be weighed the steady one.
// Requires: `Caches`. Returns the errors of passes.
[[nodiscard]] Result<FirstStep> RunFirstStep(Program program, const WeighOptions& options);

// Bytes of each resident storage, as `module.to("cuda")` moves them: those of a module's children
// before its own, parameters before buffers; then inputs, and what else there is.
[[nodiscard]] std::vector<std::int64_t> ResidentBytes(const Program& kernels);

// Runs the weighed steps one after the other: a forward pass three times, of training the first
// step and two steady ones, as long as only the last is told. `first` is null where the weighed one
// is the first itself, or a forward pass.
[[nodiscard]] DeviceMemoryReport RunOnDevice(const Weighing& weighing, const FirstStep* first);

// Bytes that a device must have for it: what the process may take at most, or the peak where
// nothing but the program takes memory.
[[nodiscard]] std::int64_t NeededBytes(const Weighing& weighing);

// The CUDA devices that are meant by these names; an error for a name that is none.
[[nodiscard]] Result<std::vector<Target>> DevicesNamed(std::span<const std::string> names);

// Requires: it was weighed for a CUDA device.
[[nodiscard]] DeviceFit FitOf(const Weighing& weighing);

}  // namespace steelyard
