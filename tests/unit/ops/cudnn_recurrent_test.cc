// SPDX-License-Identifier: Apache-2.0
#include "ops/cudnn_recurrent.h"

#include <gmock/gmock.h>

#include "cuda/cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kOutput = 5 * 2 * 6 * 4, kState = 2 * 6 * 4;

TEST(CudnnRecurrent, WithoutTrainingNothingIsKept) {
  EXPECT_THAT(CudaBytesOf("aten::gru.input(f32[5,2,8], f32[1,2,6], [f32[18,8],f32[18,6],f32[18],"
                          "f32[18]], True, 1, 0.0, False, False, False)"),
              ElementsAre(kOutput, kState));
}

// Four gates and the cell of each step.
TEST(CudnnRecurrent, TrainingKeepsGatesAndCells) {
  EXPECT_THAT(CudaBytesOf("aten::lstm.input(f32[5,2,8], [f32[1,2,6],f32[1,2,6]], [f32[24,8],"
                          "f32[24,6],f32[24],f32[24]], True, 1, 0.0, True, False, False)"),
              ElementsAre(kOutput, kState, kState, 5 * kOutput, -5 * kOutput));
}

TEST(CudnnRecurrent, BatchesAreCopiedIntoTheOrderOfTime) {
  constexpr std::int64_t kInput = 5 * 2 * 8 * 4;
  EXPECT_THAT(CudaBytesOf("aten::rnn_tanh.input(f32[2,5,8], f32[1,2,6], [f32[6,8],f32[6,6],f32[6],"
                          "f32[6]], True, 1, 0.0, False, False, True)"),
              ElementsAre(kInput, kOutput, kState, -kInput));
}

TEST(CudnnRecurrent, WeightsThatLieApartAreCopiedIntoOneBuffer) {
  constexpr std::int64_t kWeights = 4 * 6 * (8 + 6 + 2) * 4;
  EXPECT_THAT(CudaBytesOf("aten::_cudnn_rnn(f32[5,2,8], [f32[24,8],f32[24,6],f32[24],f32[24]], 4, "
                          "None, f32[1,2,6], f32[1,2,6], 2, 6, 0, 1, False, 0.0, False, False, [], "
                          "None)"),
              ElementsAre(kOutput, kState, kState, kWeights));
}

}  // namespace
}  // namespace steelyard
