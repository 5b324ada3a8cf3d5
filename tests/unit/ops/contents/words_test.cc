// SPDX-License-Identifier: Apache-2.0

#include "ops/contents/words.h"

#include <gtest/gtest.h>

#include "../programs.h"
#include "ops/dispatch/program_rows.h"

namespace steelyard {
namespace {

// How many elements of a program's result are known to be zero, after all of it.
std::int64_t ZerosOf(std::string_view text) {
  const Program program = std::move(*RunText(text));
  const std::vector<const OpDef*> rows = RowsOf(program);
  KnownContents known(program, rows);
  for (NodeId i = 0; i < program.main().nodes.size(); ++i) known.Run(i);
  return known.zeros({program, program.main().outputs[0].value});
}

TEST(ContentsWords, FactoriesSayWhatTheyFillIn) {
  EXPECT_EQ(ZerosOf("%x = aten::zeros([2,3])\nreturn %x\n"), 6);
  EXPECT_EQ(ZerosOf("%x = aten::full([2,3], 0.5, dtype=i64)\nreturn %x\n"), 6) << "truncated";
  EXPECT_EQ(ZerosOf("%x = aten::ones([2,3])\n%y = aten::sub.Scalar(%x, 1)\nreturn %y\n"), 6);
  EXPECT_EQ(ZerosOf("%x = aten::arange.start_step(4, -6, -2)\n%y = aten::eq.Scalar(%x, -2)\n"
                    "return %y\n"),
            4);
  EXPECT_EQ(ZerosOf("%x = aten::empty.memory_format([2,3])\nreturn %x\n"), 0);
}

TEST(ContentsWords, SumsScaleTheirSecondOperand) {
  EXPECT_EQ(ZerosOf("%x = aten::ones([3])\n%y = aten::sub.Tensor(%x, %x, alpha=2)\nreturn %y\n"),
            0);
}

TEST(ContentsWords, ViewsTurnWhatTheyShow) {
  const std::string lower = "%o = aten::ones([4,4])\n%m = aten::tril(%o)\n";
  EXPECT_EQ(ZerosOf(lower + "return %m\n"), 6);
  EXPECT_EQ(ZerosOf(lower + "%s = aten::slice.Tensor(%m, 0, 2, 100)\nreturn %s\n"), 1);
  EXPECT_EQ(ZerosOf(lower + "%s = aten::select.int(%m, 0, -3)\nreturn %s\n"), 2) << "row 1";
  EXPECT_EQ(ZerosOf(lower + "%s = aten::select.int(%m, 1, 1)\nreturn %s\n"), 1) << "column 1";
  EXPECT_EQ(ZerosOf(lower + "%t = aten::transpose.int(%m, 0, -1)\n"
                            "%s = aten::select.int(%t, 0, 1)\nreturn %s\n"),
            1);
  EXPECT_EQ(ZerosOf(lower + "%v = aten::unsqueeze(%m, 0)\n%e = aten::expand(%v, [5,-1,-1])\n"
                            "return %e\n"),
            30);
  EXPECT_EQ(ZerosOf(lower + "%n = aten::narrow(%m, 1, 1, 3)\nreturn %n\n"), 3 + 2 + 1);
  EXPECT_EQ(ZerosOf(lower + "%u = aten::triu(%m, -1)\nreturn %u\n"), 6 + 2 + 1);
}

TEST(ContentsWords, LaterRowsGoOnFromEarlierOnes) {
  EXPECT_EQ(ZerosOf("%a = aten::zeros([2,3])\n%b = aten::ones([2,2])\n"
                    "%c = aten::cat([%b, %a], 1)\nreturn %c\n"),
            6);
  EXPECT_EQ(ZerosOf("%a = aten::arange(5)\n%b = aten::lt.Scalar(%a, 3)\n"
                    "%c = aten::logical_not(%b)\n%d = aten::cumsum(%c, 0)\nreturn %d\n"),
            3);
  EXPECT_EQ(ZerosOf("%a = aten::arange(6)\n%b = aten::div.Tensor_mode(%a, 4, "
                    "rounding_mode='floor')\nreturn %b\n"),
            4);
}

}  // namespace
}  // namespace steelyard
