// SPDX-License-Identifier: Apache-2.0
#include "steelyard/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text_printer.h"
#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(Builder, WritesWhatTheTextFormSays) {
  Builder b("Classifier", "models.Classifier");
  const Dim batch = b.Symbol({.name = "batch", .example = 8, .max = 64});
  const Builder::Tensor image = b.Input("image", DType::kFloat32, {batch, 28, 28});
  const Builder::Tensor flat =
      b.Call("aten::view", image, Builder::Sizes({b.Product(batch, 28), 28}));
  Builder::Tensor scores;
  {
    const Builder::Scope head = b.Enter("head", "models.Head");
    const Builder::Scope fc = b.Enter("fc", "torch.nn.Linear");
    const Builder::Tensor weight = b.Parameter("weight", DType::kBFloat16, {10, 28});
    scores = b.Call("aten::linear", flat, weight);
  }
  b.Return(b.Call("aten::softmax.int", scores, -1, Builder::Named("dtype", DType::kFloat32)));
  const Result<Program> program = std::move(b).Build();
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<Program> expected = ParseText(
      "program Classifier\nmodule \"\": models.Classifier\nmodule head: models.Head\n"
      "module head.fc: torch.nn.Linear\nsymbol batch: 1..64 = 8\n"
      "input %image: f32[batch,28,28]\nparameter %\"head.fc.weight\": bf16[10,28]\nties_known\n"
      "%view = aten::view(%image, [batch * 28, 28])\n"
      "%linear = aten::linear(%view, %\"head.fc.weight\") in head.fc\n"
      "%softmax = aten::softmax.int(%linear, -1, dtype=f32)\nreturn %softmax\n",
      "");
  ASSERT_TRUE(expected) << Describe(expected.error());
  EXPECT_EQ(Print(*program), Print(*expected));
}

TEST(Builder, ResultsAreNamedByTheirOperators) {
  Builder b("M");
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {4});
  const Builder::Tensor y = b.Call("aten::add.Tensor", x, x);
  b.Return(b.Call("aten::add.Tensor", y, 1));
  const Program program = std::move(b).Build().value();
  EXPECT_EQ(program.text(program.values[1].name), "add");
  EXPECT_EQ(program.text(program.values[2].name), "add_1");
}

TEST(Builder, ArgumentsAreOfEveryKind) {
  Builder b("M");
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {4, 4});
  const std::vector<Builder::Tensor> parts =
      b.CallMany("aten::split_with_sizes", 2, x, Builder::Sizes({1, 3}), 1);
  b.Return(b.Call("aten::cat", std::vector{parts[0], parts[1]}));
  b.Return(b.Call("aten::clamp", x, std::nullopt, 0.5));
  b.Return(b.Call("aten::gelu", x, "none"));
  b.Return(b.Call("my::op", x, std::vector{true, false}, std::vector{0.5, 1.0}, true));
  const std::string text = Print(std::move(b).Build().value());
  EXPECT_THAT(text, HasSubstr("aten::split_with_sizes(%x, [1, 3], 1)"));
  EXPECT_THAT(text, HasSubstr("aten::cat([%split_with_sizes, %split_with_sizes_1])"));
  EXPECT_THAT(text, HasSubstr("aten::clamp(%x, None, 0.5)"));
  EXPECT_THAT(text, HasSubstr("aten::gelu(%x, \"none\")"));
  EXPECT_THAT(text, HasSubstr("my::op(%x, [True, False], [0.5, 1.0], True)"));
}

TEST(Builder, AModuleEnteredAgainIsCalledAgain) {
  Builder b("M");
  for (int i = 0; i < 2; ++i) {
    const Builder::Scope scope = b.Enter("layer", "Layer");
    const Builder::Scope inner = b.Enter("norm", "Norm");
  }
  const Program program = std::move(b).Build().value();
  ASSERT_EQ(program.modules.size(), 3u);
  EXPECT_EQ(program.text(program.modules[2].path), "layer.norm");
  EXPECT_EQ(program.modules[2].parent, 1u);
  ASSERT_EQ(program.calls.size(), 5u);
  EXPECT_EQ(program.calls[4].module, 2u);
  EXPECT_EQ(program.calls[4].parent, 3u);
}

TEST(Builder, AGraphIsAnOperand) {
  Builder b("M");
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {4});
  const Builder::Arg body = b.Graph(1, [&](const std::vector<Builder::Tensor>& operands) {
    return std::vector{b.Call("aten::relu", operands[0])};
  });
  b.Return(b.Call("higher_order::wrap_with_set_grad_enabled", false, body, x));
  const std::string text = Print(std::move(b).Build().value());
  EXPECT_THAT(text, HasSubstr("wrap_with_set_grad_enabled(False, @1, %x)"));
  EXPECT_THAT(text, HasSubstr("%relu = aten::relu(%operand)\n  return %relu"));
}

