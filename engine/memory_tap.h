// SPDX-License-Identifier: Apache-2.0
//
// Hears of every allocation and free of this thread in the memory of one device, where PyTorch's
// own profiler would. CUDA's allocator tells the size of the block that it found, which depends on
// what it has kept: what was asked for is the difference of its sums.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "device.h"
#include "execute/engine_abi.h"

namespace steelyard::engine {

class MemoryTap final : public c10::MemoryReportingInfoBase {
 public:
  MemoryTap(const SyRecord& record, c10::Device device)
      : record_(record), device_(device), requested_(RequestedBytes(device)) {}

  // During which call of the program.
  void set_call(std::size_t call) { call_ = call; }

  bool memoryProfilingEnabled() const override { return true; }
  void reportMemoryUsage(void* address, std::int64_t bytes, std::size_t, std::size_t,
                         c10::Device device) override {
    if (device.type() != device_.type()) return;
    if (!device_.is_cpu()) {
      const std::int64_t before = std::exchange(requested_, RequestedBytes(device_));
      bytes = requested_ - before;
    }
    if (bytes != 0) record_.on_memory(record_.who, bytes, address, call_);
  }

 private:
  const SyRecord& record_;
  const c10::Device device_;
  std::int64_t requested_;  // so far, on a device
  std::size_t call_ = SY_NO_CALL;
};

// As long as it lives a tap listens, where the record asks for one.
class Listening {
 public:
  Listening(const SyRecord& record, c10::Device device) {
    if (record.on_memory == nullptr) return;
    tap_ = std::make_shared<MemoryTap>(record, device);
    guard_ = std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE, tap_);
  }
  void set_call(std::size_t call) {
    if (tap_ != nullptr) tap_->set_call(call);
  }

 private:
  std::shared_ptr<MemoryTap> tap_;
  std::unique_ptr<c10::DebugInfoGuard> guard_;
};

}  // namespace steelyard::engine
