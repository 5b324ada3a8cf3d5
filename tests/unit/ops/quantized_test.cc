// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(Quantize, ScalesRoundsAndLimits) {
  constexpr std::string_view kCall =
      "quantized_decomposed::quantize_per_tensor(f32[2,8], 0.1, 0, -128, 127, i8)";
  EXPECT_EQ(ResultOf(kCall), "i8[2,8]");
  EXPECT_THAT(RefusalOf("quantized_decomposed::quantize_per_tensor(i64[2,8], 0.1, 0, 0, 1, i8)"),
              HasSubstr("floating-point"));
}

TEST(Dequantize, ChannelsHaveScales) {
  EXPECT_EQ(ResultOf("quantized_decomposed::dequantize_per_channel(i8[2,8], f32[8], i64[8], 1, "
                     "-128, 127, i8)"),
            "f32[2,8]");
  EXPECT_THAT(RefusalOf("quantized_decomposed::dequantize_per_channel_group(i8[2,8], f32[2,2], "
                        "i64[2,2], -8, 7, i8, 3, f32)"),
              HasSubstr("in groups of 3"));
}

TEST(PackedProducts, CountMultiplyAdds) {
  EXPECT_EQ(WorkOf("aten::_weight_int8pack_mm(bf16[4,64], i8[32,64], bf16[32])").mac,
            Count(4 * 32 * 64));
  EXPECT_EQ(ResultOf("aten::_int_mm(i8[32,64], i8[64,16])"), "i32[32,16]");
  EXPECT_THAT(RefusalOf("aten::_int_mm(i8[32,64], i8[63,16])"), HasSubstr("64 vs 63"));
}

TEST(Quantized, Float8IsMultipliedInFloat32) {
  constexpr std::string_view kCall =
      "aten::_scaled_mm(f8e4m3[16,32], f8e4m3[32,8], f32[], f32[1,8], out_dtype=bf16)";
  EXPECT_EQ(ResultOf(kCall), "bf16[16,8]");
  EXPECT_EQ(WorkOf(kCall).mac, Count(16 * 32 * 8));
  EXPECT_THAT(RefusalOf("aten::_scaled_mm(f8e4m3[16,32], f8e4m3[32,8], f32[7], f32[])"),
              HasSubstr("neither a number nor [16, 1]"));
}

}  // namespace
}  // namespace steelyard
