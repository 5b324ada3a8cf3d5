// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's management library says of a device. It is loaded when it is asked for; a machine
// without it has nothing to say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace steelyard {

struct NvmlDevice {
  std::string name;    // "NVIDIA H100 80GB HBM3"
  std::string driver;  // its version: "570.86.15"
  // Bytes that this process takes of it, as nvidia-smi tells; nothing where it is not told.
  std::optional<std::int64_t> process;
};

// Of the device at `bus`, "0000:19:00.0".
std::optional<NvmlDevice> AskNvml(const std::string& bus,
                                  const char* library = "libnvidia-ml.so.1");

}  // namespace steelyard
