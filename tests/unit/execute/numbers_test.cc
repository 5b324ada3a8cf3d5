// SPDX-License-Identifier: Apache-2.0
#include "execute/numbers.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "not_numbers.h"

namespace steelyard {
namespace {

template <class Bits>
std::optional<double> Number(std::string_view dtype, Bits bits) {
  return FirstNumber({{dtype.data(), nullptr, nullptr, 0}, &bits, sizeof(bits)});
}

TEST(CountNans, CountsNoInfinities) {
  const std::array numbers{0.0F, -kNan, kInfinity, 1.0F, kNan, -kInfinity};
  EXPECT_EQ(CountNans(DType::kFloat32, numbers.data(), sizeof(numbers)), 2);
  const std::array<std::uint16_t, 3> small{0x7f80, 0xffc0, 0x3f80};  // infinity, nan, 1
  EXPECT_EQ(CountNans(DType::kBFloat16, small.data(), sizeof(small)), 1);
  EXPECT_EQ(CountNans(DType::kInt64, numbers.data(), sizeof(numbers)), 0);
}

TEST(FindNotNumbers, TellsNanFromInfinity) {
  const auto found = [](std::string_view dtype, const auto& numbers) {
    return FindNotNumbers({{dtype.data(), nullptr, nullptr, 1}, numbers.data(), sizeof(numbers)});
  };
  const NotNumbers infinite = found("float32", std::array{0.0F, -kInfinity});
  EXPECT_TRUE(infinite.infinity);
  EXPECT_FALSE(infinite.nan);
  const NotNumbers nan = found("bfloat16", std::array<std::uint16_t, 2>{0xffc0, 0x3f80});
  EXPECT_TRUE(nan.nan);
  EXPECT_FALSE(nan.infinity);
  EXPECT_FALSE(found("int64", std::array{kInfinity, kInfinity}).infinity);
}

TEST(FirstNumber, ReadsEveryFormat) {
  EXPECT_EQ(Number("float32", -1.5F), -1.5);
  EXPECT_EQ(Number("float64", 0.1), 0.1);
  EXPECT_EQ(Number("float32", std::numeric_limits<float>::denorm_min()),
            double{std::numeric_limits<float>::denorm_min()});
  EXPECT_EQ(Number<std::uint16_t>("float16", 0x3e00), 1.5);
  EXPECT_EQ(Number<std::uint16_t>("bfloat16", 0xc000), -2);
  EXPECT_TRUE(std::isinf(*Number<std::uint16_t>("float16", 0x7c00)));
  EXPECT_TRUE(std::isnan(*Number<std::uint16_t>("bfloat16", 0x7fc0)));
  EXPECT_FALSE(Number("int32", 1));
  EXPECT_FALSE(FirstNumber({{"float32", nullptr, nullptr, 0}, nullptr, 0}));
}

}  // namespace
}  // namespace steelyard
