// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/determinism.h"

#include <gtest/gtest.h>

#include "cuda_events.h"

namespace steelyard {
namespace {

bool IsRefused(std::string_view call, Device device, bool deterministic) {
  Target target = kH100;
  target.device = device;
  target.deterministic = deterministic;
  const Result<Program> program = ProgramOfCall(call);
  EXPECT_TRUE(program) << Describe(program.error());
  return program && !Dispatcher(*program, target).Run();
}

TEST(CudaDeterminism, KernelsThatAddInAnyOrderAreRefused) {
  constexpr std::string_view kCall =
      "aten::reflection_pad1d_backward(f32[2,3,7], f32[2,3,4], [1,2])";
  EXPECT_TRUE(IsRefused(kCall, Device::kCuda, true));
  EXPECT_FALSE(IsRefused(kCall, Device::kCuda, false));
  EXPECT_FALSE(IsRefused(kCall, Device::kCpu, true));
}

TEST(CudaDeterminism, LossesThatAreNotAddedUpNeedNoOrder) {
  EXPECT_FALSE(IsRefused("aten::nll_loss2d_forward(f32[2,7,3,3], i64[2,3,3], None, 0, -100)",
                         Device::kCuda, true));
  EXPECT_TRUE(IsRefused("aten::nll_loss2d_forward(f32[2,7,3,3], i64[2,3,3], None, 1, -100)",
                        Device::kCuda, true));
}

}  // namespace
}  // namespace steelyard
