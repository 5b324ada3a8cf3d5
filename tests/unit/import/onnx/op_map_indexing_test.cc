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

TEST(Indexing, BoxesAreChosenForEachClass) {
  ModelText model;
  model.Input("boxes", {1, 10, 4}).Input("scores", {1, 2, 10}).Integers("most", {3});
  model.Node({.op = "NonMaxSuppression", .inputs = {"boxes", "scores", "most"}, .outputs = {"y"}});
  EXPECT_EQ(ResultOf(model.Output("y")), "?,3");
  const std::string calls = CallsOf(model);
  EXPECT_NE(calls.find("torchvision::nms", calls.find("torchvision::nms") + 1), std::string::npos);
}

TEST(Indexing, TuplesOfSamplesAreTheirOwn) {
  const ModelText model = OneNode("GatherND", {{2, 5, 7}, {2, 3, 1}}, {Int("batch_dims", 1)});
  EXPECT_EQ(CallsOf(model), "aten::unbind.int aten::arange aten::reshape aten::index.Tensor");
  EXPECT_EQ(ResultOf(model), "2,3,7");
}

TEST(Indexing, CachesAreWrittenTo) {
  EXPECT_EQ(CallsOf(OneNode("TensorScatter", {{2, 3, 16, 4}, {2, 3, 5, 4}}, {}, 24)),
            "aten::slice_scatter");
}

}  // namespace
}  // namespace steelyard::onnx
