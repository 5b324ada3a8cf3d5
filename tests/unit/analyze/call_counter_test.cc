// SPDX-License-Identifier: Apache-2.0

#include "analyze/call_counter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "weighed.h"

namespace steelyard {
namespace {

const NodeWork& Forward(const WorkReport& work) { return work.of(Phase::kForward); }

// A linear of two rows, 8 to 4, with a bias; then what `call` makes of its result.
Weighed After(std::string_view call, std::string_view convention = "deepspeed") {
  return WeighText(
      "parameter %w: f32[4,8]\nparameter %b: f32[4]\ninput %x: f32[2,8]\n"
      "%h: f32[2,4] = aten::linear(%x, %w, %b)\n%y: f32[2,4] = " +
          std::string(call) + "\nreturn %y\n",
      convention);
}
constexpr std::int64_t kLinearMacs = 2 * 8 * 4;

TEST(CallCounter, ALinearIsItsMultiplyAdds) {
  const NodeWork work = Forward(After("aten::tanh(%h)").work);
  EXPECT_EQ(work.flops, kLinearMacs);
  EXPECT_EQ(work.beside, 2 * kLinearMacs) << "no bias, and no tanh, which is not patched";
  EXPECT_EQ(work.missed, 0);
}

TEST(CallCounter, AFunctionIsCountedByItsFirstOperand) {
  EXPECT_EQ(Forward(After("aten::relu(%h)").work).beside, 2 * kLinearMacs + 2 * 4);
  EXPECT_EQ(Forward(After("aten::relu(%h)").work).flops, kLinearMacs);
  EXPECT_EQ(Forward(After("aten::softmax.int(%h, -1)", "deepspeed-2021").work).flops,
            kLinearMacs + 2 * 4)
      << "in 2021 a softmax was so many MACs";
}

TEST(CallCounter, AnArgumentThatIsPassedChangesTheRule) {
  const auto beside = [](std::string_view call) {
    return Forward(After(call).work).beside - 2 * kLinearMacs;
  };
  EXPECT_EQ(beside("aten::layer_norm(%h, [4])"), 4 * 2 * 4);
  EXPECT_EQ(beside("aten::layer_norm(%h, [4], %b, %b)"), 5 * 2 * 4);
  EXPECT_EQ(beside("aten::layer_norm(%h, [4], bias=%b, weight=%b)"), 5 * 2 * 4) << "by name";
}

TEST(CallCounter, TheFlagOfTrainingChangesTheRule) {
  const auto beside = [](std::string_view training) {
    const WorkReport work = WeighText(
                                "buffer %m: f32[3]\nbuffer %v: f32[3]\ninput %x: f32[2,3]\n"
                                "%y: f32[2,3] = aten::batch_norm(%x, None, None, %m, %v, " +
                                    std::string(training) + ", 0.1, 1e-05, False)\nreturn %y\n",
                                "deepspeed")
                                .work;
    return Forward(work).beside;
  };
  EXPECT_EQ(beside("False"), 2 * 3);
  EXPECT_EQ(beside("True"), 4 * 2 * 3);
}

TEST(CallCounter, ProductsWithoutARuleAreMissed) {
  constexpr std::string_view kProduct =
      "input %a: f32[3,4]\ninput %b: f32[4,5]\n%y: f32[3,5] = aten::matmul(%a, %b)\nreturn %y\n";
  EXPECT_EQ(Forward(WeighText(kProduct, "deepspeed").work).flops, 3 * 4 * 5);
  const NodeWork work = Forward(WeighText(kProduct, "deepspeed-2021").work);
  EXPECT_EQ(work.flops, 0);
  EXPECT_EQ(work.missed, 3 * 4 * 5);
}

TEST(CallCounter, APlaceInTheImageIsCountedWithoutBatchAndChannels) {
  const WorkReport work = WeighText(
                              "input %x: f32[2,3,4,4]\n%y: f32[2,3,8,8] = "
                              "aten::upsample_nearest2d.vec(%x, [8,8], None)\nreturn %y\n",
                              "deepspeed")
                              .work;
  EXPECT_EQ(Forward(work).beside, 8 * 8);
}

}  // namespace
}  // namespace steelyard
