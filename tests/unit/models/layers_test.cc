// SPDX-License-Identifier: Apache-2.0
#include "models/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_under_test.h"

namespace steelyard::models {
namespace {

using ::testing::HasSubstr;

TEST(Layers, ParametersAreNamedByTheirPath) {
  NetUnderTest t;
  const Layer root(t.net);
  const Layer block(root, "block", "Block");
  const Linear fc(block, "fc", 8, 4);
  const Tensor x = t.builder.Input("x", DType::kFloat32, {2, 8});
  t.builder.Return(fc(x));
  EXPECT_THAT(t.Text(),
              HasSubstr("aten::linear(%x, %block.fc.weight, %block.fc.bias) in block.fc"));
}

TEST(Layers, ATiedLinearHasNoWeightOfItsOwn) {
  NetUnderTest t;
  const Layer root(t.net);
  const Embedding embed(root, "embed", 10, 4);
  const Linear head(root, "head", embed.weight);
  t.builder.Return(head(embed(t.builder.Input("x", DType::kInt64, {2}))));
  const Program program = std::move(t.builder).Build().value();
  ASSERT_EQ(program.parameters.size(), 2u);
  EXPECT_EQ(program.parameters[1].tied_to, 0u);
}

TEST(Layers, RmsNormIsInFloat32) {
  NetUnderTest t({.dtype = DType::kBFloat16});
  const RmsNorm norm(Layer(t.net), "norm", "Norm", 8, 1e-6);
  t.builder.Return(norm(t.builder.Input("x", DType::kBFloat16, {2, 8})));
  const std::string text = t.Text();
  EXPECT_THAT(text, HasSubstr("%to = aten::to.dtype(%x, f32)"));
  EXPECT_THAT(text, HasSubstr("aten::to.dtype(%mul, bf16)"));
}

TEST(Layers, RmsNormMayDivideWhatIsNarrow) {
  NetUnderTest t({.dtype = DType::kBFloat16});
  const RmsNorm norm(Layer(t.net), "norm", "Norm", 8, 1e-6, RmsWeight::kOfNarrow);
  t.builder.Return(norm(t.builder.Input("x", DType::kBFloat16, {2, 8})));
  EXPECT_THAT(t.Text(), HasSubstr("aten::mul.Tensor(%x, %rsqrt)"));
}

TEST(Layers, ATiedEmbeddingHasNoWeightOfItsOwn) {
  NetUnderTest t;
  const Layer root(t.net);
  const Embedding shared(root, "shared", 10, 4);
  const Embedding again(root, "again", shared.weight);
  t.builder.Return(again(t.builder.Input("x", DType::kInt64, {2})));
  EXPECT_THAT(t.Text(), HasSubstr("aten::embedding(%shared.weight, %x, -1) in again"));
}

TEST(Layers, DropoutRunsInTraining) {
  NetUnderTest t({.training = true});
  const Dropout dropout(Layer(t.net), "dropout", 0.1);
  t.builder.Return(dropout(t.builder.Input("x", DType::kFloat32, {2})));
  EXPECT_THAT(t.Text(), HasSubstr("aten::dropout(%x, 0.1, True)"));
}

TEST(Layers, AnUnknownActivationIsRefused) {
  NetUnderTest t;
  const Activation act(Layer(t.net), "act", "hidden_act", "swoosh");
  EXPECT_THAT(Describe(t.config.status().error()),
              HasSubstr("hidden_act: there is no activation \"swoosh\". Known are: gelu, "));
}

TEST(Layers, ThereAreOnlySoManyLayers) {
  NetUnderTest t;
  EXPECT_EQ(Admitted(t.config, "layers", 4096), 4096);
  EXPECT_TRUE(t.config.status());
  EXPECT_EQ(Admitted(t.config, "layers", 4097), 0);
  EXPECT_FALSE(t.config.status());
}

}  // namespace
}  // namespace steelyard::models
