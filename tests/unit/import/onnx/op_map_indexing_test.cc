// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

ModelText OfIndex(const std::string& op, const std::vector<Size>& x, const std::vector<Size>& index,
                  std::int64_t axis) {
  return ModelText()
      .Input("x", x)
      .Input("index", index, kInt64)
      .Node(
          {.op = op, .inputs = {"x", "index"}, .outputs = {"y"}, .attributes = {Int("axis", axis)}})
      .Output("y");
}

TEST(Indexing, GatherIsWhatTheModelCalled) {
  EXPECT_EQ(CallsOf(OfIndex("Gather", {10, 4}, {2, 3}, 0)), "aten::embedding");
  EXPECT_EQ(ResultOf(OfIndex("Gather", {10, 4}, {2, 3}, 0)), "2,3,4");
  EXPECT_EQ(CallsOf(OfIndex("Gather", {2, 10, 4}, {3}, 1)), "aten::index_select");
  EXPECT_EQ(ResultOf(OfIndex("Gather", {2, 10, 4}, {3, 5}, 1)), "2,3,5,4");
}

TEST(Indexing, TuplesOfPositions) {
  EXPECT_EQ(ResultOf(OfIndex("GatherND", {5, 6, 7}, {3, 2}, 0)), "3,7");
}

TEST(Indexing, DataDecideHowManyAreNotZero) {
  EXPECT_EQ(ResultOf(OneNode("NonZero", {{3, 4}})), "2,?");
}

TEST(Indexing, TakesTheLargest) {
  const ModelText model = ModelText()
                              .Input("x", {2, 9})
                              .Integers("k", {3})
                              .Node({.op = "TopK", .inputs = {"x", "k"}, .outputs = {"y", "at"}})
                              .Output("y");
  EXPECT_EQ(ResultOf(model), "2,3");
}

}  // namespace
}  // namespace steelyard::onnx
