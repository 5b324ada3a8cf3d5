// SPDX-License-Identifier: Apache-2.0

#include <array>

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

namespace {

// Whose host code of CUDA was run, each with what it was built for.
struct TorchRelease {
  std::string_view name;
  int minor;
};
constexpr std::array kTorchReleases{
    TorchRelease{"2.4", 4},    // 2.4.1+cu121
    TorchRelease{"2.7", 7},    // 2.7.1+cu126
    TorchRelease{"2.9", 9},    // 2.9.1+cu128
    TorchRelease{"2.15", 15},  // 2.15.0+cu132
};

}  // namespace

std::vector<std::string_view> TorchReleases() {
  std::vector<std::string_view> names;
  names.reserve(kTorchReleases.size());
  for (const TorchRelease& release : kTorchReleases) names.push_back(release.name);
  return names;
}

std::optional<int> TorchMinorOf(std::string_view release) {
  for (const TorchRelease& known : kTorchReleases) {
    if (known.name == release) return known.minor;
  }
  return std::nullopt;
}

}  // namespace steelyard
