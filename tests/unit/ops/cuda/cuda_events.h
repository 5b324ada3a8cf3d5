// SPDX-License-Identifier: Apache-2.0
//
// What a single call allocates on a CUDA device. The figures expected were recorded of PyTorch
// 2.15's host code on a stub device (tools/cuda_without_gpu), an H100 where none is named.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/text_call.h"
#include "ops/dispatch/dispatcher.h"
#include "runtime/eager.h"

namespace steelyard {

inline constexpr Target kH100{.device = Device::kCuda,
                              .name = "h100",
                              .capability = 90,
                              .multiprocessors = 132,
                              .multiprocessor_threads = 2048,
                              .cudnn_attention = false};
inline constexpr Target kA100{.device = Device::kCuda,
                              .name = "a100",
                              .capability = 80,
                              .multiprocessors = 108,
                              .multiprocessor_threads = 2048};
inline constexpr Target kRtx3090{.device = Device::kCuda,
                                 .name = "rtx3090",
                                 .capability = 86,
                                 .multiprocessors = 82,
                                 .multiprocessor_threads = 1536};

// Signed bytes, without those with which the caller lets go of the results.
inline std::vector<std::int64_t> CudaBytesOf(std::string_view call, const Target& target = kH100) {
  Result<Program> program = ProgramOfCall(call);
  EXPECT_TRUE(program) << Describe(program.error());
  if (!program) return {};
  const Result<Program> kernels = Dispatcher(*program, target).Run();
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  if (!kernels) return {};
  const Timeline timeline = RunEager(*kernels, target);
  std::size_t count = timeline.events.size();
  while (count > 0 && timeline.events[count - 1].bytes < 0 &&
         timeline.labels.view(timeline.events[count - 1].label).empty()) {
    --count;
  }
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(timeline.events[i].bytes);
  return out;
}

// The largest allocation of a call.
inline std::int64_t LargestOf(std::string_view call, const Target& target = kH100) {
  std::int64_t largest = 0;
  for (const std::int64_t bytes : CudaBytesOf(call, target)) largest = std::max(largest, bytes);
  return largest;
}

}  // namespace steelyard
