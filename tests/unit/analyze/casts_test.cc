// SPDX-License-Identifier: Apache-2.0
#include "analyze/casts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"
#include "runtime/eager.h"
#include "weighed.h"

namespace steelyard {
namespace {

constexpr std::int64_t kHalf = 2;

struct Cast {
  Program imported, kernels;
  Timeline timeline;
  PeakReport peak;
  WorkReport work;
  CastReport report;
};

Cast WeighCasts(std::string_view body) {
  Cast cast;
  cast.imported = ParseText(std::string("parameter %w: f32[16,8]\ninput %x: f32[4,8]\n"
                                        "steelyard::enter_autocast(bf16)\n")
                                .append(body),
                            "")
                      .value();
  cast.kernels = Dispatcher(cast.imported, Target{}).Run().value();
  cast.timeline = RunEager(cast.kernels, Target{});
  cast.peak = FindPeak(cast.timeline);
  cast.work = CountWork(cast.imported, cast.kernels, *FindConvention("torch"), Target{}).value();
  cast.report =
      CountCasts(cast.imported, cast.kernels, cast.timeline, cast.peak, cast.work, Target{});
  return cast;
}

const CastGroup* Find(const CastReport& report, CastOf of) {
  const auto group = std::ranges::find(report.casts, of, &CastGroup::of);
  return group == report.casts.end() ? nullptr : &*group;
}

TEST(Casts, AreToldByTheOperatorThatAskedForThem) {
  const Cast cast = WeighCasts(
      "%h = aten::linear(%x, %w)\n%y = aten::mse_loss(%h, %h)\n"
      "steelyard::leave_autocast()\nreturn %y\n");
  const CastGroup* weight = Find(cast.report, CastOf::kParameter);
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->op, "aten::linear");
  EXPECT_EQ(weight->casts, 1);
  EXPECT_EQ(weight->bytes, 16 * 8 * kHalf);
  EXPECT_EQ(weight->moved, 16 * 8 * (kFloat + kHalf));
  EXPECT_EQ(weight->to, DType::kBFloat16);
  // Kept until the region ends, and so there at the peak.
  EXPECT_EQ(weight->at_peak, 16 * 8 * kHalf);
  // The input goes down, the loss wants it up again, twice.
  std::int64_t up = 0;
  for (const CastGroup& group : cast.report.casts) {
    if (group.to == DType::kFloat32) up += group.casts;
  }
  EXPECT_EQ(up, 2);
}

TEST(Casts, WideOperatorsSayWhy) {
  const Cast cast = WeighCasts(
      "%h = aten::linear(%x, %w)\n%s = aten::mse_loss(%h, %h)\n%t = aten::sin(%s)\n"
      "%u = aten::relu(%h)\nsteelyard::leave_autocast()\nreturn %t, %u\n");
  ASSERT_EQ(cast.report.wide.size(), 2u) << "the linear and what follows it are low";
  const auto reason = [&](std::string_view op) {
    return std::ranges::find(cast.report.wide, op, &WideOperator::op)->reason;
  };
  EXPECT_EQ(reason("aten::mse_loss"), WideReason::kListed);
  EXPECT_EQ(reason("aten::sin"), WideReason::kFollows);
}

TEST(Casts, OfTheModelItselfAreToldToo) {
  const Cast cast = WeighCasts(
      "%h = aten::to.dtype(%x, f64)\n%y = aten::relu(%h)\nsteelyard::leave_autocast()\nreturn "
      "%y\n");
  ASSERT_EQ(cast.report.casts.size(), 1u) << "the model's own";
  EXPECT_EQ(cast.report.casts[0].op, "aten::to.dtype");
  EXPECT_EQ(cast.report.casts[0].to, DType::kFloat64);
}

}  // namespace
}  // namespace steelyard
