// SPDX-License-Identifier: Apache-2.0
//
// Expectations follow PyTorch's rules; tests/differential compares what the operator rows make of
// them with PyTorch itself.
#include "ir/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(NumElements, MultipliesOrFails) {
  EXPECT_EQ(NumElements(Dims{}), 1);
  EXPECT_EQ(NumElements(Dims{2, 3, 4}), 2 * 3 * 4);
  EXPECT_EQ(NumElements(Dims{INT64_MAX, 2}), std::nullopt);
  EXPECT_EQ(NumElements(Dims{INT64_MAX, 2, 0}), 0);
  EXPECT_EQ(NumElements(Dims{2, -1}), std::nullopt);
}

TEST(ContiguousStrides, AreProductsOfTheInnerSizes) {
  EXPECT_THAT(ContiguousStrides(Dims{}), ElementsAre());
  EXPECT_THAT(ContiguousStrides(Dims{2, 3, 4}), ElementsAre(3 * 4, 4, 1));
  // A size of zero counts as one.
  EXPECT_THAT(ContiguousStrides(Dims{2, 0, 4}), ElementsAre(1 * 4, 4, 1));
  EXPECT_THAT(ContiguousStrides(Dims{2, INT64_MAX, 4}), ElementsAre(INT64_MAX, 4, 1));
}

TEST(IsContiguous, LooksAtDimensionsThatMove) {
  EXPECT_TRUE(IsContiguous(Dims{2, 3}, Dims{3, 1}));
  EXPECT_FALSE(IsContiguous(Dims{2, 3}, Dims{1, 2}));
  EXPECT_TRUE(IsContiguous(Dims{2, 1, 3}, Dims{3, 99, 1}));
  EXPECT_TRUE(IsContiguous(Dims{2, 0}, Dims{7, 7}));
  EXPECT_TRUE(IsContiguous(Dims{}, Dims{}));
  EXPECT_FALSE(IsContiguous(Dims{2, 3}, Dims{0, 1}));
}

TEST(ChannelsLast, StridesOfPicturesAndVolumes) {
  // n, c, h, w: the channels are innermost.
  EXPECT_THAT(ChannelsLastStrides(Dims{2, 3, 5, 7}), ElementsAre(3 * 5 * 7, 1, 3 * 7, 3));
  EXPECT_THAT(ChannelsLastStrides(Dims{2, 3, 4, 5, 7}),
              ElementsAre(3 * 4 * 5 * 7, 1, 3 * 5 * 7, 3 * 7, 3));
}

TEST(ChannelsLast, IsSuggestedByUnambiguousStrides) {
  const Dims sizes = {2, 3, 5, 7};
  EXPECT_TRUE(IsChannelsLast(sizes, ChannelsLastStrides(sizes)));
  EXPECT_FALSE(IsChannelsLast(sizes, ContiguousStrides(sizes)));
  // A slice of the channels is not dense but still suggests the format.
  EXPECT_TRUE(IsChannelsLast(Dims{2, 2, 5, 7}, ChannelsLastStrides(sizes)));
  EXPECT_FALSE(IsContiguousChannelsLast(Dims{2, 2, 5, 7}, ChannelsLastStrides(sizes)));
  // [N,1,1,1] of equal strides could be either.
  EXPECT_FALSE(IsChannelsLast(Dims{4, 1, 1, 1}, Dims{1, 1, 1, 1}));
  EXPECT_TRUE(IsContiguousChannelsLast(Dims{4, 1, 1, 1}, Dims{1, 1, 1, 1}));
  EXPECT_FALSE(IsChannelsLast(Dims{2, 3, 5}, Dims{15, 1, 3}));
  EXPECT_FALSE(IsChannelsLast(Dims{2, 3, 0, 7}, Dims{1, 1, 1, 1}));
  const Dims volume = {2, 3, 4, 5, 7};
  EXPECT_TRUE(IsChannelsLast(volume, ChannelsLastStrides(volume)));
  EXPECT_TRUE(IsContiguousChannelsLast(volume, ChannelsLastStrides(volume)));
}

TEST(IsNonOverlappingAndDense, TakesAnyOrderOfDimensions) {
  EXPECT_TRUE(IsNonOverlappingAndDense(Dims{2, 3}, Dims{1, 2}));
  EXPECT_TRUE(IsNonOverlappingAndDense(Dims{2, 1, 3}, Dims{3, 0, 1}));
  EXPECT_FALSE(IsNonOverlappingAndDense(Dims{2, 3}, Dims{0, 1}));  // overlaps
  EXPECT_FALSE(IsNonOverlappingAndDense(Dims{2, 3}, Dims{4, 1}));  // has gaps
  EXPECT_FALSE(IsNonOverlappingAndDense(Dims{2, 2}, Dims{1, 1}));
}

Dims Iterate(const Dims& shape, std::initializer_list<std::pair<Dims, Dims>> operands) {
  std::vector<Layout> layouts;
  for (const auto& [sizes, strides] : operands) layouts.push_back({sizes, strides});
  return IteratorStrides(shape, layouts);
}

TEST(IteratorStrides, KeepWhatAllOperandsShare) {
  EXPECT_THAT(Iterate({2, 3}, {{{2, 3}, {3, 1}}, {{2, 3}, {3, 1}}}), ElementsAre(3, 1));
  EXPECT_THAT(Iterate({2, 3}, {{{2, 3}, {1, 2}}, {{2, 3}, {1, 2}}}), ElementsAre(1, 2));
  const Dims sizes = {2, 3, 5, 7};
  EXPECT_THAT(Iterate(sizes, {{sizes, ChannelsLastStrides(sizes)}}),
              ElementsAre(3 * 5 * 7, 1, 3 * 7, 3));
}

