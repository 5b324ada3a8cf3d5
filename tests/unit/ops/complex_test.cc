// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Complex, PairsAreComplexNumbers) {
  EXPECT_EQ(ResultOf("aten::view_as_complex(f32[3,5,2])"), "c64[3,5]");
  EXPECT_EQ(ResultOf("aten::view_as_real(c64[3,5])"), "f32[3,5,2]");
  EXPECT_THAT(EventsOf("aten::view_as_real(c64[3,5])"), IsEmpty());
  EXPECT_THAT(RefusalOf("aten::view_as_complex(f32[3,5,2]{10,1,5})"), HasSubstr("side by side"));
}

TEST(Complex, PartsAreViews) {
  EXPECT_EQ(ResultOf("aten::real(c64[3])"), "f32[3]{2}");
  EXPECT_EQ(ResultOf("aten::real(f32[3])"), "f32[3]");
  EXPECT_THAT(RefusalOf("aten::imag(f32[3])"), HasSubstr("no imaginary part"));
}

TEST(Complex, TwoTensorsMakeOne) {
  EXPECT_EQ(ResultOf("aten::complex(f64[2,3], f64[3])"), "c128[2,3]");
  EXPECT_THAT(RefusalOf("aten::complex(f64[2,3], f32[3])"), HasSubstr("one dtype"));
  EXPECT_THAT(RefusalOf("aten::polar(i64[3], i64[3])"), HasSubstr("no complex numbers"));
}

TEST(Complex, AnglesAreComputedAsComplexNumbers) {
  EXPECT_THAT(EventsOf("aten::angle(c64[5])"),
              ElementsAre(Line(5 * 8, "angle"), Line(5 * 4, "angle"), Line(-5 * 8, "angle")));
}

}  // namespace
}  // namespace steelyard
