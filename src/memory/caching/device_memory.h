// SPDX-License-Identifier: Apache-2.0
//
// The memory of a device as its driver hands it out: how much there is, and at which addresses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace steelyard {

// Everything in bytes. Addresses are counted from the first one that the driver gives, in pages of
// 2 MiB: the lowest hole that is large enough, as drivers mostly do. They decide something only
// where an allocator asks for them (`TieBreak::kAddress`).
class DeviceMemory {
 public:
  static constexpr std::int64_t kPage = std::int64_t{2} << 20;

  // `total` is what the device says it has, `taken` what is gone before the first allocation: the
  // context, libraries, other processes.
  explicit DeviceMemory(std::int64_t total, std::int64_t taken = 0)
      : total_(total), taken_(taken) {}
  // One that never runs out.
  static DeviceMemory Unlimited();

  // Returns the address of `bytes` of memory, none if there are not so many (cudaMalloc, cudaFree).
  [[nodiscard]] std::optional<std::int64_t> Allocate(std::int64_t bytes);
  void Free(std::int64_t address);

  // Addresses without memory (cuMemAddressReserve), and memory for some of them (cuMemCreate).
  [[nodiscard]] std::int64_t Reserve(std::int64_t bytes);
  void Unreserve(std::int64_t address);
  [[nodiscard]] bool Commit(std::int64_t bytes);
  void Uncommit(std::int64_t bytes);

  [[nodiscard]] std::int64_t total() const { return total_; }
  [[nodiscard]] std::int64_t free() const { return total_ - taken_; }

 private:
  std::int64_t total_;
  std::int64_t taken_;
  // Address to bytes, of what can be given and of what is.
  std::map<std::int64_t, std::int64_t> holes_{{0, std::int64_t{1} << 60}};
  std::map<std::int64_t, std::int64_t> ranges_;
};

}  // namespace steelyard
