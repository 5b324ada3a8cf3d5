// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Fourier, RealNumbersNeedHalf) {
  EXPECT_EQ(ResultOf("aten::fft_rfft(f32[4,8])"), "c64[4,5]");
  EXPECT_EQ(ResultOf("aten::fft_irfft(c64[4,5])"), "f32[4,8]");
  EXPECT_EQ(ResultOf("aten::fft_fft2(f32[4,8])"), "c64[4,8]");
  EXPECT_THAT(RefusalOf("aten::fft_rfft(bf16[4,8])"), HasSubstr("float32 and float64"));
}

TEST(Fourier, TransformedDimensionLiesInnermost) {
  EXPECT_EQ(ResultOf("aten::_fft_c2c(c64[4,8,6], [1], 0, True)"), "c64[4,8,6]{48,1,8}");
  // 4 and 6 cannot become one dimension without a copy.
  EXPECT_THAT(EventsOf("aten::_fft_c2c(c64[4,8,6], [1], 0, True)"),
              ElementsAre(Line(4 * 8 * 6 * 8, "empty"), Line(4 * 8 * 6 * 8, "empty"),
                          Line(-4 * 8 * 6 * 8, "_fft_c2c")));
}

TEST(Fourier, LinesAreCutOrFilled) {
  EXPECT_EQ(ResultOf("aten::fft_fft(c64[4,8], 10)"), "c64[4,10]");
  EXPECT_EQ(ResultOf("aten::fft_fft(c64[4,8], 6)"), "c64[4,6]");
}

TEST(Fourier, SymmetricSignalsHaveRealSpectra) {
  EXPECT_EQ(ResultOf("aten::fft_hfft(c64[4,5])"), "f32[4,8]");
  EXPECT_EQ(ResultOf("aten::fft_ihfft(f32[4,8])"), "c64[4,5]");
  EXPECT_EQ(ResultOf("aten::fft_hfftn(c64[4,8,5])"), "f32[4,8,8]");
  EXPECT_EQ(ResultOf("aten::fft_ihfft2(f32[2,4,8])"), "c64[2,4,5]{20,1,4}");
  EXPECT_THAT(RefusalOf("aten::fft_ihfft(c64[4,8])"), HasSubstr("real"));
}

}  // namespace
}  // namespace steelyard
