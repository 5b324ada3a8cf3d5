// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/allocations.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Writes down what a rule asks for.
class Recorder final : public Allocations {
 public:
  void Output(int i, std::string_view label) override {
    lines.push_back("output " + std::to_string(i) + " " + std::string(label));
  }
  Scratch Allocate(std::int64_t bytes, std::string_view label) override {
    lines.push_back("+" + std::to_string(bytes) + " " + std::string(label));
    sizes_.push_back(bytes);
    return static_cast<Scratch>(sizes_.size() - 1);
  }
  void Free(Scratch scratch, std::string_view label) override {
    lines.push_back("-" + std::to_string(sizes_[scratch]) + " " + std::string(label));
  }
  std::vector<std::string> lines;

 private:
  std::vector<std::int64_t> sizes_;
};

class AllocationsTest : public ::testing::Test {
 protected:
  TensorView Add(DType dtype, Dims sizes, Dims strides) {
    return {program_, program_.AddTensor(kNoString, dtype, sizes, strides)};
  }
  Program program_;
  Recorder memory_;
};

TEST_F(AllocationsTest, BytesOfPackedIntegersRoundUp) {
  EXPECT_EQ(allocations::Bytes(3, DType::kInt4), 2);
  EXPECT_EQ(allocations::Bytes(3, DType::kFloat32), 3 * 4);
  EXPECT_THROW(allocations::Bytes(Count(INT64_MAX) * 2, DType::kInt8), RuleError);
}

TEST_F(AllocationsTest, BoxesOfPythonNumbers) {
  EXPECT_EQ(allocations::BoxBytes(Argument::OfFloat(0.5)), 8);
  EXPECT_EQ(allocations::BoxBytes(Argument::OfInt(std::int64_t{1})), 8);
  EXPECT_EQ(allocations::BoxBytes(Argument::OfBool(true)), 1);
}

TEST_F(AllocationsTest, CastsAreDense) {
  EXPECT_FALSE(allocations::Cast(Add(DType::kFloat32, {2, 3}, {3, 1}), DType::kFloat32, memory_));
  // An expanded tensor has three elements in memory, its cast all six.
  EXPECT_TRUE(allocations::Cast(Add(DType::kFloat32, {2, 3}, {0, 1}), DType::kFloat64, memory_));
  EXPECT_THAT(memory_.lines, ElementsAre("+" + std::to_string(2 * 3 * 8) + " aten::empty_strided"));
}

TEST_F(AllocationsTest, LargeTransposedMatricesAreCopiedByBlocks) {
  allocations::Free(allocations::Contiguous(Add(DType::kFloat32, {59, 61}, {1, 59}), memory_),
                    memory_);
  EXPECT_THAT(memory_.lines, ElementsAre("+14396 aten::empty", "-14396 "));  // 59 * 61 * 4
  memory_.lines.clear();
  allocations::Free(allocations::Contiguous(Add(DType::kFloat32, {60, 60}, {1, 60}), memory_),
                    memory_);
  EXPECT_THAT(
      memory_.lines,  // 60 * 60 * 4
      ElementsAre("+14400 aten::empty", "+14400 aten::empty", "-14400 aten::copy_", "-14400 "));
}

TEST_F(AllocationsTest, WhatIsContiguousIsNotCopied) {
  EXPECT_FALSE(allocations::Contiguous(Add(DType::kFloat32, {2, 3}, {3, 1}), memory_));
  allocations::Free(std::nullopt, memory_);
  EXPECT_THAT(memory_.lines, IsEmpty());
}

}  // namespace
}  // namespace steelyard
