// SPDX-License-Identifier: Apache-2.0
//
// The functions and structures are those of nvml.h, version 3 of processes; nothing of it is needed
// to build. In a container processes may have other numbers outside: where one alone uses the
// device it is this one, which has just used it.
#include "execute/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

namespace steelyard {
namespace {

using Handle = void*;

struct Process {
  unsigned int pid;
  unsigned long long bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
// What stands in `bytes` where the driver does not tell.
constexpr unsigned long long kNotAvailable = ~0ULL;

constexpr int kSuccess = 0;
constexpr std::size_t kTextSize = 96;

template <class Function>
Function* FunctionOf(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::optional<std::int64_t> BytesOfThis(std::span<const Process> processes) {
  const auto pid = static_cast<unsigned int>(getpid());
  auto own = std::ranges::find(processes, pid, &Process::pid);
  if (own == processes.end() && processes.size() == 1) own = processes.begin();
  if (own == processes.end() || own->bytes == kNotAvailable || own->bytes == 0) return std::nullopt;
  return static_cast<std::int64_t>(own->bytes);
}

}  // namespace

std::optional<NvmlDevice> AskNvml(const std::string& bus, const char* library) {
  void* const nvml = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (nvml == nullptr) return std::nullopt;
  auto* const begin = FunctionOf<int()>(nvml, "nvmlInit_v2");
  auto* const find =
      FunctionOf<int(const char*, Handle*)>(nvml, "nvmlDeviceGetHandleByPciBusId_v2");
  auto* const name = FunctionOf<int(Handle, char*, unsigned int)>(nvml, "nvmlDeviceGetName");
  auto* const driver = FunctionOf<int(char*, unsigned int)>(nvml, "nvmlSystemGetDriverVersion");
  auto* const running = FunctionOf<int(Handle, unsigned int*, Process*)>(
      nvml, "nvmlDeviceGetComputeRunningProcesses_v3");
  Handle device = nullptr;
  if (begin == nullptr || find == nullptr || begin() != kSuccess ||
      find(bus.c_str(), &device) != kSuccess) {
    return std::nullopt;
  }
  NvmlDevice out;
  std::array<char, kTextSize> text{};
  if (name != nullptr && name(device, text.data(), kTextSize) == kSuccess) out.name = text.data();
  text = {};
  if (driver != nullptr && driver(text.data(), kTextSize) == kSuccess) out.driver = text.data();
  std::array<Process, 256> processes{};
  auto count = static_cast<unsigned int>(processes.size());
  if (running != nullptr && running(device, &count, processes.data()) == kSuccess) {
    out.process = BytesOfThis(std::span(processes).first(std::min<std::size_t>(count, 256)));
  }
  return out;
}

}  // namespace steelyard
