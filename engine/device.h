// SPDX-License-Identifier: Apache-2.0
//
// The device that a program runs on. CUDA's half of PyTorch is loaded when it is first asked for:
// the engine links to neither it nor CUDA.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "execute/engine_abi.h"

namespace steelyard::engine {

// Where PyTorch's libraries are; empty if that cannot be told.
std::filesystem::path FolderOfTorch();

// "cuda" is the current one. Throws c10::Error for a name that is none.
c10::Device DeviceNamed(std::string_view name);

// Throws c10::Error where this PyTorch, the driver or the machine has none such.
SyDevice OpenDevice(std::string_view name);

SyDeviceMemory MemoryOf(c10::Device device);
void ResetPeaks(c10::Device device);

// What programs hold of it, in the bytes that they asked for: 0 of the host.
std::int64_t RequestedBytes(c10::Device device);

// Until all that was asked of it is done.
void WaitFor(c10::Device device);

}  // namespace steelyard::engine
