// SPDX-License-Identifier: Apache-2.0
//
// The allocator tells its trackers what it records for memory snapshots, in the thread that asks
// for the memory and while it holds its lock. A tracker cannot be taken off: without a session it
// does nothing.
#include "cuda_tap.h"

#ifndef STEELYARD_NO_CUDA
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "record_writer.h"
#endif

namespace steelyard::engine {

#ifndef STEELYARD_NO_CUDA
namespace {

namespace cuda = c10::cuda::CUDACachingAllocator;
using cuda::TraceEntry;

// CUDA's allocator, of a library that this one is not linked with: it may not be there.
cuda::CUDAAllocator* AllocatorOfCuda() {
  void* const library = dlopen("libc10_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  constexpr char kName[] = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
  using Held = std::atomic<cuda::CUDAAllocator*>;
  const auto* const held = static_cast<const Held*>(dlsym(library, kName));
  return held == nullptr ? nullptr : held->load();
}

// What is freed while another stream uses it counts as free, as in the allocator's own figures.
SyEventKind KindOf(TraceEntry::Action action) {
  switch (action) {
    case TraceEntry::ALLOC:
      return SY_ALLOCATE;
    case TraceEntry::FREE_REQUESTED:
      return SY_FREE;
    case TraceEntry::SEGMENT_ALLOC:
    case TraceEntry::SEGMENT_MAP:
      return SY_RESERVE;
    case TraceEntry::SEGMENT_FREE:
    case TraceEntry::SEGMENT_UNMAP:
      return SY_UNRESERVE;
    default:
      return SY_NO_EVENT;
  }
}

void Tell(ThreadBuffer& buffer, SyEventKind kind, std::uint64_t address, std::uint64_t bytes,
          int device) {
  Write(buffer, {.time = Ticks(),
                 .key = address,
                 .amount = bytes,
                 .id = 0,
                 .kind = static_cast<std::uint8_t>(kind),
                 .flags = 0,
                 .thread = static_cast<std::uint16_t>(device + 1)});
}

void Hear(const TraceEntry& entry) {
  const SyEventKind kind = KindOf(entry.action_);
  ThreadBuffer* const buffer = kind == SY_NO_EVENT ? nullptr : Here();
  if (buffer != nullptr) Tell(*buffer, kind, entry.addr_, entry.size_, entry.device_);
}

}  // namespace

bool BeginCudaTap() {
  cuda::CUDAAllocator* const allocator = AllocatorOfCuda();
  if (allocator == nullptr) return false;
  static cuda::CUDAAllocator* listening = nullptr;
  if (listening != allocator) allocator->attachAllocatorTraceTracker(Hear);
  listening = allocator;
  ThreadBuffer* const buffer = Here();
  if (buffer == nullptr) return true;
  const int devices = c10::impl::VirtualGuardImpl(c10::kCUDA).deviceCount();
  for (int device = 0; device < devices; ++device) {
    const auto stats = allocator->getDeviceStats(static_cast<c10::DeviceIndex>(device));
    constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    const std::int64_t reserved = stats.reserved_bytes[kAll].current;
    if (reserved > 0) Tell(*buffer, SY_RESERVE, 0, static_cast<std::uint64_t>(reserved), device);
  }
  return true;
}
#else
bool BeginCudaTap() { return false; }
#endif

}  // namespace steelyard::engine
