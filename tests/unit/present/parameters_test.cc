// SPDX-License-Identifier: Apache-2.0
#include "present/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kCount = 8 * 8 + 8 * 8 + 4 * 8;

std::string ModelText(const Findings& findings) {
  report::Document document;
  AppendModel(findings, &document);
  return TextOf(document);
}

TEST(ParametersTest, TheHeadlineNamesTheModelAndItsInputs) {
  const WeighedModel model;
  const std::string text = ModelText(model.findings());
  static_assert(kCount == 160);
  EXPECT_THAT(text, HasSubstr("Tiny"));
  EXPECT_THAT(text, HasSubstr("160 parameters, 640 B, float32   x 2×8\n"));
  EXPECT_THAT(text, HasSubstr("Eager PyTorch on cpu: one forward pass without gradients\n"));
}

TEST(ParametersTest, TiedTensorsAreCounted) {
  WeighedModel model;
  model.parameters.tied = 2;
  EXPECT_THAT(ModelText(model.findings()), HasSubstr("float32 (2 tensors tied)"));
}

TEST(ParametersTest, AModelMayHaveNone) {
  WeighedModel model;
  model.parameters = {};
  EXPECT_THAT(ModelText(model.findings()), HasSubstr("no parameters"));
}

TEST(ParametersTest, ManyInputsAreCounted) {
  WeighedModel model;
  model.kernels.inputs.assign(7, model.kernels.inputs[0]);
  EXPECT_THAT(ModelText(model.findings()), HasSubstr("x 2×8  and 3 more inputs"));
}

TEST(ParametersTest, AMixtureOfExpertsSaysHowMuchATokenUses) {
  WeighedModel model;
  EXPECT_THAT(ModelText(model.findings()), Not(HasSubstr("Experts")));
  model.parameters.experts = 8;
  model.parameters.active_experts = 2;
  model.parameters.active = kCount / 4;
  EXPECT_THAT(ModelText(model.findings()),
              HasSubstr("8 in a layer, 2 chosen for a token: of 160 parameters 40 are active "
                        "(25.0 %)"));
}

TEST(ParametersTest, DataFollowsTheContract) {
  const WeighedModel model;
  report::Data data;
  AddModelData(model.findings(), &data);
  const report::DataView root = data.root();
  EXPECT_EQ(root.Find("model.name")->AsText(), "Tiny");
  EXPECT_EQ(root.Find("model.class")->AsText(), "models.Tiny");
  EXPECT_EQ(root.Find("model.path")->AsText(), "tiny.syt");
  EXPECT_EQ(root.Find("model.producer")->AsText(), "torch 2.15.0");
  EXPECT_EQ(root.Find("parameters.count")->AsInt(), kCount);
  EXPECT_EQ(root.Find("parameters.bytes")->AsInt(), kFloat * kCount);
  EXPECT_EQ(root.Find("parameters.by_dtype.float32.count")->AsInt(), kCount);
  EXPECT_EQ(root.Find("buffers.bytes")->AsInt(), 0);
  const report::DataView input = *At(data, "inputs").begin();
  EXPECT_EQ(input.Find("name")->AsText(), "x");
  EXPECT_EQ(input.Find("dtype")->AsText(), "float32");
  EXPECT_EQ((*input.Find("shape")->begin()).AsInt(), 2);
  EXPECT_EQ(input.Find("bytes")->AsInt(), kFloat * 2 * 8);
}

}  // namespace
}  // namespace steelyard::present
