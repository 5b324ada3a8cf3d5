// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(AffineBlocks, ATensorHasOneScaleInDoublePrecision) {
  constexpr std::string_view kCall =
      "quantized_decomposed::choose_qparams.tensor(bf16[2,8], 0, 255, 0.0002, u8)";
  EXPECT_EQ(ResultOf(kCall, 0), "f64[1]");
  EXPECT_EQ(ResultOf(kCall, 1), "i64[1]");
  EXPECT_THAT(RefusalOf("quantized_decomposed::choose_qparams.tensor(i64[2], 0, 255, 0.0002, u8)"),
              HasSubstr("floating-point"));
}

TEST(AffineBlocks, RowsHaveOneEach) {
  EXPECT_EQ(ResultOf("quantized_decomposed::choose_qparams_per_token(f16[4,8], i8)"), "f32[4,1]");
  EXPECT_EQ(ResultOf("quantized_decomposed::choose_qparams_per_token_asymmetric(f32[4,8], i8)", 1),
            "i64[4,1]");
}

TEST(AffineBlocks, ABlockIsSomeDimensionsOfAView) {
  EXPECT_EQ(ResultOf("torchao::choose_qparams_affine(f32[4,64], 'SYMMETRIC', [1,32], i8, -128, "
                     "127, None, None, None, True)"),
            "f32[4,2]");
  EXPECT_EQ(
      ResultOf("torchao::quantize_affine(f32[4,64], [1,32], f32[4,2], i8[4,2], i8, -128, 127)"),
      "i8[4,64]");
  EXPECT_EQ(
      ResultOf(
          "torchao::dequantize_affine(i8[4,64], [1,32], f32[4,2], i8[4,2], i8, -128, 127, bf16)"),
      "bf16[4,64]");
  EXPECT_THAT(RefusalOf("torchao::quantize_affine(f32[4,64], [1,24], f32[4,2], None, i8)"),
              HasSubstr("in blocks of [1, 24]"));
}

// Recorded from torchao 0.18 with PyTorch 2.15.
TEST(AffineBlocks, DequantizingCopiesTwiceAndCastsZeroPoints) {
  EXPECT_THAT(
      EventsOf("torchao::dequantize_affine(i8[4,64], [1,32], f32[4,2], i8[4,2], i8, -128, 127)"),
      ElementsAre(Line(4 * 64 * 4, "empty_strided"), Line(4 * 2 * 4, "empty_strided"),
                  Line(4 * 64 * 4, "sub"), Line(-4 * 2 * 4, "torchao::dequantize_affine"),
                  Line(-4 * 64 * 4, "torchao::dequantize_affine"), Line(4 * 64 * 4, "mul"),
                  Line(-4 * 64 * 4, "torchao::dequantize_affine")));
}

}  // namespace
}  // namespace steelyard
