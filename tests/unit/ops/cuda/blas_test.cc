// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/blas.h"

#include <gmock/gmock.h>

#include "cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kWorkspace = 33554432, kSmallWorkspace = 8519680, kLtWorkspace = 1048576;

TEST(CudaBlas, AProductTakesAWorkspaceAfterItsResult) {
  EXPECT_THAT(CudaBytesOf("aten::mm(f32[4,8], f32[8,4])"),
              ElementsAre(64, kWorkspace, -kWorkspace));
  EXPECT_THAT(CudaBytesOf("aten::bmm(bf16[2,4,8], bf16[2,8,4])"),
              ElementsAre(64, kWorkspace, -kWorkspace));
  EXPECT_THAT(CudaBytesOf("aten::mm(f32[4,8], f32[8,4])", kA100),
              ElementsAre(64, kSmallWorkspace, -kSmallWorkspace));
}

TEST(CudaBlas, ARowOfBiasesIsAddedByCublasLt) {
  EXPECT_THAT(CudaBytesOf("aten::addmm(f32[4], f32[4,8], f32[8,4])"),
              ElementsAre(64, kLtWorkspace, -kLtWorkspace));
  // Not where there is one column, nor a matrix of biases.
  EXPECT_THAT(CudaBytesOf("aten::addmm(f32[1], f32[4,8], f32[8,1])"),
              ElementsAre(16, kWorkspace, -kWorkspace));
  EXPECT_THAT(CudaBytesOf("aten::addmm(f32[4,4], f32[4,8], f32[8,4])"),
              ElementsAre(64, kWorkspace, -kWorkspace));
}

// Over stand-ins for the driver, 2.15: 1 MiB beside 32 MiB.
TEST(CudaBlas, AMatrixIsAddedToAProductOfHalfPrecisionByCublasLt) {
  EXPECT_THAT(CudaBytesOf("aten::addmm(bf16[4,4], bf16[4,8], bf16[8,4], beta=2.0, alpha=3.0)"),
              ElementsAre(32, kLtWorkspace, -kLtWorkspace));
  EXPECT_THAT(CudaBytesOf("aten::addmm(f16[4,4]{8,1}, f16[4,8], f16[8,4])"),
              ElementsAre(32, kLtWorkspace, -kLtWorkspace));
  // Not where it lies by columns, is many times one row, is not asked for, or is overwritten.
  for (const char* call : {"aten::addmm(bf16[4,4]{1,4}, bf16[4,8], bf16[8,4])",
                           "aten::addmm(bf16[4,4]{0,1}, bf16[4,8], bf16[8,4])",
                           "aten::addmm(bf16[4,1], bf16[4,8], bf16[8,4])",
                           "aten::addmm(bf16[4,4], bf16[4,8], bf16[8,4], beta=0)",
                           "aten::addmm(bf16[4,4], bf16[4,1], bf16[1,4])"}) {
    EXPECT_THAT(CudaBytesOf(call), ElementsAre(32, kWorkspace, -kWorkspace)) << call;
  }
  EXPECT_THAT(CudaBytesOf("aten::addmm_(bf16[4,4], bf16[4,8], bf16[8,4])"),
              ElementsAre(kWorkspace, -kWorkspace));
}

// PyTorch 2.9.1 and 2.7.1, over the same stand-ins.
TEST(CudaBlas, OlderReleasesKeepTheirWorkspaces) {
  Target older = kH100;
  older.torch_minor = 9;
  EXPECT_THAT(CudaBytesOf("aten::mm(f32[4,8], f32[8,4])", older), ElementsAre(64, kWorkspace));
  EXPECT_THAT(CudaBytesOf("aten::addmm(f32[4], f32[4,8], f32[8,4])", older),
              ElementsAre(64, kWorkspace, kLtWorkspace));
  older.torch_minor = 7;
  EXPECT_THAT(CudaBytesOf("aten::addmm(f32[4], f32[4,8], f32[8,4])", older),
              ElementsAre(64, kLtWorkspace, kWorkspace, -kLtWorkspace));
  older.capability = 100;  // later ones have the larger workspace since 2.15
  EXPECT_THAT(CudaBytesOf("aten::mm(f32[4,8], f32[8,4])", older), ElementsAre(64, kSmallWorkspace));
}

TEST(CudaBlas, AFactorThatIsDenseInNoOrderIsCopied) {
  EXPECT_THAT(CudaBytesOf("aten::mm(f32[4,8]{32,2}, f32[8,4])"),
              ElementsAre(64, 128, kWorkspace, -kWorkspace, -128));
}

}  // namespace
}  // namespace steelyard
