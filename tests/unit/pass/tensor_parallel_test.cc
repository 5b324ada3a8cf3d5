// SPDX-License-Identifier: Apache-2.0

#include "pass/tensor_parallel.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/text_printer.h"
#include "ir/text_reader.h"
#include "ops/parallel/layer_styles.h"
#include "ops/registry.h"
#include "pass/decompose.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kLayers =
    "module \"\": Net\nmodule up: Linear\nmodule down: Linear\n"
    "parameter %v: f32[12,8] \"up.weight\"\nparameter %b: f32[12] \"up.bias\"\n"
    "parameter %w: f32[8,12] \"down.weight\"\nparameter %c: f32[8] \"down.bias\"\n"
    "input %x: f32[2,8]\n%h: f32[2,12] = aten::linear(%x, %v, %b) in up\n";
constexpr std::string_view kEnd = "%y: f32[2,8] = aten::linear(%a, %w, %c) in down\nreturn %y\n";

PassOptions Shared() {
  return {
      .train = {.ranks = 2,
                .parallel = {.wrapper = "tp", .plan = {{"up", "colwise"}, {"down", "rowwise"}}}}};
}

Result<Program> SharedOf(std::string_view between, const PassOptions& options = Shared()) {
  const std::string text = std::string(kLayers) + std::string(between) + std::string(kEnd);
  return ShareLayers(ParseText(text, "").value(), options);
}

std::string Refusal(const Result<Program>& program) {
  return program ? "" : program.error().message;
}

std::vector<std::int64_t> Sizes(const Program& program, std::string_view parameter) {
  for (const NamedTensor& tensor : program.parameters) {
    if (program.text(tensor.name) != parameter) continue;
    const auto sizes = program.sizes(tensor.value);
    return {sizes.begin(), sizes.end()};
  }
  return {};
}

TEST(ShareLayers, ParametersBecomeParts) {
  const Program program = SharedOf("%a: f32[2,12] = aten::relu(%h)\n").value();
  EXPECT_THAT(Sizes(program, "up.weight"), ElementsAre(6, 8));
  EXPECT_THAT(Sizes(program, "up.bias"), ElementsAre(6));
  EXPECT_THAT(Sizes(program, "down.weight"), ElementsAre(8, 6));
  EXPECT_THAT(Sizes(program, "down.bias"), ElementsAre(8));
  std::vector<std::string_view> names;
  for (const Node& node : program.main().nodes) names.push_back(program.op_name(node.op));
  EXPECT_THAT(names,
              ElementsAre("steelyard::column_linear", "aten::relu", "steelyard::row_linear"));
}

// torch.chunk: the last processes have what is left.
TEST(ShareLayers, PartsMayBeOfSeveralSizes) {
  PassOptions options = Shared();
  options.train.ranks = 5;
  options.train.parallel.plan = {{"up", "colwise_gather"}};
  const auto rows = [&](int rank) {
    options.train.parallel.rank = rank;
    const Result<Program> program = SharedOf("%a: f32[2,12] = aten::relu(%h)\n", options);
    return program ? Sizes(*program, "up.weight")[0] : -1;
  };
  EXPECT_EQ(rows(0), 3);
  EXPECT_EQ(rows(3), 3);
  EXPECT_EQ(rows(4), -1) << "nothing";
}

// Sizes that calls name are those of a part: of heads, a process has some.
TEST(ShareLayers, ViewsAreOfParts) {
  const Result<Program> program = SharedOf(
      "%s: f32[2,4,3] = aten::view(%h, [2,4,3])\n%t: f32[2,1,4,3] = aten::unsqueeze(%s, 1)\n"
      "%e: f32[2,5,4,3] = aten::expand(%t, [2,5,4,3])\n%f: f32[2,4,3] = aten::select.int(%e, 1, "
      "0)\n"
      "%a: f32[2,12] = aten::reshape(%f, [2,12])\n");
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<Program> kernels = Decompose(*program, Target());
  ASSERT_TRUE(kernels) << Describe(kernels.error());
  const std::string text = Print(*kernels);
  EXPECT_THAT(text, HasSubstr("aten::view(%h, [2, 2, 3])"));
}

// What stands instead of a call takes what that takes.
TEST(ShareLayers, ReplacementsHaveRows) {
  const auto names = [](std::string_view op) {
    std::vector<std::string_view> found;
    for (const Param& param : FindOp(OpName::FromRuntime(op))->signature->params()) {
      found.push_back(param.name);
    }
    return found;
  };
  for (const ops::LayerStyle& style : ops::LayerStyles()) {
    const std::vector<std::string_view> taken = names(style.replacement), given = names(style.op);
    ASSERT_GT(taken.size(), style.arguments.size()) << style.replacement;
    for (std::size_t i = 0; i < style.arguments.size(); ++i) {
      EXPECT_EQ(taken[i], style.arguments[i]) << style.replacement;
      EXPECT_THAT(given, Contains(taken[i])) << style.op;
    }
    EXPECT_THAT(taken, Contains(style.input));
    if (style.without_gradients.empty()) continue;
    const std::vector<std::string_view> less = names(style.without_gradients);
    EXPECT_TRUE(std::equal(less.begin(), less.end(), taken.begin())) << style.without_gradients;
  }
  for (const ops::PartCall& call : ops::PartCalls()) {
    std::vector<std::string_view> taken = names(call.replacement);
    ASSERT_GT(taken.size(), 1u) << call.replacement;
    EXPECT_EQ(taken[1], "whole");
    taken.erase(taken.begin() + 1);
    EXPECT_EQ(taken, names(call.op));
  }
}

TEST(ShareLayers, WhatIsNotKnownIsRefused) {
  const auto refusal_of_kernels = [](std::string_view between) {
    const Result<Program> program = SharedOf(between);
    EXPECT_TRUE(program) << Describe(program.error());
    return Refusal(Decompose(*program, Target()));
  };
  EXPECT_THAT(refusal_of_kernels("%s: f32[2,3,4] = aten::view(%h, [2,3,4])\n"
                                 "%a: f32[2,12] = aten::reshape(%s, [2,12])\n"),
              HasSubstr("6 of 12 elements"));
  EXPECT_THAT(refusal_of_kernels("%s: f32[2,4] = aten::slice.Tensor(%h, 1, 0, 4)\n"
                                 "%a: f32[2,12] = aten::relu(%h)\n"),
              HasSubstr("cuts a dimension"));
  PassOptions options = Shared();
  options.amp.policy = CastPolicy::kRaf;
  EXPECT_THAT(Refusal(SharedOf("%a: f32[2,12] = aten::relu(%h)\n", options)),
              HasSubstr("mixed precision"));
  options = Shared();
  options.train.parallel.plan = {{"up", "colwise"}};
  EXPECT_EQ(Refusal(SharedOf("%a: f32[2,12] = aten::relu(%h)\n", options)),
            "the model gives a part of \"y\"");
}

}  // namespace
}  // namespace steelyard
