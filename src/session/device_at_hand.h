// SPDX-License-Identifier: Apache-2.0
//
// The device that a program runs on, and the row of devices that predicts it.
#pragma once

#include <optional>
#include <string>

#include "execute/engine_abi.h"
#include "session/run.h"
#include "steelyard/error.h"
#include "steelyard/op.h"

namespace steelyard {

// What the engine calls the device of the options: "cpu", "cuda".
std::string EngineDevice(const RunOptions& options);

// Makes the device ready. Returns what the engine tells of it, and its errors.
Result<SyDevice> OpenDevice(const SyEngine& engine, const RunOptions& options);

// `target` for the device that is here: the row that is like it, if `at_hand`; else the row that
// was named, and an error where that is of another kind of device.
Result<Target> TargetFor(const SyDevice& device, const Target& target, bool at_hand);

// What the process takes of it, besides what is reserved, and its name; nothing of a CPU.
std::optional<DeviceUse> UseOf(const SyDevice& device, const SyEngine& engine,
                               const RunOptions& options);

}  // namespace steelyard
