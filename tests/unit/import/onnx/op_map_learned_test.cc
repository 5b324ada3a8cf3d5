// SPDX-License-Identifier: Apache-2.0
//
// What skl2onnx writes is in tests/data/onnx/learned; here is what nobody should write.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

ModelText Learned(const std::string& op, const std::vector<Size>& rows,
                  const std::vector<Attribute>& attributes) {
  ModelText model(5, "ai.onnx.ml");
  model.Input("x", rows);
  NodeText node{.op = op, .inputs = {"x"}, .outputs = {"y"}, .attributes = attributes};
  node.domain = "ai.onnx.ml";
  return model.Node(node).Output("y");
}

// Decisions whose ways lead to these places, leaves or not, of two targets.
std::string Trees(const std::vector<std::int64_t>& yes, const std::vector<std::int64_t>& leaves,
                  const std::vector<std::int64_t>& roots) {
  const std::vector<std::int64_t> all(yes.size(), 1);
  return ResultOf(Learned("TreeEnsemble", {7, 3},
                          {Int("n_targets", 2), Ints("tree_roots", roots),
                           Ints("nodes_truenodeids", yes), Ints("nodes_trueleafs", leaves),
                           Ints("nodes_falsenodeids", std::vector(yes.size(), std::int64_t{0})),
                           Ints("nodes_falseleafs", all), Ints("leaf_targetids", {0, 1})}));
}

TEST(Learned, TreesEnd) {
  EXPECT_EQ(Trees({1, 1}, {0, 1}, {0}), "7,2");
  EXPECT_EQ(Trees({1, 0}, {0, 0}, {0}), "none") << "a circle";
  EXPECT_EQ(Trees({2, 1}, {0, 1}, {0}), "none") << "beyond the last";
  EXPECT_EQ(Trees({1, 1}, {0, 1}, {-1}), "none");
}

TEST(Learned, MoreVectorsThanThereCanBe) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  const ModelText model = Learned(
      "SVMClassifier", {7, 3},
      {Ints("classlabels_ints", {0, 1, 2}), Ints("vectors_per_class", {kMost, kMost, kMost})});
  EXPECT_EQ(ResultOf(model), "none");
}

TEST(Learned, FeaturesMustBeKnown) {
  const std::vector<Attribute> attributes{Reals("coefficients", {1, 2, 3, 4, 5, 6}),
                                          Int("targets", 2)};
  EXPECT_EQ(ResultOf(Learned("LinearRegressor", {7, 3}, attributes)), "7,2");
  EXPECT_EQ(ResultOf(Learned("LinearRegressor", {3}, attributes)), "1,2");
  EXPECT_EQ(ResultOf(Learned("LinearRegressor", {7, 4}, attributes)), "none");
  EXPECT_EQ(ResultOf(Learned("LinearRegressor", {7, "features"}, attributes)), "none");
}

}  // namespace
}  // namespace steelyard::onnx
