// SPDX-License-Identifier: Apache-2.0

#include "analyze/parameters.h"

#include <gtest/gtest.h>

#include "weighed.h"

namespace steelyard {
namespace {

TEST(CountParameters, ByDType) {
  const ParameterReport report = CountParameters(
      WeighText(
          "parameter %w: bf16[16,8]\nparameter %b: f32[16]\nbuffer %s: i64[]\ninput %x: f32[4]\n"
          "%y: f32[4] = aten::tanh(%x)\nreturn %y\n")
          .kernels);
  EXPECT_EQ(report.parameters.count, 16 * 8 + 16);
  EXPECT_EQ(report.parameters.bytes, 16 * 8 * 2 + 16 * 4);
  ASSERT_EQ(report.by_dtype.size(), 2u);
  EXPECT_EQ(report.by_dtype[0].name, "bfloat16");  // most bytes first
  EXPECT_EQ(report.by_dtype[0].total.bytes, 16 * 8 * 2);
  EXPECT_EQ(report.buffers.bytes, 8);
  EXPECT_EQ(report.active, report.parameters.count);
}

TEST(CountParameters, TiedTensorsOnce) {
  Weighed weighed = WeighText(
      "parameter %w: f32[16,8]\nparameter %v: f32[16,8]\ninput %x: f32[4]\n"
      "%y: f32[4] = aten::tanh(%x)\nreturn %y\n");
  Program& p = weighed.kernels;
  p.values[p.parameters[1].value].storage = p.values[p.parameters[0].value].storage;
  const ParameterReport report = CountParameters(p);
  EXPECT_EQ(report.parameters.count, 16 * 8);
  EXPECT_EQ(report.tensors, 1);
  EXPECT_EQ(report.tied, 1);
}

}  // namespace
}  // namespace steelyard
