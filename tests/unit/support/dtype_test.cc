// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "steelyard/tables.h"

namespace steelyard {
namespace {

constexpr int kCount = static_cast<int>(DType::kComplex128) + 1;

TEST(DType, NamesReadBack) {
  for (int i = 0; i < kCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(DTypeNamed(NameOf(dtype)), dtype);
    EXPECT_EQ(DTypeShortNamed(ShortNameOf(dtype)), dtype);
  }
  EXPECT_EQ(DTypeNamed("float"), std::nullopt);
  EXPECT_EQ(DTypeShortNamed("float32"), std::nullopt);
}

TEST(DType, EveryOneIsOfOneClass) {
  for (int i = 0; i < kCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const int classes = IsFloating(dtype) + IsComplex(dtype) + IsIntegral(dtype);
    EXPECT_EQ(classes, dtype == DType::kBool ? 0 : 1) << NameOf(dtype);
  }
}

TEST(DType, WidthsAreThoseInTheNames) {
  EXPECT_EQ(BitsOf(DType::kBool), 8);
  EXPECT_EQ(BitsOf(DType::kUInt4), 4);
  EXPECT_EQ(BitsOf(DType::kFloat4E2M1), 4);
  EXPECT_EQ(BitsOf(DType::kFloat6E3M2), 6);
  EXPECT_EQ(BitsOf(DType::kFloat8E4M3), 8);
  EXPECT_EQ(BitsOf(DType::kBFloat16), 16);
  EXPECT_EQ(BitsOf(DType::kFloat64), 64);
  EXPECT_EQ(BitsOf(DType::kComplex64), 2 * BitsOf(DType::kFloat32));
}

TEST(DType, NamesArePyTorchs) {
  EXPECT_EQ(NameOf(DType::kFloat8E4M3), "float8_e4m3fn");
  EXPECT_EQ(NameOf(DType::kBFloat16), "bfloat16");
  EXPECT_EQ(ShortNameOf(DType::kInt64), "i64");
}

}  // namespace
}  // namespace steelyard
