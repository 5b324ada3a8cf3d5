// SPDX-License-Identifier: Apache-2.0
//
// What devices ran, as traces of PyTorch's profiler have it (Kineto's JSON): kernels, copies and
// fills, and when the program asked for each, which the call of CUDA's runtime with the same number
// tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steelyard/error.h"

namespace steelyard {

enum class DeviceWork : std::uint8_t { kKernel, kCopy, kFill };

struct DeviceEvent {
  // Nanoseconds since 1970: of the call with which the program asked for it, 0 where nobody tells,
  // and on the device.
  std::int64_t asked = 0, asked_end = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t bytes = 0;            // copied or filled
  std::uint32_t name = 0, call = 0;  // in DeviceEvents::names
  std::uint32_t thread = 0;          // that asked, as the system numbers it
  std::uint32_t stream = 0;
  std::uint16_t device = 0;
  DeviceWork work = DeviceWork::kKernel;
};

struct DeviceEvents {
  std::vector<std::string> names;
  std::vector<DeviceEvent> events;  // in the trace's order
};

// `where` names the trace in errors. What else a trace has is left out.
[[nodiscard]] Result<DeviceEvents> ReadDeviceEvents(std::string_view trace, std::string_view where);

}  // namespace steelyard
