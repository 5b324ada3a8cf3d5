// SPDX-License-Identifier: Apache-2.0

#include "pass/append_optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "parsed.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

PassOptions Step(const TrainOptions& train, const AmpOptions& amp = {}) {
  PassOptions options;
  options.train = train;
  options.amp = amp;
  return options;
}

TEST(AppendOptimizer, StepsOverTrainableParametersAndDropsTheirGradients) {
  const Result<Program> program =
      AppendOptimizer(Parsed("parameter %w: f32[4]\nparameter %f: f32[4] frozen\nreturn %w\n"),
                      Step({.optimizer = "adamw"}));
  ASSERT_TRUE(program) << Describe(program.error());
  const std::vector<Node>& nodes = program->main().nodes;
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(program->op_name(nodes[0].op), "steelyard::adamw");
  EXPECT_EQ(program->op_name(nodes[1].op), "steelyard::zero_grad");
  EXPECT_EQ(program->list(program->args(nodes[0])[0].list).size(), 1u);
}

constexpr std::string_view kThree =
    "parameter %w: f32[4,8] \"fc.weight\"\nparameter %b: f32[4] \"fc.bias\"\n"
    "parameter %e: f32[9,8] \"embed.weight\"\nreturn %w\n";

std::vector<std::string> Calls(const Program& program) {
  std::vector<std::string> calls;
  for (const Node& node : program.main().nodes) {
    const std::string_view name = program.op_name(node.op);
    std::string call(name.substr(name.find("::") + 2));
    if (!program.args(node).empty()) {
      call += " of " + std::to_string(program.list(program.args(node)[0].list).size());
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

std::vector<std::string> CallsOf(const TrainOptions& options) {
  const Result<Program> program = AppendOptimizer(Parsed(kThree), Step(options));
  EXPECT_TRUE(program) << Describe(program.error());
  return program ? Calls(*program) : std::vector<std::string>();
}

Error RefusalOf(const TrainOptions& options) {
  const Result<Program> program = AppendOptimizer(Parsed(kThree), Step(options));
  EXPECT_FALSE(program);
  return program ? Error() : program.error();
}

TEST(AppendOptimizer, OptionsBecomeArgumentsOfTheRow) {
  const Result<Program> program = AppendOptimizer(
      Parsed(kThree),
      Step({.optimizer = "sgd", .options = {{"momentum", "0.9"}, {"nesterov", "True"}}}));
  ASSERT_TRUE(program) << Describe(program.error());
  const auto args = program->args(program->main().nodes[0]);
  ASSERT_EQ(args.size(), 4u);
  EXPECT_EQ(program->text(args[2].name), "momentum");
  EXPECT_EQ(args[2].real, 0.9);
  EXPECT_EQ(program->text(args[3].name), "nesterov");
  EXPECT_EQ(args[3].dim.number(), 1);
}

TEST(AppendOptimizer, OptionsAreThoseOfTheRow) {
  const Error unknown = RefusalOf({.optimizer = "sgd", .options = {{"amsgrad", "True"}}});
  EXPECT_EQ(unknown.message, "SGD has no option \"amsgrad\"");
  EXPECT_EQ(unknown.hint,
            "It has: lr, momentum, dampening, weight_decay, nesterov, maximize, foreach, fused, "
            "differentiable, master_weights.");
  EXPECT_EQ(unknown.where, "--train sgd");
  EXPECT_EQ(RefusalOf({.optimizer = "sgd", .options = {{"momentun", "0.9"}}}).hint,
            "Did you mean momentum?");
  EXPECT_EQ(RefusalOf({.optimizer = "sgd", .options = {{"momentum", "inf"}}}).message,
            "\"inf\" is no value of momentum");
  EXPECT_EQ(RefusalOf({.optimizer = "adamw", .options = {{"beta1", "1"}}}).hint,
            "Write a number from 0 to below 1.");
  EXPECT_EQ(RefusalOf({.optimizer = "muon", .options = {{"ns_steps", "2.5"}}}).hint,
            "Write a whole number from 0 on.");
  EXPECT_EQ(RefusalOf({.optimizer = "sgd", .options = {{"nesterov", "0.9"}}}).message,
            "\"0.9\" is no value of nesterov");
  EXPECT_EQ(RefusalOf({.optimizer = "sgd", .options = {{"momentum", "much"}}}).code,
            ErrorCode::kUsage);
  EXPECT_EQ(RefusalOf({.optimizer = "sgd", .options = {{"first_step", "True"}}}).code,
            ErrorCode::kUsage);
}

TEST(AppendOptimizer, APairOfBetasIsTwoOptions) {
  const Result<Program> program = AppendOptimizer(
      Parsed(kThree), Step({.optimizer = "nadam", .options = {{"betas", "(0.8, 0.95)"}}}));
  ASSERT_TRUE(program) << Describe(program.error());
  const auto args = program->args(program->main().nodes[0]);
  ASSERT_EQ(args.size(), 4u);
  EXPECT_EQ(program->text(args[2].name), "beta1");
  EXPECT_EQ(args[2].real, 0.8);
  EXPECT_EQ(args[3].real, 0.95);
  EXPECT_EQ(RefusalOf({.optimizer = "adam", .options = {{"betas", "0.9"}}}).hint,
            "Write it as (0.9, 0.999).");
  EXPECT_EQ(RefusalOf({.optimizer = "adam", .options = {{"betas", "(0.9,1)"}}}).message,
            "\"1\" is no value of beta2");
  EXPECT_EQ(RefusalOf({.optimizer = "sgd", .options = {{"betas", "(0.9,0.9)"}}}).message,
            "SGD has no option \"betas\"");
}

TEST(AppendOptimizer, OptionsMayBeTuplesOrNegative) {
  const auto takes = [](std::string optimizer, OptimizerOption option) {
    return AppendOptimizer(Parsed(kThree), Step({.optimizer = std::move(optimizer),
                                                 .options = {std::move(option)}}))
        .has_value();
  };
  EXPECT_TRUE(takes("adafactor", {"eps", "(None, 1e-3)"}));
  EXPECT_FALSE(takes("adafactor", {"eps", "(None, None, 1e-3)"}));
  EXPECT_FALSE(takes("adafactor", {"eps", "(much, 1e-3)"}));
  EXPECT_FALSE(takes("adafactor", {"eps", "0.1"}));
  EXPECT_TRUE(takes("adafactor", {"beta2_decay", "-0.5"}));
  EXPECT_FALSE(takes("adafactor", {"beta2_decay", "0.5"}));
  EXPECT_FALSE(takes("adagrad", {"lr", "-0.1"}));
  EXPECT_TRUE(takes("adam", {"differentiable", "False"}));
}

TEST(AppendOptimizer, GroupsAreSteppedOneAfterAnother) {
  EXPECT_THAT(CallsOf({.optimizer = "adamw", .groups = {{.pattern = "*.bias"}}}),
              ElementsAre("adamw of 2", "adamw of 1", "zero_grad of 3"));
}

TEST(AppendOptimizer, AGroupMayHaveAnOptimizerOfItsOwn) {
  EXPECT_THAT(CallsOf({.optimizer = "adamw",
                       .options = {{"amsgrad", "True"}},
                       .groups = {{.pattern = "embed", .optimizer = "sgd"}}}),
              ElementsAre("adamw of 2", "sgd of 1", "zero_grad of 2", "zero_grad of 1"));
}

TEST(AppendOptimizer, AGroupHasParameters) {
  const Error none =
      RefusalOf({.optimizer = "sgd", .groups = {{.pattern = "fc"}, {.pattern = "fc.bias"}}});
  EXPECT_EQ(none.where, "group \"fc.bias\"");
  EXPECT_EQ(none.message, "no trained parameter is left for it");
}

TEST(AppendOptimizer, MessagesNameTheGroup) {
  EXPECT_EQ(
      RefusalOf({.optimizer = "sgd", .groups = {{.pattern = "fc", .optimizer = "sdg"}}}).where,
      "group \"fc\"");
  EXPECT_EQ(
      RefusalOf({.optimizer = "sgd", .groups = {{.pattern = "fc", .options = {{"mass", "1"}}}}})
          .where,
      "group \"fc\"");
}

TEST(AppendOptimizer, WhatAnOptimizerDoesNotTakeGoesToAnother) {
  const Result<Program> program = AppendOptimizer(Parsed(kThree), Step({.optimizer = "muon"}));
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_THAT(Calls(*program),
              ElementsAre("muon of 2", "adamw of 1", "zero_grad of 2", "zero_grad of 1"));
  ASSERT_EQ(program->notes.size(), 1u);
  EXPECT_EQ(program->text(program->notes[0]),
            "Muon steps the parameters of 2 dimensions, AdamW the other 1");
}

TEST(AppendOptimizer, ClipsBeforeTheStep) {
  EXPECT_THAT(
      CallsOf({.optimizer = "sgd", .clip_norm = 1, .clip_value = 1}),
      ElementsAre("clip_grad_norm_ of 3", "clip_grad_value_ of 3", "sgd of 3", "zero_grad of 3"));
}

TEST(AppendOptimizer, RanksAverageGradientsBeforeAnythingLooksAtThem) {
  EXPECT_THAT(
      CallsOf({.optimizer = "sgd", .clip_norm = 1, .ranks = 2}),
      ElementsAre("average_gradients of 3", "clip_grad_norm_ of 3", "sgd of 3", "zero_grad of 3"));
}

TEST(AppendOptimizer, InFloat16GradientsAreScaledBackBeforeTheyAreClipped) {
  const Result<Program> program = AppendOptimizer(
      Parsed(kThree), Step({.optimizer = "sgd", .clip_norm = 1}, {.dtype = DType::kFloat16}));
  ASSERT_TRUE(program) << Describe(program.error());
  std::vector<std::string_view> calls;
  for (const Node& node : program->main().nodes) calls.push_back(program->op_name(node.op));
  EXPECT_THAT(calls,
              ElementsAre("steelyard::unscale_gradients", "steelyard::clip_grad_norm_",
                          "steelyard::sgd", "steelyard::update_scaler", "steelyard::zero_grad"));
}

TEST(AppendOptimizer, GradientsThatAreKeptAreThereBeforeEveryStepButTheFirst) {
  EXPECT_THAT(CallsOf({.optimizer = "sgd", .keep_gradients = true}),
              ElementsAre("keep_gradients", "sgd of 3", "zero_grad of 3"));
  EXPECT_THAT(CallsOf({.optimizer = "sgd", .keep_gradients = true, .first_step = true}),
              ElementsAre("sgd of 3", "zero_grad of 3"));
}

TEST(AppendOptimizer, UnknownNamesAreRefused) {
  EXPECT_EQ(
      AppendOptimizer(Parsed("parameter %w: f32[4]\nreturn %w\n"), Step({.optimizer = "lbfgs"}))
          .error()
          .code,
      ErrorCode::kUsage);
}

}  // namespace
}  // namespace steelyard
