// SPDX-License-Identifier: Apache-2.0

#include "hardware/devices.h"
#include "steelyard/op.h"

namespace steelyard {

std::vector<std::string_view> TargetNames() {
  std::vector<std::string_view> names{Target().name};
  for (const DeviceSpec& device : Devices()) names.push_back(device.name);
  return names;
}

std::optional<Target> TargetNamed(std::string_view name) {
  if (name == Target().name) return Target();
  const DeviceSpec* device = FindDevice(name);
  if (device == nullptr) return std::nullopt;
  return Target{.device = Device::kCuda,
                .name = device->name,
                .capability = device->capability,
                .multiprocessors = device->multiprocessors,
                .multiprocessor_threads = device->multiprocessor_threads(),
                .memory = device->memory_bytes};
}

}  // namespace steelyard
