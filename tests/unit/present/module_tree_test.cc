// SPDX-License-Identifier: Apache-2.0
#include "present/module_tree.h"

#include <gtest/gtest.h>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

// In the order of the tree.
enum : std::size_t { kRoot, kEncoder, kLayer0, kLayer1, kHead };

TEST(ModuleTreeTest, KnowsWhatIsInsideWhat) {
  const WeighedModel model;
  const ModuleTree tree(model.kernels, model.modules);
  EXPECT_EQ(tree.end(kRoot), model.modules.size());
  EXPECT_EQ(tree.end(kEncoder), kHead);
  EXPECT_FALSE(tree.has_children(kLayer0));
  EXPECT_EQ(tree.path(kLayer1), "encoder.layer.1");
  EXPECT_EQ(tree.class_name(kHead), "Linear");
  EXPECT_EQ(tree.Children(kRoot).size(), 2U);
}

TEST(ModuleTreeTest, FoldsNumberedSiblingsThatAreAlike) {
  const WeighedModel model;
  const ModuleTree tree(model.kernels, model.modules);
  const std::vector<Repeat> layers = tree.FoldedChildren(kEncoder);
  ASSERT_EQ(layers.size(), 1U);
  EXPECT_EQ(layers[0].first, kLayer0);
  EXPECT_EQ(layers[0].last, kLayer1);
  EXPECT_EQ(layers[0].count, 2);
  EXPECT_EQ(tree.FoldedChildren(kRoot).size(), 2U) << "encoder and head are not numbered";
}

TEST(ModuleTreeTest, DoesNotFoldWhatDiffers) {
  WeighedModel model;
  model.modules[kLayer1].work.flops += 1;
  EXPECT_EQ(ModuleTree(model.kernels, model.modules).FoldedChildren(kEncoder).size(), 2U);
}

TEST(ModuleTreeTest, OneModuleIsATree) {
  WeighedModel model;
  model.modules.resize(1);
  EXPECT_TRUE(ModuleTree(model.kernels, model.modules).Children(kRoot).empty());
}

}  // namespace
}  // namespace steelyard::present
