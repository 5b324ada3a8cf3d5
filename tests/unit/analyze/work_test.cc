// SPDX-License-Identifier: Apache-2.0

#include "analyze/work.h"

#include <gmock/gmock.h>

#include "weighed.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kLinearAndGelu =
    "parameter %w: f32[16,8]\n"
    "parameter %b: f32[16]\n"
    "input %x: f32[2,3,8]\n"
    "%y: f32[2,3,16] = aten::linear(%x, %w, %b)\n"
    "%z: f32[2,3,16] = aten::gelu(%y)\n"
    "return %z\n";

TEST(CountWork, ContractionsInTheTorchConvention) {
  const WorkReport work = WeighText(kLinearAndGelu).work;
  EXPECT_EQ(work.of(Phase::kForward).macs, 2 * 3 * 8 * 16);
  EXPECT_EQ(work.of(Phase::kForward).flops, 2 * (2 * 3 * 8 * 16));
}

TEST(CountWork, EveryOperatorInTheOther) {
  // The bias is an addition per element; gelu four and a special function.
  const WorkReport work = WeighText(kLinearAndGelu).work;
  EXPECT_EQ(work.of(Phase::kForward).flops_all,
            2 * (2 * 3 * 8 * 16) + 2 * 3 * 16 + 2 * 3 * 16 * (4 + 1));
}

TEST(CountWork, BelongsToTheOperatorTheUserWrote) {
  const WorkReport work = WeighText(kLinearAndGelu).work;
  ASSERT_EQ(work.by_operator.size(), 2u);
  EXPECT_EQ(work.by_operator[0].name, "aten::linear");
  EXPECT_EQ(work.by_operator[0].calls, 1);
  EXPECT_EQ(work.by_operator[0].work.macs, 2 * 3 * 8 * 16);
  EXPECT_EQ(work.calls, 2);
  EXPECT_EQ(work.modelled_calls, 2);
}

// RAF prints billions, each kernel's rounded to 32 bits: 2^28 + 2^3 operations are not among them.
TEST(CountWork, AConventionMayRoundWhatItPrints) {
  const std::string_view text =
      "input %x: f32[268435464]\n%y = aten::neg(%x)\n%z = aten::neg(%y)\nreturn %z\n";
  const WorkReport work = WeighText(text, "raf").work;
  EXPECT_EQ(work.of(Phase::kForward).flops, 2 * 268435464LL);
  EXPECT_EQ(work.printed_billions, 2 * static_cast<double>(0.268435464F));
  EXPECT_NE(work.printed_billions, 2 * 0.268435464);
  EXPECT_EQ(WeighText(text).work.printed_billions, 0.0);
}

TEST(CountWork, TrafficReadsOperandsAndWritesResults) {
  const WorkReport work =
      WeighText("input %x: f32[8]\n%y: f32[8] = aten::tanh(%x)\nreturn %y\n").work;
  EXPECT_EQ(work.of(Phase::kForward).read, 8 * 4);
  EXPECT_EQ(work.of(Phase::kForward).written, 8 * 4);
}

TEST(CountWork, RefusedCallsAreListedWithTheirReason) {
  const WorkReport work =
      WeighText(
          "input %x: f32[2,8]\ninput %y: f32[2,3,4]\n%a: f32[8,2] = aten::t(%x)\n"
          "%b: f32[4,3,2] = aten::t(%y)\nreturn %a, %b\n")
          .work;
  EXPECT_EQ(work.calls, 2);
  EXPECT_EQ(work.modelled_calls, 1);
  ASSERT_EQ(work.unmodelled.size(), 1u);
  EXPECT_EQ(work.unmodelled[0].name, "aten::t");
  EXPECT_EQ(work.unmodelled[0].calls, 1);
  EXPECT_THAT(work.unmodelled[0].reason, HasSubstr("at most 2 dimensions"));
  ASSERT_EQ(work.by_operator.size(), 1u);
  EXPECT_EQ(work.by_operator[0].calls, 1);
}

// The row of another overload computes what is written there.
TEST(CountWork, CallsThatWriteIntoAGivenTensorAreModelled) {
  const WorkReport work = WeighText(
                              "input %x: f32[8]\ninput %o: f32[8]\n"
                              "%y = aten::tanh.out(%x, out=%o)\nreturn %y\n")
                              .work;
  EXPECT_EQ(work.modelled_calls, 1);
  EXPECT_TRUE(work.unmodelled.empty());
  ASSERT_EQ(work.by_operator.size(), 1u);
  EXPECT_EQ(work.by_operator[0].name, "aten::tanh.out");
}

TEST(CountWork, OperatorsWithoutARowAreListed) {
  const WorkReport work =
      WeighText(
          "input %x: f32[8]\n%a: f32[8] = mylib::mystery(%x)\n"
          "%b: f32[8] = mylib::mystery(%a)\n%y: f32[8] = aten::tanh(%b)\nreturn %y\n")
          .work;
  ASSERT_EQ(work.unmodelled.size(), 1u);
  EXPECT_EQ(work.unmodelled[0].name, "mylib::mystery");
  EXPECT_EQ(work.unmodelled[0].calls, 2);
  EXPECT_EQ(work.modelled_calls, 1);
  EXPECT_EQ(work.calls, 3);
}

TEST(CountWork, ExactAtTenToTheEighteen) {
  // 10^6 x 10^6 x 10^6 multiply-adds, of tensors that nobody could hold.
  const WorkReport work = WeighText(
                              "input %x: f32[1000000,1000000]\ninput %w: f32[1000000,1000000]\n"
                              "%y: f32[1000000,1000000] = aten::mm(%x, %w)\nreturn %y\n")
                              .work;
  EXPECT_EQ(work.of(Phase::kForward).macs, 1'000'000'000'000'000'000);
  EXPECT_EQ(work.of(Phase::kForward).flops, 2'000'000'000'000'000'000);
}

TEST(CountWork, OverflowIsAnError) {
  const Result<Program> imported = ParseText(
      "input %x: i8[1000000000,1000000000]\n%y: i8[1000000000,1000000000] = aten::mm(%x, "
      "%x)\nreturn %y\n",
      "t");
  ASSERT_TRUE(imported);
  const Result<Program> kernels = Dispatcher(*imported, Target{}).Run();
  ASSERT_TRUE(kernels);
  const Result<WorkReport> work =
      CountWork(*imported, *kernels, *FindConvention("torch"), Target{});
  ASSERT_FALSE(work);
  EXPECT_THAT(work.error().message, HasSubstr("does not fit in 64 bits"));
}

}  // namespace
}  // namespace steelyard
