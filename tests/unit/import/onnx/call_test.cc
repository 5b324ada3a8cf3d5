// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/call.h"

#include <gtest/gtest.h>

#include <limits>

#include "import/onnx/op_map.h"
#include "models.h"

namespace steelyard::onnx {
namespace {

class CallTest : public ::testing::Test {
 protected:
  Item& Add(Item item) { return workshop_.Add(std::move(item)); }
  Call Of(std::vector<Item*> operands) {
    return {workshop_, node_, *FindRow("", "Relu", 14), 14, std::move(operands)};
  }

  const std::string bytes_ =
      NodeText{.op = "Relu", .outputs = {"y"}, .attributes = {Int("axis", -1), Real("alpha", 0.5)}}
          .bytes();
  const NodeProto node_{bytes_};
  Workshop workshop_{"model", ""};
};

TEST_F(CallTest, ReadsAttributes) {
  const Call call = Of({});
  EXPECT_EQ(call.integer("axis", 0), -1);
  EXPECT_EQ(call.real("alpha", 1), 0.5);
  EXPECT_EQ(call.integer("none", 7), 7);
  EXPECT_EQ(call.axis(-1, 3), 2);
  EXPECT_THROW((void)call.axis(3, 3), Untranslatable);
}

TEST_F(CallTest, SaysWhatItDoesNotKnow) {
  Item& bare = Add({.name = "x"});
  Call call = Of({&bare, nullptr});
  EXPECT_THROW((void)call.shape(0), Untranslatable);
  EXPECT_THROW((void)call.dtype(0), Untranslatable);
  EXPECT_THROW((void)call.tensor(0), Untranslatable);
  EXPECT_FALSE(call.has(1));
  EXPECT_FALSE(call.has(2));
}

TEST_F(CallTest, TakesWholeFloatsForIntegers) {
  Item& scale = Add({.name = "s",
                     .dtype = DType::kFloat32,
                     .shape = Shape{Dim(2)},
                     .reals = std::vector{1.0, 2.0}});
  Item& ratio =
      Add({.name = "r", .dtype = DType::kFloat32, .shape = Shape{}, .reals = std::vector{0.5}});
  Call call = Of({&scale, &ratio});
  EXPECT_EQ(call.known_integers(0), (std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(call.numbers(1));
  EXPECT_TRUE(call.number(1));
}

TEST(Ratios, AreTheSimplestOfAFloat) {
  const auto is = [](double real, std::int64_t above, std::int64_t below) {
    const std::optional<Ratio> ratio = RatioOf(real);
    return ratio && ratio->above == Dim(above) && ratio->below == Dim(below);
  };
  EXPECT_TRUE(is(0.7F, 7, 10));
  EXPECT_TRUE(is(0.7, 7, 10));
  EXPECT_TRUE(is(1 / 3.0F, 1, 3));
  EXPECT_TRUE(is(-1.5, -3, 2));
  EXPECT_TRUE(is(0, 0, 1));
  EXPECT_TRUE(is(1024, 1024, 1));
  EXPECT_FALSE(RatioOf(1e30));
  EXPECT_FALSE(RatioOf(1e-30));
  EXPECT_FALSE(RatioOf(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(RatioOf(std::numeric_limits<double>::quiet_NaN()));
}

TEST_F(CallTest, OfRatiosWithoutSymbolsGivesFloats) {
  Call call = Of({});
  const Dim seq = workshop_.Symbol("seq");
  call.GiveRatios({{Dim(6), Dim(2)}, {seq, Dim(1)}}, {DType::kFloat32, {Dim(2)}});
  call.GiveRatios({{Dim(1), Dim(2)}, {Dim(3), Dim(1)}}, {DType::kFloat32, {Dim(2)}});
  call.GiveRatios({{Dim(1), Dim(2)}, {seq, Dim(3)}}, {DType::kFloat32, {Dim(2)}});
  EXPECT_EQ(call.results()[0]->numbers, (std::vector{Dim(3), seq}));
  EXPECT_EQ(call.results()[1]->reals, (std::vector{0.5, 3.0}));
  EXPECT_TRUE(call.results()[2]->ratios);
}

TEST_F(CallTest, ComputesAsFloatsDo) {
  Call call = Of({});
  const double factor = 0.7F;
  call.GiveReals({10 * factor}, {DType::kFloat32, {Dim(1)}});
  call.GiveReals({10 * factor}, {DType::kFloat64, {Dim(1)}});
  EXPECT_EQ(call.results()[0]->reals, std::vector{7.0});
  EXPECT_NE(call.results()[1]->reals, std::vector{7.0});
}

TEST_F(CallTest, ChoosesElementsOfAnyKind) {
  const Dim seq = workshop_.Symbol("seq");
  const Like like{DType::kFloat32, {Dim(2)}};
  Item& numbers = Add({.dtype = DType::kFloat32, .numbers = std::vector{Dim(1), seq}});
  Item& reals = Add({.dtype = DType::kFloat32, .reals = std::vector{0.5, 0.25}});
  Item& ratios = Add({.dtype = DType::kFloat32, .ratios = std::vector<Ratio>{{seq, Dim(2)}}});
  Call call = Of({&numbers, &reals, &ratios, &Add({.name = "x"})});
  call.GiveChosen(0, {1, 0}, like);
  call.GiveChosen(1, {1, 1}, like);
  call.GiveChosen(2, {0, 0}, like);
  EXPECT_EQ(call.results()[0]->numbers, (std::vector{seq, Dim(1)}));
  EXPECT_EQ(call.results()[1]->reals, (std::vector{0.25, 0.25}));
  EXPECT_EQ(call.results()[2]->ratios->size(), 2U);
  EXPECT_EQ(call.known(2), 1U);
  EXPECT_FALSE(call.known(3));
}

}  // namespace
}  // namespace steelyard::onnx
