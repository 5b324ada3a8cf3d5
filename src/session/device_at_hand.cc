// SPDX-License-Identifier: Apache-2.0
//
// A device is like a row where it computes alike: as many multiprocessors of the same capability.
#include "session/device_at_hand.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "execute/nvml.h"
#include "hardware/devices.h"

namespace steelyard {
namespace {

std::string KindOf(int capability, int multiprocessors) {
  return fmt::format("compute capability {}.{} with {} multiprocessors", capability / 10,
                     capability % 10, multiprocessors);
}

// Of devices alike, which differ in their memory, the one with the nearest.
const DeviceSpec* RowLike(const SyDevice& device) {
  const DeviceSpec* best = nullptr;
  const auto distance = [&](const DeviceSpec& row) {
    return std::abs(row.memory_bytes - device.memory);
  };
  for (const DeviceSpec& row : Devices()) {
    if (row.capability != device.capability || row.multiprocessors != device.multiprocessors) {
      continue;
    }
    if (best == nullptr || distance(row) < distance(*best)) best = &row;
  }
  return best;
}

std::vector<std::string_view> NamesOfDevices() {
  std::vector<std::string_view> names;
  for (const DeviceSpec& row : Devices()) names.push_back(row.name);
  return names;
}

}  // namespace

std::string EngineDevice(const RunOptions& options) {
  const bool on_cpu = options.weigh.target.device == Device::kCpu && !options.device_at_hand;
  return on_cpu ? "cpu" : "cuda";
}

Result<SyDevice> OpenDevice(const SyEngine& engine, const RunOptions& options) {
  const std::string name = EngineDevice(options);
  SyDevice device{};
  SyError error{};
  if (engine.open_device(name.c_str(), &device, &error)) return device;
  const std::string_view said = static_cast<const char*>(error.message);
  return Unexpected(Unsupported(std::string(said.substr(0, said.find('\n'))),
                                fmt::format("--device {}", name),
                                "It takes a PyTorch with CUDA, which the engine is built against, "
                                "and NVIDIA's driver; `steelyard weigh` takes neither."));
}

Result<Target> TargetFor(const SyDevice& device, const Target& target, bool at_hand) {
  Target out = target;
  if (at_hand) {
    const DeviceSpec* const row = RowLike(device);
    if (row == nullptr) {
      return Unexpected(Unsupported(
          fmt::format("no row of devices is like the one at hand, of {}",
                      KindOf(device.capability, device.multiprocessors)),
          "--device cuda", fmt::format("There are: {}.", fmt::join(NamesOfDevices(), ", "))));
    }
    out = *TargetNamed(row->name);
    out.cudnn_attention = target.cudnn_attention;
    out.deterministic = target.deterministic;
    out.torch_minor = target.torch_minor;
  } else if (device.capability != 0 && (device.capability != target.capability ||
                                        device.multiprocessors != target.multiprocessors)) {
    return Unexpected(UsageError(fmt::format("the device at hand is of {}, not of {}",
                                             KindOf(device.capability, device.multiprocessors),
                                             KindOf(target.capability, target.multiprocessors)),
                                 fmt::format("--device {}", target.name),
                                 "Write --device cuda for the one at hand."));
  }
  if (device.memory > 0) out.memory = device.memory;
  return out;
}

std::optional<DeviceUse> UseOf(const SyDevice& device, const SyEngine& engine,
                               const RunOptions& options) {
  const std::string name = EngineDevice(options);
  if (name == "cpu") return std::nullopt;
  DeviceUse use;
  if (const std::optional<NvmlDevice> told = AskNvml(static_cast<const char*>(device.bus))) {
    use.name = told->name;
    use.driver = told->driver;
    use.process = told->process.value_or(0);
    if (use.process > 0) use.besides = use.process - engine.memory_of(name.c_str()).reserved;
  }
  return use;
}

}  // namespace steelyard
