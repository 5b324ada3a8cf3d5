// SPDX-License-Identifier: Apache-2.0
#include "import/quantised_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "steelyard/builder.h"

namespace steelyard {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kStoredBytes = 100;

// One Linear layer, of 16 inputs and 8 outputs, and what else is done with its weight.
Program ModelThatAlsoCalls(std::string_view op) {
  Builder b("Model");
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {2, 16});
  const Builder::Tensor weight = b.Parameter("fc.weight", DType::kFloat32, {8, 16});
  const Builder::Tensor norm = b.Parameter("norm.weight", DType::kFloat32, {8});
  b.Return(b.Call("aten::mul.Tensor", b.Call("aten::linear", x, weight), norm));
  if (!op.empty()) b.Return(b.Call(op, weight));
  return *std::move(b).Build();
}

// A weight of that name, packed.
Program Stored(std::string_view name, const Builder::Shape& sizes) {
  Builder b("Weights");
  b.Parameter(name, DType::kFloat16, sizes);
  Program program = *std::move(b).Build();
  program.has_graph = false;
  program.packings.push_back({.name = program.strings.Intern("int4"), .bytes = kStoredBytes});
  program.parameters[0].packing = 0;
  return program;
}

TEST(QuantisedModelTest, ALayerTakesThePackedWeight) {
  const Result<Program> joined =
      WithQuantisedWeights(ModelThatAlsoCalls({}), Stored("fc.weight", {8, 16}));
  ASSERT_TRUE(joined.has_value());
  const NamedTensor& weight = joined->parameters[0];
  EXPECT_EQ(joined->stored_as(weight), "int4");
  EXPECT_EQ(joined->stored_bytes(weight), kStoredBytes);
  EXPECT_FALSE(joined->values[weight.value].requires_grad);
  EXPECT_EQ(joined->op_name(joined->main().nodes[0].op), "steelyard::packed_linear");
  // What is not quantised stays as it was.
  EXPECT_EQ(joined->stored_bytes(joined->parameters[1]), 8 * 4);
  EXPECT_TRUE(joined->values[joined->parameters[1].value].requires_grad);
  ASSERT_EQ(joined->notes.size(), 1U);
  EXPECT_THAT(std::string(joined->text(joined->notes[0])), HasSubstr("512 B more"));  // 8 * 16 * 4
}

TEST(QuantisedModelTest, ATableOfWordsMayBePackedToo) {
  Builder b("Model");
  const Builder::Tensor tokens = b.Input("tokens", DType::kInt64, {2});
  const Builder::Tensor words = b.Parameter("fc.weight", DType::kFloat32, {8, 16});
  const Builder::Tensor rows = b.Call("aten::embedding", words, tokens);
  b.Return(b.Call("aten::linear", rows, words));
  const Result<Program> joined =
      WithQuantisedWeights(*std::move(b).Build(), Stored("fc.weight", {8, 16}));
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->op_name(joined->main().nodes[0].op), "aten::embedding");
  EXPECT_EQ(joined->op_name(joined->main().nodes[1].op), "steelyard::packed_linear");
  EXPECT_EQ(joined->stored_bytes(joined->parameters[0]), kStoredBytes);
}

TEST(QuantisedModelTest, TheCountIsEnoughWhereTheFileHasNoSizes) {
  EXPECT_TRUE(WithQuantisedWeights(ModelThatAlsoCalls({}), Stored("fc.weight", {8 * 16})));
  EXPECT_FALSE(WithQuantisedWeights(ModelThatAlsoCalls({}), Stored("fc.weight", {8 * 17})));
}

TEST(QuantisedModelTest, RefusesOtherSizes) {
  const auto joined = WithQuantisedWeights(ModelThatAlsoCalls({}), Stored("fc.weight", {16, 8}));
  ASSERT_FALSE(joined.has_value());
  EXPECT_EQ(joined.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(joined.error().where, "fc.weight");
}

TEST(QuantisedModelTest, RefusesAWeightOfNothing) {
  const auto joined = WithQuantisedWeights(ModelThatAlsoCalls({}), Stored("gate.weight", {8, 16}));
  ASSERT_FALSE(joined.has_value());
  EXPECT_THAT(joined.error().message, HasSubstr("as gate.weight"));
}

TEST(QuantisedModelTest, RefusesAnotherUseOfTheWeight) {
  const auto joined =
      WithQuantisedWeights(ModelThatAlsoCalls("aten::relu"), Stored("fc.weight", {8, 16}));
  ASSERT_FALSE(joined.has_value());
  EXPECT_THAT(joined.error().message, HasSubstr("an operand of aten::relu"));
}

TEST(QuantisedModelTest, RefusesWeightsOfWhichNoneIsPacked) {
  Program plain = Stored("fc.weight", {8, 16});
  plain.parameters[0].packing = kNoId;
  const auto joined = WithQuantisedWeights(ModelThatAlsoCalls({}), plain);
  ASSERT_FALSE(joined.has_value());
  EXPECT_THAT(joined.error().message, HasSubstr("none of its weights"));
}

TEST(QuantisedModelTest, ExpertsTakeThePackedWeightWithoutTurningIt) {
  Builder b("Model");
  const Builder::Tensor rows = b.Input("rows", DType::kFloat32, {12, 8});
  const Builder::Tensor offsets = b.Input("offsets", DType::kInt32, {4});
  const Builder::Tensor weight = b.Parameter("experts", DType::kFloat32, {4, 16, 8});
  const Builder::Tensor turned = b.Call("aten::transpose.int", weight, -2, -1);
  b.Return(b.Call("transformers::grouped_mm_fallback", rows, turned, offsets));
  const Result<Program> joined =
      WithQuantisedWeights(*std::move(b).Build(), Stored("experts", {4, 16, 8}));
  ASSERT_TRUE(joined.has_value()) << Describe(joined.error());
  ASSERT_EQ(joined->main().nodes.size(), 1U);
  const Node& product = joined->main().nodes[0];
  EXPECT_EQ(joined->op_name(product.op), "steelyard::packed_experts");
  EXPECT_EQ(joined->args(product)[1].value, joined->parameters[0].value);
}

}  // namespace
}  // namespace steelyard
