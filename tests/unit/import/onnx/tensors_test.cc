// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/tensors.h"

#include <gtest/gtest.h>

#include "models.h"

namespace steelyard::onnx {
namespace {

Item Read(const std::string& bytes) { return ItemOf(TensorProto(bytes)); }

TEST(ItemOf, ReadsSmallIntegers) {
  const std::string bytes = IntegersBytes("shape", {2, -1});
  const Item item = Read(bytes);
  EXPECT_EQ(item.dtype, DType::kInt64);
  EXPECT_EQ(item.numbers, (std::vector<Dim>{Dim(2), Dim(-1)}));
}

TEST(ItemOf, ReadsHalfFloatsHoweverTheyAreWritten) {
  const int half = 10;
  std::string raw = TensorBytes("a", {1}, half), listed = TensorBytes("a", {1}, half);
  const std::vector<std::int32_t> bits{0x3800};  // 2^-1: exponent 14 - 15, no fraction
  protozero::pbf_writer(raw).add_bytes(9, std::string("\x00\x38", 2));
  protozero::pbf_writer(listed).add_packed_int32(5, bits.begin(), bits.end());
  EXPECT_EQ(Read(raw).reals, std::vector<double>{0.5});
  EXPECT_EQ(Read(listed).reals, std::vector<double>{0.5});
}

TEST(ItemOf, DoesNotReadWeights) {
  std::string bytes = TensorBytes("w", {65}, kInt64);
  protozero::pbf_writer(bytes).add_bytes(9, std::string(65 * 8, '\1'));
  const Item item = Read(bytes);
  EXPECT_TRUE(item.stored);
  EXPECT_FALSE(item.is_constant());
}

TEST(ItemOf, RefusesAbsurdSizes) {
  EXPECT_THROW(Read(TensorBytes("w", {-1})), Refusal);
  EXPECT_THROW(Read(TensorBytes("w", {1 << 30, 1 << 30, 1 << 30})), Refusal);
  EXPECT_THROW(Read(TensorBytes("w", std::vector<int>(65, 1))), Refusal);
}

TEST(DimOf, NeverMakesAnExpression) {
  EXPECT_TRUE(DimOf(INT64_MIN).is_number());
  EXPECT_TRUE(DimOf(INT64_MIN + 7).is_number());
  EXPECT_EQ(DimOf(-3), Dim(-3));
}

}  // namespace
}  // namespace steelyard::onnx
