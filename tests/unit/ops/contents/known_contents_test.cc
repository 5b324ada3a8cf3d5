// SPDX-License-Identifier: Apache-2.0

#include "ops/contents/known_contents.h"

#include <gtest/gtest.h>

#include "../programs.h"
#include "ops/dispatch/program_rows.h"

namespace steelyard {
namespace {

// A program that has run, with what is known of its last result that is not dropped.
struct Ran {
  explicit Ran(std::string_view text)
      : program(std::move(*RunText(text))), rows(RowsOf(program)), known(program, rows) {
    for (NodeId i = 0; i < program.main().nodes.size(); ++i) known.Run(i);
    known.LookBack();
  }
  // Of the i-th output.
  TensorView output(std::size_t i = 0) const { return {program, program.main().outputs[i].value}; }
  std::int64_t unread(std::string_view op) const {
    for (NodeId i = 0; i < program.main().nodes.size(); ++i) {
      if (program.op_name(program.main().nodes[i].op) == op) return known.unread(i);
    }
    return -1;
  }
  Program program;
  std::vector<const OpDef*> rows;
  KnownContents known;
};

constexpr std::string_view kCausal =
    "%i = aten::arange(6)\n"
    "%q = aten::unsqueeze(%i, 1)\n"
    "%seen = aten::le.Tensor(%i, %q)\n";

std::string Causal(std::string_view rest) { return std::string(kCausal).append(rest); }

TEST(KnownContents, FollowsMasksThroughKernelsAndViews) {
  const Ran ran(Causal("%m = aten::expand(%seen, [2,3,6,6])\nreturn %m\n"));
  EXPECT_EQ(ran.known.zeros(ran.output()), 2 * 3 * 15);
}

TEST(KnownContents, WhatIsOverwrittenIsNoLongerKnown) {
  const Ran ran(
      "input %x: f32[4]\n%z = aten::zeros([4])\n%v = aten::view(%z, [2,2])\n"
      "%y = aten::copy_(%z, %x)\nreturn %y, %v\n");
  EXPECT_EQ(ran.known.zeros(ran.output(0)), 0);
  EXPECT_EQ(ran.known.zeros(ran.output(1)), 0) << "a view sees the same bytes";
  const Ran filled("%z = aten::zeros([4])\n%y = aten::fill_.Scalar(%z, 1)\nreturn %z, %y\n");
  EXPECT_EQ(filled.known.of(filled.output(0))->uniform(), 1) << "under its earlier name";
}

TEST(KnownContents, ATransposedMatrixHasAsManyZeros) {
  // Too large to be turned element by element.
  const Ran ran(
      "%i = aten::arange(1000)\n%q = aten::unsqueeze(%i, 1)\n%seen = aten::le.Tensor(%i, %q)\n"
      "%t = aten::t(%seen)\nreturn %t\n");
  EXPECT_EQ(ran.known.of(ran.output()), nullptr);
  EXPECT_EQ(ran.known.zeros(ran.output()), 1000 * 999 / 2);
}

// Calls that differ in a text alone are computed apart.
TEST(KnownContents, WhatIsLookedUpIsTheSameCall) {
  const std::string halves =
      "%i = aten::arange(40)\n%r = aten::unsqueeze(%i, 1)\n"
      "%a = aten::div.Tensor_mode(%r, 2, rounding_mode='floor')\n"
      "%b = aten::div.Tensor_mode(%r, 2, rounding_mode='trunc')\n";
  const Ran floor(halves + "return %a\n"), truncated(halves + "return %b\n");
  EXPECT_NE(floor.known.of(floor.output()), nullptr);
  EXPECT_EQ(truncated.known.of(truncated.output()), nullptr);
}

constexpr std::string_view kScores =
    "input %a: f32[3,6,8]\ninput %b: f32[3,8,6]\n"
    "%s = aten::bmm(%a, %b)\n%scaled = aten::mul.Scalar(%s, 0.5)\n";

TEST(KnownContents, NothingReadsWhatAMaskHides) {
  const Ran ran(std::string(kScores) +
                Causal("%out = aten::logical_not(%seen)\n"
                       "%m = aten::masked_fill.Scalar(%scaled, %out, -1e30)\nreturn %m\n"));
  EXPECT_EQ(ran.unread("aten::bmm"), 3 * 15);
  const Ran twice(std::string(kScores) +
                  Causal("%low = aten::where.ScalarSelf(%seen, 0.0, %scaled)\n"
                         "%sum = aten::sum(%scaled)\nreturn %low, %sum\n"));
  EXPECT_EQ(twice.unread("aten::bmm"), 0) << "the sum reads all";
}

TEST(KnownContents, ASumWithAMaskHidesScores) {
  const std::string mask =
      "%zero = aten::scalar_tensor(0.0)\n"
      "%m = aten::where.ScalarOther(%seen, %zero, -1e30)\n"
      "%masked = aten::add.Tensor(%scaled, %m)\n";
  const Ran ran(std::string(kScores) + Causal(mask + "return %masked\n"));
  EXPECT_EQ(ran.unread("aten::bmm"), 3 * 15);
  const Ran kept(std::string(kScores) + Causal(mask + "return %masked, %s\n"));
  EXPECT_EQ(kept.unread("aten::bmm"), 0) << "the caller gets the scores too";
}

}  // namespace
}  // namespace steelyard
