// SPDX-License-Identifier: Apache-2.0
//
// What a PyTorch process takes of a CUDA device besides what its caching allocator has reserved:
// the CUDA context, the kernels it has loaded, library handles, NCCL's buffers. nvidia-smi and NVML
// count it, torch.cuda.memory_reserved() does not. None of it can be computed: it is measured, and
// differs with the driver, so each figure is an interval.
//
//   Interval process = ProcessBytes(*FindDevice("h100"), {.products = true, .attention = true});
//   // what NVML would say lies between reserved + process.low and reserved + process.high
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hardware/devices.h"

namespace steelyard {

// Bytes between which a figure is known to lie, both ends included.
struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;

  bool contains(std::int64_t bytes) const { return low <= bytes && bytes <= high; }
  std::int64_t middle() const { return low + (high - low) / 2; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// A release of PyTorch.
struct TorchRelease {
  int major = 2;
  int minor = 15;

  friend std::strong_ordering operator<=>(const TorchRelease&, const TorchRelease&) = default;
};

// When the driver loads kernels: at their first use, or all of a library's when it is loaded
// (CUDA_MODULE_LOADING). PyTorch has asked for the former since 1.13.
enum class KernelLoading : std::uint8_t { kAsReleased, kAtFirstUse, kAtOnce };

// What the program does on the device that makes the process larger.
struct ProcessUse {
  bool products = true;       // matrix products: cuBLAS
  bool convolutions = false;  // cuDNN
  bool attention = false;     // fused attention of any backend
  TorchRelease torch = {};
  KernelLoading loading = KernelLoading::kAsReleased;

  // Processes that train together. 1: torch.distributed is not used.
  int ranks = 1;
  // Process groups in which this process has communicated; at least one where there are ranks.
  int groups = 0;
  // Whether all-to-all or send and receive connect every pair of ranks, as experts and pipelines
  // do.
  bool connects_all_pairs = false;
};

// One measured figure of the table.
struct ProcessConstant {
  std::string_view name;  // "context"
  std::string_view
      each;        // what it is taken for once: "resident thread", "process", "process group"
  Interval bytes;  // for one of those
  std::string_view source;
  // How many of those there are. Requires: nothing; 0 where the program has no use for it.
  std::int64_t (*count)(const DeviceSpec& device, const ProcessUse& use);
};

// One line of the process's account.
struct ProcessPart {
  const ProcessConstant* constant = nullptr;
  std::int64_t count = 0;
  Interval bytes;
};

std::span<const ProcessConstant> ProcessConstants();

// Returns the parts that `use` has on `device`, in the order of the table.
std::vector<ProcessPart> ProcessParts(const DeviceSpec& device, const ProcessUse& use);
// ... and their sum.
Interval ProcessBytes(const DeviceSpec& device, const ProcessUse& use);

}  // namespace steelyard
