// SPDX-License-Identifier: Apache-2.0
#include "session/learned_size.h"

#include <gtest/gtest.h>

#include <utility>

#include "steelyard/builder.h"

namespace steelyard {
namespace {

TEST(LearnedSize, DependsOnNoOpenSizeAndCountsTiedOnce) {
  Builder b("M");
  const Dim batch = b.Symbol({.name = "batch"});
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {batch, 4});
  const Builder::Tensor w = b.Parameter("w", DType::kFloat16, {8, 4});
  b.Tie("v", w);
  b.Parameter("places", DType::kInt64, {5}, false);
  b.Return(b.Call("aten::linear", x, w));
  const Result<Program> program = std::move(b).Build();
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<LearnedSize> size = LearnedSizeOf(*program);
  ASSERT_TRUE(size);
  EXPECT_EQ(size->count, 32);
  EXPECT_EQ(size->bytes, 64);
}

}  // namespace
}  // namespace steelyard