TEST(Builder, GraphsTakeWhatTheyUseFromOutside) {
  Builder b("M");
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {4});
  const Builder::Tensor y = b.Input("y", DType::kFloat32, {4});
  const auto none = [](auto body) {
    return [body](const std::vector<Builder::Tensor>&) { return std::vector{body()}; };
  };
  const Builder::Arg graphs[] = {b.Graph(0, none([&] { return b.Call("aten::add.Tensor", y, y); })),
                                 b.Graph(0, none([&] { return x; }))};
  const std::vector<Builder::Tensor> operands = b.Capture(graphs);
  ASSERT_EQ(operands.size(), 2u);
  b.Return(b.Call("higher_order::cond", true, graphs[0], graphs[1], operands));
  const std::string text = Print(std::move(b).Build().value());
  EXPECT_THAT(text, HasSubstr("cond(True, @1, @2, [%y, %x])"));
  EXPECT_THAT(text, HasSubstr("aten::add.Tensor(%operand, %operand)"));
  EXPECT_THAT(text, HasSubstr("return %operand_3")) << "x, the second of the second graph";
}

TEST(Builder, ATiedNameIsTheSameTensor) {
  Builder b("M");
  const Builder::Tensor weight = b.Parameter("embed.weight", DType::kFloat32, {10, 4});
  b.Tie("head.weight", weight);
  const Program program = std::move(b).Build().value();
  ASSERT_EQ(program.parameters.size(), 2u);
  EXPECT_EQ(program.parameters[1].tied_to, 0u);
  EXPECT_EQ(program.parameters[1].value, program.parameters[0].value);
}

TEST(Builder, AParameterMayHaveNoGradient) {
  Builder b("M");
  b.Parameter("trained", DType::kFloat32, {2});
  b.Parameter("frozen", DType::kFloat32, {2}, false);
  b.Parameter("counts", DType::kInt64, {2});
  const Program program = std::move(b).Build().value();
  std::vector<bool> trains;
  for (const NamedTensor& p : program.parameters) {
    trains.push_back(program.values[p.value].requires_grad);
  }
  EXPECT_EQ(trains, (std::vector<bool>{true, false, false}));
}

TEST(Builder, WhatIsWrongIsSaidOnceAtTheEnd) {
  Builder other("Other");
  Builder::Tensor stranger;
  for (int i = 0; i < 4; ++i) stranger = other.Input("x", DType::kFloat32, {});
  Builder b("M");
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {4});
  b.Call("aten::add.Tensor", x, stranger);
  b.Tie("y", x);
  const Result<Program> program = std::move(b).Build();
  ASSERT_FALSE(program);
  EXPECT_EQ(Describe(program.error()), "aten::add.Tensor: an operand is no tensor of this builder");
}

TEST(Builder, WhatAWriterTriedCanBeTakenBack) {
  Builder b("M");
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {4});
  const Builder::Place here = b.Here();
  b.Call("aten::relu", x);
  b.TakeBack(here);
  b.Return(b.Call("aten::tanh", x));
  const Result<Program> program = std::move(b).Build();
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_THAT(Print(*program), HasSubstr("return %tanh"));
  EXPECT_EQ(program->main().nodes.size(), 1u);
}

TEST(Builder, ResultsCanBeStatedAndNamed) {
  Builder b("M");
  const Dim batch = b.Symbol({.name = "batch", .example = 8});
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {batch, 4});
  const Builder::Tensor found = b.Call("mine::find", x);
  b.State(found, DType::kInt64, {batch, 2});
  b.Name(found, "places");
  b.Return(found);
  const Result<Program> program = std::move(b).Build();
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_THAT(Print(*program), HasSubstr("%places: i64[batch,2] = mine::find(%x)"));
}

TEST(Builder, NegativeSizesAreRefused) {
  Builder b("M");
  b.Input("x", DType::kFloat32, {4, -1});
  EXPECT_EQ(Describe(std::move(b).Build().error()), "x: a size is negative");
}

TEST(Builder, GivesItsProgramOnce) {
  Builder b("M");
  const Builder::Tensor x = b.Input("x", DType::kFloat32, {4});
  b.Return(x);
  ASSERT_TRUE(std::move(b).Build());
  b.Return(b.Call("aten::relu", x));  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_THAT(Describe(std::move(b).Build().error()), HasSubstr("begin another one"));
}

}  // namespace
}  // namespace steelyard
