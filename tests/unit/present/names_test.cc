// SPDX-License-Identifier: Apache-2.0
#include "present/names.h"

#include <gtest/gtest.h>

#include <array>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

TEST(NamesTest, Sizes) {
  EXPECT_EQ(SizesText(std::array<std::int64_t, 3>{4, 128, 768}), "4×128×768");
  EXPECT_EQ(SizesText({}), "scalar");
}

TEST(NamesTest, Classes) {
  EXPECT_EQ(ShortClass("transformers.models.bert.modeling_bert.BertLayer"), "BertLayer");
  EXPECT_EQ(ShortClass("Tiny"), "Tiny");
  EXPECT_EQ(ShortClass(""), "");
}

TEST(NamesTest, AModelIsCalledByItsClassOrElseByItsName) {
  WeighedModel model;
  EXPECT_EQ(ModelName(model.kernels), "Tiny");
  model.kernels.modules[0].class_name = kNoString;
  model.kernels.name = model.kernels.strings.Intern("tiny.onnx");
  EXPECT_EQ(ModelName(model.kernels), "tiny.onnx");
}

TEST(NamesTest, Sources) {
  const WeighedModel model;
  EXPECT_EQ(SourceText(model.kernels, model.kernels.main().nodes[0].source), "models.py:10");
  EXPECT_EQ(SourceText(model.kernels, kNoId), "");
}

TEST(NamesTest, PathsWithinAParent) {
  EXPECT_EQ(RelativePath("bert.encoder.layer.0", "bert.encoder"), "layer.0");
  EXPECT_EQ(RelativePath("bert", ""), "bert");
  EXPECT_EQ(RelativePath("bertha.x", "bert"), "bertha.x") << "not inside it";
}

TEST(NamesTest, Plurals) {
  EXPECT_EQ(Counted(1, "tensor"), "1 tensor");
  EXPECT_EQ(Counted(0, "tensor"), "0 tensors");
  EXPECT_EQ(Counted(1234, "other"), "1,234 others");
}

TEST(NamesTest, SharesOfNothingAreNothing) {
  EXPECT_EQ(FractionOf(0, 0), 0.0);
  EXPECT_EQ(FractionOf(1, 4), 0.25);
}

TEST(NamesTest, SumsStopAtWhatFits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Moved({.read = kMost, .written = 1}), kMost);
  EXPECT_EQ(ContractionFlops({.macs = kMost}), kMost);
  EXPECT_EQ(ContractionFlops({.macs = 3}), 6);
}

}  // namespace
}  // namespace steelyard::present
