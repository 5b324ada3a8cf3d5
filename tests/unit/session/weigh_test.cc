// SPDX-License-Identifier: Apache-2.0
#include "steelyard/weigh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

TEST(WeighTest, Totals) {
  const Result<Weighing> weighing =
      Weigh({.path = WrittenModel(kLinear), .bind = {.inputs = {}, .batch = 16, .seq = {}}});
  ASSERT_TRUE(weighing) << Describe(weighing.error());
  const Totals& totals = weighing->totals;
  EXPECT_EQ(totals.parameter_count, 4 * 8);
  EXPECT_EQ(totals.parameter_bytes, 4 * 8 * 4);
  EXPECT_EQ(totals.forward_macs, 16 * 4 * 8);
  EXPECT_EQ(totals.forward_flops, 2 * 16 * 4 * 8);
  EXPECT_EQ(totals.resident_bytes, 4 * (4 * 8 + 16 * 8));
  EXPECT_EQ(totals.peak_bytes - totals.resident_bytes, 4 * 16 * 4);
  EXPECT_EQ(totals.operators, 1);
  EXPECT_EQ(totals.modelled_operators, 1);
  EXPECT_GT(weighing->elapsed_seconds, 0.0);
}

TEST(WeighTest, UnboundSizesAreThoseOfTheFile) {
  const Result<Weighing> weighing = Weigh({.path = WrittenModel(kLinear)});
  ASSERT_TRUE(weighing) << Describe(weighing.error());
  EXPECT_EQ(weighing->totals.forward_macs, 2 * 4 * 8);
  EXPECT_FALSE(weighing->kernels.notes.empty()) << "and the report says so";
}

TEST(WeighTest, ConventionsAreChosenByName) {
  const std::string path = WrittenModel(kLinear);
  EXPECT_EQ(Weigh({.path = path, .count = "deepspeed"})->totals.forward_flops, 2 * 4 * 8);
  const Result<Weighing> none = Weigh({.path = path, .count = "abacus"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUsage);
  EXPECT_THAT(Describe(none.error()), HasSubstr("There are: torch, "));
}

TEST(WeighTest, AMomentIsFoundByItsName) {
  const std::string path = WrittenModel(kLinear);
  EXPECT_TRUE(Weigh({.path = path, .at = "linear"}));
  const Result<Weighing> none = Weigh({.path = path, .at = "conv2d"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(Describe(none.error()), HasSubstr("--at: the model makes no call \"conv2d\"."));
}

TEST(WeighTest, AProgramIsPrintedAsAPassLeavesIt) {
  const WeighOptions options{.path = WrittenModel(kLinear)};
  EXPECT_THAT(PrintAfter(options, "tie_parameters").value(), HasSubstr("symbol "));
  EXPECT_THAT(PrintAfter(options, "bind").value(), HasSubstr("aten::linear("));
  EXPECT_THAT(PrintAfter(options, "decompose").value(), HasSubstr("aten::mm("));
  EXPECT_EQ(PrintAfter(options, "differentiate").error().code, ErrorCode::kUsage);
  EXPECT_THAT(Describe(PrintAfter(options, "nothing").error()),
              HasSubstr("These run: tie_parameters, bind, set_mode, decompose."));
}

TEST(WeighTest, UnmodelledOperatorsAreCountedOrRefused) {
  const std::string path = WrittenModel(kUnmodelled);
  const Result<Weighing> weighing = Weigh({.path = path});
  ASSERT_TRUE(weighing) << Describe(weighing.error());
  EXPECT_EQ(weighing->totals.operators, 2);
  EXPECT_EQ(weighing->totals.modelled_operators, 1);

  const Result<Weighing> strict = Weigh({.path = path, .strict = true});
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(Describe(strict.error()),
            path +
                ": 1 of 2 operators are not modelled: my::own_op (1×). Without --strict the "
                "model is weighed with totals that are lower bounds.");
}

TEST(WeighTest, AMissingFileIsAnError) {
  const Result<Weighing> weighing = Weigh({.path = "no_such.pt2"});
  ASSERT_FALSE(weighing);
  EXPECT_EQ(weighing.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace steelyard
