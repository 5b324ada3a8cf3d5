// SPDX-License-Identifier: Apache-2.0

#include "pass/parallelize.h"

#include <gmock/gmock.h>

#include <string_view>
#include <vector>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Program Model() {
  return ParseText(
             "parameter %w: f32[4,8] \"fc.weight\"\nbuffer %b: f32[4] \"mean\"\n"
             "input %x: f32[2,8]\n%y: f32[2,4] = aten::linear(%x, %w)\n"
             "%loss: f32[] = aten::sum(%y) phase loss\nreturn %loss\n",
             "")
      .value();
}

TrainOptions Wrapped() { return {.optimizer = "sgd", .ranks = 2, .parallel = {.wrapper = "ddp"}}; }

TEST(Parallelize, TheLossIsOutsideOfTheWrapper) {
  const Result<Program> program = Parallelize(Model(), Wrapped());
  ASSERT_TRUE(program) << Describe(program.error());
  std::vector<std::string_view> names;
  for (const Node& node : program->main().nodes) names.push_back(program->op_name(node.op));
  EXPECT_THAT(names, ElementsAre("steelyard::enter_data_parallel", "aten::linear",
                                 "steelyard::leave_data_parallel", "aten::sum"));
}

// With find_unused_parameters the caller, and the loss, have copies of what the model gives;
// without it the model's own.
TEST(Parallelize, OutputsAreCopiedWhereUnusedParametersAreLookedFor) {
  const auto is_copied = [](bool find_unused, bool static_graph, bool first_step) {
    Program model = Model();
    const ValueId given = model.results(model.main().nodes[0])[0];
    model.main().outputs.push_back(Argument::OfValue(given));
    TrainOptions options = Wrapped();
    options.first_step = first_step;
    options.parallel.find_unused = find_unused;
    options.parallel.static_graph = static_graph;
    const Program program = Parallelize(std::move(model), options).value();
    const ValueId taken = program.args(program.main().nodes.back())[0].value;
    EXPECT_EQ(program.main().outputs.back().value, taken);
    return taken != given;
  };
  EXPECT_FALSE(is_copied(false, false, false));
  EXPECT_TRUE(is_copied(true, false, false));
  EXPECT_TRUE(is_copied(false, true, true));
  EXPECT_FALSE(is_copied(false, true, false));
}

TEST(Parallelize, WhatIsNotKnownIsRefused) {
  const auto refusal = [](const TrainOptions& options) {
    const Result<Program> program = Parallelize(Model(), options);
    return program ? "" : program.error().message;
  };
  TrainOptions options = Wrapped();
  options.ranks = 1;
  EXPECT_EQ(refusal(options), "one process shares its step with nobody");
  options = Wrapped();
  options.accumulate = 2;
  EXPECT_EQ(refusal(options), "");
  options.parallel.wrapper = "fsdp";
  EXPECT_EQ(refusal(options), "micro-steps of a model that is kept in parts are not modelled");
  options = Wrapped();
  options.keep_gradients = true;
  EXPECT_EQ(refusal(options), "gradients that a wrapped model keeps are not modelled");
  options = Wrapped();
  options.parallel.wrapper = "ddpp";
  EXPECT_THAT(refusal(options), HasSubstr("ddpp"));
}

}  // namespace
}  // namespace steelyard