TEST(IteratorStrides, FollowTheFirstOperandThatDecides) {
  // A transposed and a row-major one: the first has its way.
  EXPECT_THAT(Iterate({2, 3}, {{{2, 3}, {1, 2}}, {{2, 3}, {3, 1}}}), ElementsAre(1, 2));
  EXPECT_THAT(Iterate({2, 3}, {{{2, 3}, {3, 1}}, {{2, 3}, {1, 2}}}), ElementsAre(3, 1));
  // A broadcast dimension decides nothing.
  EXPECT_THAT(Iterate({2, 3}, {{{3}, {1}}, {{2, 3}, {1, 2}}}), ElementsAre(1, 2));
  // With gaps in it, the order stays and the gaps go.
  EXPECT_THAT(Iterate({2, 3}, {{{2, 3}, {1, 10}}}), ElementsAre(1, 2));
}

TEST(IteratorStrides, WithoutOperandsAreRowMajor) {
  EXPECT_THAT(IteratorStrides(Dims{2, 3}, {}), ElementsAre(3, 1));
}

TEST(EmptyLikeStrides, KeepDenseLayoutsAndTheOrderOfOthers) {
  EXPECT_THAT(EmptyLikeStrides(Dims{2, 3}, Dims{1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(EmptyLikeStrides(Dims{2, 3}, Dims{1, 10}), ElementsAre(1, 2));
  EXPECT_THAT(EmptyLikeStrides(Dims{2, 3}, Dims{0, 1}), ElementsAre(3, 1));  // an expanded row
  EXPECT_THAT(EmptyLikeStrides(Dims{2, 3}, Dims{1, 0}), ElementsAre(3, 1));  // an expanded column
}

TEST(ViewStrides, SplitAndMergeWhatLiesEvenly) {
  EXPECT_THAT(ViewStrides(Dims{6, 4}, Dims{4, 1}, Dims{2, 3, 4}),
              Optional(ElementsAre(3 * 4, 4, 1)));
  EXPECT_THAT(ViewStrides(Dims{2, 3, 4}, Dims{12, 4, 1}, Dims{24}), Optional(ElementsAre(1)));
  // Rows ten apart: within a row anything, over rows nothing.
  EXPECT_THAT(ViewStrides(Dims{3, 4}, Dims{10, 1}, Dims{3, 2, 2}), Optional(ElementsAre(10, 2, 1)));
  EXPECT_EQ(ViewStrides(Dims{3, 4}, Dims{10, 1}, Dims{12}), std::nullopt);
  EXPECT_EQ(ViewStrides(Dims{3, 4}, Dims{1, 3}, Dims{12}), std::nullopt);
}

TEST(ViewStrides, OfEmptyAndScalarTensors) {
  EXPECT_THAT(ViewStrides(Dims{}, Dims{}, Dims{1, 1}), Optional(ElementsAre(1, 1)));
  EXPECT_THAT(ViewStrides(Dims{0, 3}, Dims{7, 5}, Dims{0, 3}), Optional(ElementsAre(7, 5)));
  EXPECT_THAT(ViewStrides(Dims{0, 3}, Dims{7, 5}, Dims{3, 0}), Optional(ElementsAre(1, 1)));
}

TEST(InferSize, FillsInOneSize) {
  EXPECT_THAT(InferSize(Dims{2, -1, 4}, 24), Optional(ElementsAre(2, 24 / (2 * 4), 4)));
  EXPECT_THAT(InferSize(Dims{2, 3}, 6), Optional(ElementsAre(2, 3)));
  EXPECT_THAT(InferSize(Dims{2, -1}, 0), Optional(ElementsAre(2, 0)));
  EXPECT_EQ(InferSize(Dims{2, -1, -1}, 24), std::nullopt);
  EXPECT_EQ(InferSize(Dims{5, -1}, 24), std::nullopt);
  EXPECT_EQ(InferSize(Dims{2, 3}, 7), std::nullopt);
  EXPECT_EQ(InferSize(Dims{0, -1}, 0), std::nullopt);  // any number would do
  EXPECT_EQ(InferSize(Dims{-2, 3}, 6), std::nullopt);
  EXPECT_EQ(InferSize(Dims{INT64_MAX, INT64_MAX}, 6), std::nullopt);
}

TEST(BroadcastShapes, AlignAtTheEnd) {
  EXPECT_THAT(BroadcastShapes(Dims{2, 1, 4}, Dims{3, 1}), Optional(ElementsAre(2, 3, 4)));
  EXPECT_THAT(BroadcastShapes(Dims{}, Dims{5}), Optional(ElementsAre(5)));
  EXPECT_THAT(BroadcastShapes(Dims{0}, Dims{1}), Optional(ElementsAre(0)));
  EXPECT_EQ(BroadcastShapes(Dims{2, 3}, Dims{4}), std::nullopt);
  EXPECT_EQ(BroadcastShapes(Dims{0}, Dims{2}), std::nullopt);
  const Dims a = {4, 1};
  const Dims b = {1, 5};
  const Dims c = {1};
  const std::array<Sizes, 3> shapes = {a, b, c};
  EXPECT_THAT(BroadcastShapes(shapes), Optional(ElementsAre(4, 5)));
}

}  // namespace
}  // namespace steelyard
