// SPDX-License-Identifier: Apache-2.0
#include "session/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

// Two layers, between which much is kept; the batch is symbolic.
constexpr const char* kLayers = R"(module "": models.Stack
module layer.0: models.Block
module layer.1: models.Block
symbol batch: 1..4096 = 512
parameter %v: f32[8,8] "layer.0.weight"
parameter %w: f32[8,8] "layer.1.weight"
input %x: f32[batch,8]
%a: f32[batch,8] = aten::linear(%x, %v) in layer.0
%b: f32[batch,8] = aten::tanh(%a) in layer.0
%c: f32[batch,8] = aten::exp(%b) in layer.0
%d: f32[batch,8] = aten::sin(%c) in layer.0
%e: f32[batch,8] = aten::linear(%d, %w) in layer.1
%f: f32[batch,8] = aten::tanh(%e) in layer.1
%g: f32[batch,8] = aten::exp(%f) in layer.1
%h: f32[batch,8] = aten::sin(%g) in layer.1
return %h
)";

Weighing Weighed(const std::string& text, TrainOptions train, BindOptions bind = {},
                 const Target& target = {}) {
  train.loss = "sum";
  Result<Weighing> weighing = Weigh({.path = WrittenModel(text),
                                     .bind = std::move(bind),
                                     .train = std::move(train),
                                     .target = target,
                                     .advise = true});
  EXPECT_TRUE(weighing) << Describe(weighing.error());
  return *std::move(weighing);
}

std::vector<std::string> Changes(const Weighing& weighing) {
  std::vector<std::string> out;
  for (const Advice& advice : weighing.advice) out.push_back(advice.change);
  return out;
}

TEST(Advise, RepeatedModulesAndMicroBatchesAreTriedAloneAndTogether) {
  const Weighing weighing = Weighed(kLayers, {.optimizer = "sgd"});
  EXPECT_THAT(Changes(weighing), Contains("--recompute 'layer.*'"));
  EXPECT_THAT(Changes(weighing), Contains("--batch 64 --accumulate 8"));
}

// As PyTorch steps lists on CUDA unasked, with the roots of all averages at once. RMSprop has no
// fused form, which would be less still.
TEST(Advise, OnCudaOneTensorAfterAnotherIsTried) {
  constexpr const char* kWide = R"(parameter %u: f32[999,999] "u"
parameter %v: f32[999,999] "v"
parameter %w: f32[999,999] "w"
%x: f32[999,999] = aten::add.Tensor(%u, %v)
%y: f32[999,999] = aten::add.Tensor(%x, %w)
return %y
)";
  TrainOptions train{.optimizer = "rmsprop"};
  EXPECT_THAT(Changes(Weighed(kWide, train, {}, {.device = Device::kCuda})),
              Contains("--optim-args foreach=False"));
  train.options = {{"foreach", "True"}};
  EXPECT_THAT(Changes(Weighed(kWide, train)), Contains("--optim-args foreach=False"));
}

TEST(Advise, EachLineIsWhatTheChangeWeighs) {
  const Weighing weighing = Weighed(kLayers, {.optimizer = "sgd"});
  const auto line = std::ranges::find(weighing.advice, "--recompute 'layer.*'", &Advice::change);
  ASSERT_NE(line, weighing.advice.end());
  const Weighing changed = Weighed(kLayers, {.optimizer = "sgd", .recompute = {"layer.*"}});
  EXPECT_EQ(line->peak, changed.totals.peak_bytes);
  EXPECT_EQ(line->less, weighing.totals.peak_bytes - changed.totals.peak_bytes);
  EXPECT_GT(line->extra_flops, 0);
}

// A model of words: most of its step are the scores.
constexpr const char* kWords = R"(parameter %v: f32[16,16] "body.weight"
parameter %w: f32[2000,16] "head.weight"
input %x: f32[64,16]
%a: f32[64,16] = aten::linear(%x, %v)
%b: f32[64,16] = aten::relu(%a)
%y: f32[64,2000] = aten::linear(%b, %w)
return %y
)";

TEST(Advise, ALossInChunksIsTriedWhereItIsACrossEntropyOfALinearLayer) {
  const auto changes = [](std::string loss) {
    return Changes(*Weigh({.path = WrittenModel(kWords),
                           .train = {.optimizer = "sgd", .loss = std::move(loss)},
                           .advise = true}));
  };
  EXPECT_THAT(changes("cross-entropy"), Contains("--fused-loss 16"));
  EXPECT_THAT(changes("mse"), Not(Contains("--fused-loss 16")));
}

// leaky_relu saves its operand, its form in place the result, which the next product saves anyway.
TEST(Advise, ActivationsInPlaceAreTried) {
  constexpr const char* kWide = R"(parameter %v: f32[8,8] "v"
parameter %w: f32[8,8] "w"
input %x: f32[512,8]
%a: f32[512,8] = aten::linear(%x, %v)
%b: f32[512,8] = aten::leaky_relu(%a)
%c: f32[512,8] = aten::linear(%b, %w)
%d: f32[512,8] = aten::leaky_relu(%c)
return %d
)";
  EXPECT_THAT(Changes(Weighed(kWide, {.optimizer = "sgd"})), Contains("--inplace '*'"));
}

TEST(Advise, MixedPrecisionIsTriedWhereThereIsFloat32) {
  const Weighing full = Weighed(kLayers, {.optimizer = "sgd"});
  EXPECT_THAT(Changes(full), Contains("--amp bf16"));
  std::string low = kLayers;
  for (std::size_t at = low.find("f32"); at != std::string::npos; at = low.find("f32", at)) {
    low.replace(at, 3, "bf16");
  }
  EXPECT_THAT(Changes(Weighed(low, {.optimizer = "sgd"})), Not(Contains("--amp bf16")));
}

TEST(Advise, TheLowestPeakComesFirst) {
  const std::vector<Advice> advice = Weighed(kLayers, {.optimizer = "sgd"}).advice;
  EXPECT_TRUE(std::ranges::is_sorted(advice, {}, &Advice::peak));
}

TEST(Advise, AGivenShapeOfTheInputsLeavesNoBatch) {
  const Weighing weighing =
      Weighed(kLayers, {.optimizer = "sgd"}, {.inputs = {{.name = "x", .sizes = {512, 8}}}});
  for (const std::string& change : Changes(weighing)) {
    EXPECT_EQ(change.find("--batch"), std::string::npos) << change;
  }
}

TEST(Advise, WhatIsOnIsNotAdvised) {
  const Weighing weighing = Weighed(kLayers, {.optimizer = "adamw",
                                              .options = {{.name = "fused", .value = "True"}},
                                              .recompute = {"layer.*"}});
  EXPECT_THAT(Changes(weighing), Not(Contains("--fused")));
  EXPECT_THAT(Changes(weighing), Not(Contains("--recompute 'layer.*'")));
}

TEST(Advise, NothingHelpsWhereParametersAreAll) {
  const Weighing weighing =
      Weighed("parameter %w: f32[8] \"w\"\n%y: f32[8] = aten::alias(%w)\nreturn %y\n",
              {.optimizer = "sgd"});
  EXPECT_THAT(Changes(weighing), IsEmpty());
}

TEST(Advise, OnlyOnTrainingSteps) {
  EXPECT_FALSE(Weigh({.path = WrittenModel(kLayers), .advise = true}));
}

}  // namespace
}  // namespace steelyard
