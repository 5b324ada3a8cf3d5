// SPDX-License-Identifier: Apache-2.0
//
// What PyTorch does not tell of a CUDA device without its CUDA headers is asked of CUDA itself,
// by the names and numbers of its C interface.
#include "device.h"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>

namespace steelyard::engine {
namespace {

constexpr std::string_view kCudaHalf = "libtorch_cuda.so";

std::filesystem::path FileOfCudaHalf() { return FolderOfTorch() / kCudaHalf; }

void LoadCudaHalf() {
  // Not asked of the context, which remembers what it found the first time.
  const std::filesystem::path file = FileOfCudaHalf();
  TORCH_CHECK_NOT_IMPLEMENTED(std::filesystem::exists(file),
                              "the PyTorch that the engine is built against is one without CUDA");
  // What it registers stays, as all of PyTorch does.
  const void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  const char* const said = library == nullptr ? dlerror() : nullptr;
  TORCH_CHECK_NOT_IMPLEMENTED(library != nullptr, "CUDA's half of PyTorch cannot be loaded (",
                              said == nullptr ? "no reason is told" : said, ")");
}

template <class Function>
Function* FunctionOf(const std::string& library, const char* name) {
  void* const loaded = dlopen(library.c_str(), RTLD_NOW);
  return loaded == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(loaded, name));
}

// enum cudaDeviceAttr.
enum Attribute : int {
  kMultiprocessors = 16,
  kThreadsOfMultiprocessor = 39,
  kMajor = 75,
  kMinor = 76,
};

void AskCuda(int index, SyDevice* device) {
  const auto attribute = [&](Attribute which) {
    static auto* const ask =
        FunctionOf<int(int*, int, int)>(FileOfCudaHalf().string(), "cudaDeviceGetAttribute");
    int value = 0;
    return ask != nullptr && ask(&value, which, index) == 0 ? value : 0;
  };
  device->capability = attribute(kMajor) * 10 + attribute(kMinor);
  device->multiprocessors = attribute(kMultiprocessors);
  device->multiprocessor_threads = attribute(kThreadsOfMultiprocessor);
  if (auto* const bus =
          FunctionOf<int(char*, int, int)>(FileOfCudaHalf().string(), "cudaDeviceGetPCIBusId")) {
    if (bus(device->bus, SY_NAME_SIZE, index) != 0) device->bus[0] = '\0';
  }
}

// Among an allocator's figures, the one of all its pools.
constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

c10::DeviceAllocator* AllocatorOf(c10::Device device) {
  return device.is_cpu() ? nullptr : c10::getDeviceAllocator(device.type());
}

c10::DeviceIndex IndexOf(c10::Device device) {
  return device.has_index() ? device.index()
                            : c10::impl::VirtualGuardImpl(device.type()).getDevice().index();
}

}  // namespace

std::filesystem::path FolderOfTorch() {
  Dl_info info = {};
  const auto* const function = reinterpret_cast<const void*>(&c10::GetAllocator);
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

c10::Device DeviceNamed(std::string_view name) { return c10::Device(std::string(name)); }

SyDevice OpenDevice(std::string_view name) {
  const c10::Device device = DeviceNamed(name);
  SyDevice out{};
  if (device.is_cpu()) return out;
  TORCH_CHECK_NOT_IMPLEMENTED(device.is_cuda(), "the engine runs on the CPU and on CUDA, not on ",
                              device.str());
  LoadCudaHalf();
  at::globalContext().lazyInitDevice(device.type());
  const c10::impl::VirtualGuardImpl guard(device.type());
  TORCH_CHECK_VALUE(!device.has_index() || device.index() < guard.deviceCount(), "there are ",
                    static_cast<int>(guard.deviceCount()), " devices, and no ", device.str());
  const c10::DeviceIndex index = IndexOf(device);
  AskCuda(index, &out);
  out.memory = static_cast<std::int64_t>(AllocatorOf(device)->getMemoryInfo(index).second);
  return out;
}

SyDeviceMemory MemoryOf(c10::Device device) {
  c10::DeviceAllocator* const allocator = AllocatorOf(device);
  if (allocator == nullptr) return {};
  const auto stats = allocator->getDeviceStats(IndexOf(device));
  return {.allocated_peak = stats.allocated_bytes[kAll].peak,
          .reserved_peak = stats.reserved_bytes[kAll].peak,
          .reserved = stats.reserved_bytes[kAll].current};
}

std::int64_t RequestedBytes(c10::Device device) {
  c10::DeviceAllocator* const allocator = AllocatorOf(device);
  if (allocator == nullptr) return 0;
  return allocator->getDeviceStats(IndexOf(device)).requested_bytes[kAll].current;
}

void ResetPeaks(c10::Device device) {
  if (c10::DeviceAllocator* const allocator = AllocatorOf(device)) {
    allocator->resetPeakStats(IndexOf(device));
  }
}

void WaitFor(c10::Device device) {
  if (device.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(IndexOf(device));
}

}  // namespace steelyard::engine
