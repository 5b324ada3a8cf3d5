// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "exports.h"

namespace steelyard::pt2 {
namespace {

using testing::HasSubstr;

TEST(GraphNames, MayBeWrittenWithEscapes) {
  // One name, written in two ways.
  Export e;
  e.Input("caf\\u00e9", Meta({2}));
  e.Node("torch.ops.aten.relu.default", Arg("self", TensorNamed("caf\xc3\xa9")), "y", Meta({2}));
  const Program program = ReadExport(e.Return("y"));
  EXPECT_EQ(program.text(program.values[program.inputs[0]].name), "caf\xc3\xa9");
  EXPECT_EQ(program.args(program.main().nodes[0])[0].value, program.inputs[0]);
}

TEST(GraphNames, MeanOneKindOfValue) {
  Export e = Linear();
  e.sym_int_values = R"("y": {"as_int": 3})";
  EXPECT_THAT(RefusalOf(e),
              HasSubstr("\"y\" is one kind of value here and another kind elsewhere"));
}

TEST(GraphNames, AreNeverEmpty) {
  Export e;
  e.Input("", Meta({2}));
  EXPECT_THAT(RefusalOf(e), HasSubstr("empty name"));
}

TEST(GraphNames, MayDescribeWhatIsNotUsed) {
  // Torch keeps no such entries; a tool that rewrote the graph may have left one.
  Export e = Linear();
  e.Tensor("left_over", Meta({2}));
  EXPECT_EQ(BodyOf(ReadExport(e)), BodyOf(ReadExport(Linear())));
}

}  // namespace
}  // namespace steelyard::pt2
