// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

constexpr int kUInt8 = 2;

std::string DTypesOf(const ModelText& model) {
  const Result<Program> program = ImportText(model.bytes());
  if (!program) return Describe(program.error());
  return std::string(ShortNameOf(program->values[program->main().outputs[0].value].dtype));
}

TEST(Quantized, ZeroPointTellsTheDtype) {
  ModelText model;
  model.Input("x", {2, 3}).Input("scale", {}).Input("zero", {}, kInt8);
  model.Node({.op = "QuantizeLinear", .inputs = {"x", "scale", "zero"}, .outputs = {"y"}});
  EXPECT_EQ(DTypesOf(model.Output("y")), "i8");
}

TEST(Quantized, FloatsOfEightBitsAreLimitedByTheirLargest) {
  constexpr int kFloat8E5M2 = 19;
  ModelText model;
  model.Input("x", {2, 3}).Input("scale", {}).Input("zero", {}, kFloat8E5M2);
  model.Node({.op = "QuantizeLinear", .inputs = {"x", "scale", "zero"}, .outputs = {"y"}});
  EXPECT_EQ(DTypesOf(model.Output("y")), "f8e5m2");
  const Result<Program> program = ImportText(model.bytes());
  ASSERT_TRUE(program);
  const auto args = program->args(program->main().nodes.back());
  EXPECT_EQ(args[4].dim, Dim(57344));  // (1 + 3 / 4) * 2^15
}

TEST(Quantized, ChannelsHaveScalesOfTheirOwn) {
  ModelText model;
  model.Weight("w", {64, 3}, kInt8).Weight("scale", {64});
  model.Node({.op = "DequantizeLinear",
              .inputs = {"w", "scale"},
              .outputs = {"y"},
              .attributes = {Int("axis", 0)}});
  EXPECT_EQ(CallsOf(model.Output("y")), "aten::zeros quantized_decomposed::dequantize_per_channel");
}

TEST(Quantized, ProductsOfBytesAreOfWiderIntegers) {
  ModelText model;
  model.Input("a", {2, 3}, kUInt8).Input("b", {3, 4}, kInt8);
  model.Node({.op = "MatMulInteger", .inputs = {"a", "b"}, .outputs = {"y"}}).Output("y");
  EXPECT_EQ(CallsOf(model), "aten::to.dtype aten::to.dtype aten::matmul");
  EXPECT_EQ(DTypesOf(model), "i32");
  EXPECT_EQ(ResultOf(model), "2,4");
}

TEST(Quantized, BlocksHaveScalesOfTheirOwn) {
  ModelText model(21);
  model.Weight("w", {64, 6}, kInt8).Weight("scale", {64, 3});
  model.Node({.op = "DequantizeLinear",
              .inputs = {"w", "scale"},
              .outputs = {"y"},
              .attributes = {Int("axis", 1), Int("block_size", 2)}});
  EXPECT_EQ(CallsOf(model.Output("y")),
            "aten::unsqueeze aten::reshape aten::to.dtype aten::mul.Tensor aten::reshape");
  EXPECT_EQ(ResultOf(model), "64,6");
}

TEST(Quantized, ProductsOfFewBitsAreOneKernel) {
  ModelText model;
  model.Input("x", {2, 3, 64}).Weight("w", {8, 2, 16}, kUInt8).Weight("scale", {8, 2});
  model.Node({.op = "MatMulNBits",
              .inputs = {"x", "w", "scale"},
              .outputs = {"y"},
              .attributes = {Int("K", 64), Int("N", 8), Int("block_size", 32)},
              .domain = "com.microsoft"});
  EXPECT_EQ(CallsOf(model.Output("y")), "steelyard::bits_linear");
  EXPECT_EQ(ResultOf(model), "2,3,8");
}

TEST(Quantized, ChannelsHaveZerosOfTheirOwn) {
  ModelText model(10);
  model.Input("x", {1, 1, 3, 3}, kInt8).Weight("w", {2, 1, 2, 2}, kInt8);
  model.Integer("zero", 1).Integers("zeros", {0, 1});
  model.Node({.op = "ConvInteger", .inputs = {"x", "w", "zero", "zeros"}, .outputs = {"y"}});
  EXPECT_EQ(ResultOf(model.Output("y")), "1,2,2,2");
}

// Operands of a quantizer's operator: each byte tensor with a scale and a zero point.
std::string OfBytes(const std::string& op, std::vector<std::string> inputs,
                    std::vector<Attribute> attributes = {}) {
  ModelText model;
  model.Input("a", {2, 3}, kInt8).Input("b", {1, 3}, kInt8).Input("m", {3, 4}, kInt8);
  model.Weight("scale", {}).Input("zero", {}, kInt8).Input("bias", {4}, 6);
  model.Node({.op = op,
              .inputs = std::move(inputs),
              .outputs = {"y"},
              .attributes = std::move(attributes),
              .domain = "com.microsoft"});
  model.Output("y");
  return DTypesOf(model) + " " + ResultOf(model);
}

TEST(Quantized, OperatorsOfOnnxRuntimesQuantizerAreKnown) {
  const std::vector<std::string> pair{"a", "scale", "zero", "b", "scale", "zero", "scale", "zero"};
  EXPECT_EQ(OfBytes("QLinearAdd", pair), "i8 2,3");
  EXPECT_EQ(OfBytes("QLinearMul", pair), "i8 2,3");
  const std::vector<std::string> one{"a", "scale", "zero", "scale", "zero"};
  for (const char* op : {"QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"}) {
    EXPECT_EQ(OfBytes(op, one), "i8 2,3") << op;
  }
  EXPECT_EQ(OfBytes("QLinearConcat", {"scale", "zero", "a", "scale", "zero", "b", "scale", "zero"}),
            "i8 3,3");
  EXPECT_EQ(OfBytes("QGemm", {"a", "scale", "zero", "m", "scale", "zero", "bias"}), "f32 2,4");
  EXPECT_EQ(OfBytes("QGemm", {"m", "scale", "zero", "a", "scale", "zero", "", "scale", "zero"},
                    {Int("transA", 1), Int("transB", 1)}),
            "i8 4,2");
}

}  // namespace
}  // namespace steelyard::onnx
