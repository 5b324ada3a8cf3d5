// SPDX-License-Identifier: Apache-2.0

#include "pass/shared_modules.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/text_reader.h"
#include "pass/tensor_parallel.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kNet =
    "module \"\": Net\nmodule words: Embedding\nmodule block: Block\nmodule block.norm: LayerNorm\n"
    "module block.up: Linear\n"
    "parameter %v: f32[16,8] \"words.weight\"\nparameter %g: f32[8] \"block.norm.weight\"\n"
    "parameter %w: f32[12,8] \"block.up.weight\"\ninput %x: i64[2,4]\n"
    "%e: f32[2,4,8] = aten::embedding(%v, %x) in words\n"
    "%n: f32[2,4,8] = aten::layer_norm(%e, [8], %g) in block.norm\n"
    "%y: f32[2,4,12] = aten::linear(%n, %w) in block.up\nreturn %y\n";

constexpr std::string_view kTable = "rowwise(input_layouts=Replicate(), output_layouts=Shard(1))";

Result<Program> SharedAs(std::vector<LayerPlan> plan) {
  PassOptions options;
  options.train.ranks = 2;
  options.train.parallel = {.wrapper = "tp", .plan = std::move(plan)};
  return ShareLayers(ParseText(kNet, "").value(), options);
}

std::vector<std::string_view> Ops(const Program& program) {
  std::vector<std::string_view> names;
  for (const Node& node : program.main().nodes) names.push_back(program.op_name(node.op));
  return names;
}

TEST(SharedModules, ANormOfTheSequenceSumsItsGradient) {
  const Program program = SharedAs({{"words", std::string(kTable)},
                                    {"block.norm", "SequenceParallel()"},
                                    {"block.up", "colwise_gather(input_layouts=Shard(1))"}})
                              .value();
  EXPECT_THAT(Ops(program), ElementsAre("steelyard::row_embedding", "steelyard::to_distributed",
                                        "steelyard::sum_gradient", "aten::layer_norm",
                                        "steelyard::column_linear"));
}

TEST(SharedModules, ATensorIsGivenWhereItIsAskedFor) {
  const Program program = SharedAs({{"words", std::string(kTable)},
                                    {"block.norm", "SequenceParallel(use_local_output=True)"},
                                    {"block.up", "colwise_gather(input_layouts=Shard(1))"}})
                              .value();
  EXPECT_THAT(Ops(program), ElementsAre("steelyard::row_embedding", "steelyard::to_distributed",
                                        "steelyard::sum_gradient", "aten::layer_norm",
                                        "steelyard::to_local", "steelyard::column_linear"));
}

// Whoever calls a module holds what it called it with until it returns.
TEST(SharedModules, WhatIsPreparedIsHeldUntilTheModuleEnds) {
  const Program program =
      SharedAs({{"words", std::string(kTable)},
                {"block",
                 "PrepareModuleInput(input_layouts=Shard(1), desired_input_layouts=Replicate(), "
                 "use_local_output=True)"},
                {"block.up", "colwise_gather"}})
          .value();
  EXPECT_THAT(Ops(program),
              ElementsAre("steelyard::row_embedding", "steelyard::to_distributed",
                          "aten::layer_norm", "steelyard::column_linear", "steelyard::leave"));
}

TEST(SharedModules, OthersTakeNoDTensor) {
  const Result<Program> program = SharedAs(
      {{"words", std::string(kTable)},
       {"block", "PrepareModuleInput(input_layouts=Shard(1), desired_input_layouts=Replicate())"},
       {"block.up", "colwise_gather"}});
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message, HasSubstr("takes a DTensor"));
}

}  // namespace
}  // namespace steelyard
