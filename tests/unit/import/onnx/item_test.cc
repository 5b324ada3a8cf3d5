// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/item.h"

#include <gtest/gtest.h>

namespace steelyard::onnx {
namespace {

TEST(Workshop, MakesConstantsBuffersOnce) {
  Workshop workshop("model", "");
  Item& item = workshop.Add({.name = "c",
                             .dtype = DType::kInt64,
                             .shape = Shape{Dim(2)},
                             .numbers = std::vector{Dim(1), Dim(2)}});
  EXPECT_EQ(workshop.TensorOf(item).id, workshop.TensorOf(item).id);
  const Result<Program> program = std::move(workshop.builder).Build();
  ASSERT_TRUE(program);
  EXPECT_EQ(program->buffers.size(), 1U);
}

TEST(Workshop, ComputesWhatDependsOnSizes) {
  Workshop workshop("model", "");
  const Dim batch = workshop.Symbol("batch");
  Item& item = workshop.Add(
      {.name = "s", .dtype = DType::kInt64, .shape = Shape{Dim(1)}, .numbers = std::vector{batch}});
  EXPECT_TRUE(workshop.TensorOf(item).defined());
  EXPECT_EQ(workshop.builder.Here().calls, 2U);  // scalar_tensor, stack
}

TEST(Workshop, NamesSymbolsOnce) {
  Workshop workshop("model", "");
  EXPECT_EQ(workshop.Symbol("batch"), workshop.Symbol("batch"));
  EXPECT_EQ(workshop.Symbol("batch size"), workshop.Symbol("batch_size"));
  EXPECT_NE(workshop.FreshSymbol(), workshop.FreshSymbol());
}

}  // namespace
}  // namespace steelyard::onnx
