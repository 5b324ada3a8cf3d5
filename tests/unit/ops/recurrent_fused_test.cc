// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "cuda/cuda_events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kState = 2 * 6 * 4;

// The workspace keeps five numbers for each state.
TEST(FusedCells, AGruHasAWorkspaceAndAState) {
  EXPECT_THAT(
      CudaBytesOf("aten::_thnn_fused_gru_cell(f32[2,18], f32[2,18], f32[2,6], f32[18], f32[18])"),
      ElementsAre(5 * kState, kState));
}

TEST(FusedCells, AnLstmHasItsGatesAndTwoStates) {
  EXPECT_THAT(
      CudaBytesOf("aten::_thnn_fused_lstm_cell(f32[2,24], f32[2,24], f32[2,6], f32[24], f32[24])"),
      ElementsAre(4 * kState, kState, kState));
}

TEST(FusedCells, GradientsOfBiasesAreSumsOfThoseOfGates) {
  EXPECT_THAT(CudaBytesOf("aten::_thnn_fused_gru_cell_backward(f32[2,6], f32[2,30], True)"),
              ElementsAre(3 * kState, 3 * kState, kState, 18 * 4, 18 * 4));
  EXPECT_THAT(CudaBytesOf("aten::_thnn_fused_lstm_cell_backward_impl(f32[2,6], f32[2,6], f32[2,6], "
                          "f32[2,6], f32[2,24], True)"),
              ElementsAre(4 * kState, kState, 24 * 4));
}

// Both products without biases, each with cuBLAS's workspace.
TEST(FusedCells, ACellMakesBothProducts) {
  constexpr std::int64_t kWorkspace = std::int64_t{32} << 20;
  EXPECT_THAT(CudaBytesOf("aten::gru_cell(f32[2,8], f32[2,6], f32[18,8], f32[18,6], f32[18], "
                          "f32[18])"),
              ElementsAre(3 * kState, kWorkspace, -kWorkspace, 3 * kState, kWorkspace, -kWorkspace,
                          5 * kState, kState, -5 * kState, -3 * kState, -3 * kState));
}

}  // namespace
}  // namespace steelyard
