// SPDX-License-Identifier: Apache-2.0
#include "ops/gradients/recurrent.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../cuda/cuda_events.h"
#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::IsSupersetOf;

TEST(RecurrentGradients, ACellHasAKernelAndSumsOfItsBiases) {
  const Program kernels = KernelsOfProgram(
      "input %x: f32[2,8]\ninput %h: f32[2,6]\nparameter %w: f32[18,8]\n"
      "parameter %u: f32[18,6]\nparameter %b: f32[18]\nparameter %c: f32[18]\n"
      "%y = aten::gru_cell(%x, %h, %w, %u, %b, %c)\n"
      "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n",
      kH100);
  EXPECT_THAT(KernelsOfPhase(kernels, Phase::kBackward),
              IsSupersetOf({"steelyard::gru_cell_backward", "aten::sum.dim_IntList",
                            "aten::sum.dim_IntList"}));
}

}  // namespace
}  // namespace steelyard
