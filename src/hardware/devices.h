// SPDX-License-Identifier: Apache-2.0
//
// The devices that a program can be weighed for without having one: a row for each GPU that people
// rent or own, every number with its source.
//
//   const DeviceSpec* device = FindDevice("h100");
//   device->memory_bytes;              // 85017493504, not the 80 GB of the box
//   device->multiprocessor_threads();  // 2048
//
// Which of them a program fits, and how fast one could be at best, is asked of these rows; what a
// process takes of the memory besides its tensors, of hardware/process.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace steelyard {

// The highest rates of dense arithmetic, in 10^12 operations a second, a multiply-add being two; on
// tensor cores wherever the device has them for the type, accumulating in float32. 0: the device
// has no units for it, and a program that uses it is emulated or refused.
struct PeakRates {
  double float64 = 0;
  double float32 = 0;  // as PyTorch multiplies unless it is allowed tf32
  double tf32 = 0;
  double float16 = 0;
  double bfloat16 = 0;
  double float8 = 0;
};

struct DeviceSpec {
  std::string_view name;        // on the command line: "h100"
  std::string_view torch_name;  // torch.cuda.get_device_name(): "NVIDIA H100 80GB HBM3"
  int capability = 0;           // 10 x major + minor: 90
  int multiprocessors = 0;

  // What cudaMemGetInfo and torch's total_memory call the total. It is less than what the device is
  // sold with, and differs by a part in a hundred with the driver and with error correction; where
  // sources differ, this is the smallest.
  std::int64_t memory_bytes = 0;
  std::string_view memory_source;

  std::int64_t bandwidth = 0;  // of that memory, bytes a second
  PeakRates peak;
  std::string_view peak_source;  // of the bandwidth, the rates and the count of multiprocessors

  // How many threads may be resident on one multiprocessor.
  int multiprocessor_threads() const;
  // ... and on all of them.
  std::int64_t resident_threads() const;
};

// In the order in which they are to be listed: by generation, latest first.
std::span<const DeviceSpec> Devices();
// nullptr if there is none of this name.
const DeviceSpec* FindDevice(std::string_view name);

}  // namespace steelyard
