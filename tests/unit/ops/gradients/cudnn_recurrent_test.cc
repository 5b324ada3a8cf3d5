// SPDX-License-Identifier: Apache-2.0
#include "ops/gradients/cudnn_recurrent.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "../cuda/cuda_events.h"
#include "../steps.h"

namespace steelyard {
namespace {

using ::testing::IsSupersetOf;

TEST(CudnnRecurrentGradients, WeightsHaveOneBuffer) {
  const Program kernels = KernelsOfProgram(
      "input %x: f32[5,2,8]\ninput %h: f32[1,2,6]\nparameter %w: f32[18,8]\n"
      "parameter %u: f32[18,6]\nparameter %b: f32[18]\nparameter %c: f32[18]\n"
      "%y, %z = aten::gru.input(%x, %h, [%w,%u,%b,%c], True, 1, 0.0, True, False, False)\n"
      "%loss = aten::sum(%y)\nsteelyard::backward(%loss) phase backward\nreturn %loss\n",
      kH100);
  EXPECT_THAT(KernelsOfPhase(kernels, Phase::kBackward),
              IsSupersetOf({"steelyard::cudnn_rnn_input_gradients",
                            "steelyard::cudnn_rnn_weight_gradients", "aten::as_strided"}));
}

}  // namespace
}  // namespace steelyard
