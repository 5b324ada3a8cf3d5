// SPDX-License-Identifier: Apache-2.0
//
// The tables are read as lines of whole programs, so that order and references are tested too.
#include "ir/text_table_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

std::string TableMistake(std::string_view text) {
  const Result<Program> program = ParseText(text, "");
  return program ? "none" : program.error().where + ": " + program.error().message;
}

TEST(TextTables, SymbolsHaveRangesAndExamples) {
  const Result<Program> p = ParseText("symbol a: 2..512 = 64\nsymbol b: 1..\nsymbol c\n", "");
  ASSERT_TRUE(p) << Describe(p.error());
  ASSERT_EQ(p->symbols.size(), 3u);
  EXPECT_EQ(p->symbols[0].min, 2);
  EXPECT_EQ(p->symbols[0].max, 512);
  EXPECT_EQ(p->symbols[0].example, 64);
  EXPECT_EQ(p->symbols[1].max, Symbol().max);
  EXPECT_EQ(p->symbols[2].example, -1);
  EXPECT_EQ(TableMistake("symbol a: 3..2\n"), "line 1:8: the range of \"a\" is empty");
  EXPECT_EQ(TableMistake("symbol a\nsymbol a\n"), "line 2:8: the symbol \"a\" is declared twice");
}

TEST(TextTables, ModulesFindTheirParents) {
  const Result<Program> p = ParseText(R"text(
module "": Model
module a: A
module a.b.c
module shared: S within a
nop() in a.b.c.d
)text",
                                      "");
  ASSERT_TRUE(p) << Describe(p.error());
  ASSERT_EQ(p->modules.size(), 5u);
  EXPECT_EQ(p->text(p->modules[0].class_name), "Model");
  EXPECT_EQ(p->modules[2].parent, 1u);
  EXPECT_EQ(p->modules[3].parent, 1u);
  EXPECT_EQ(p->modules[4].parent, 2u);  // made by the node
  EXPECT_EQ(p->main().nodes[0].module, 4u);
  EXPECT_EQ(TableMistake("module a\nmodule a\n"), "line 2:8: this module is there already");
  EXPECT_EQ(TableMistake("module a within b\n"),
            "line 1:17: there is no such module before this line");
  EXPECT_EQ(TableMistake("nop() in a" + std::string(300, '.')),
            "line 1:10: the module's path is too long");
}

TEST(TextTables, SourcesAreRowsOrStandAtTheNode) {
  const Result<Program> p = ParseText(R"text(
source 0: "a b.py":7 forward "x = 1"
nop() at 0
nop() at model.py:12 in m
nop() at model.py:13 f "y()"
)text",
                                      "");
  ASSERT_TRUE(p) << Describe(p.error());
  ASSERT_EQ(p->sources.size(), 3u);
  EXPECT_EQ(p->text(p->sources[0].code), "x = 1");
  EXPECT_EQ(p->main().nodes[0].source, 0u);
  EXPECT_EQ(p->sources[1].line, 12u);
  EXPECT_EQ(p->main().nodes[1].module, 1u);
  EXPECT_EQ(p->text(p->sources[2].function), "f");
  EXPECT_EQ(TableMistake("nop() at 3\n"), "line 1:10: there is no source 3");
  EXPECT_EQ(TableMistake("source 1: f:1\n"), "line 1:8: expected source 0");
}

TEST(TextTables, FramesNest) {
  const Result<Program> p =
      ParseText("frame 1: aten::linear\nframe 2: aten::t within 1\nnop() frame 2\n", "");
  ASSERT_TRUE(p) << Describe(p.error());
  ASSERT_EQ(p->frames.size(), 3u);
  EXPECT_EQ(p->op_name(p->frames[2].op), "aten::t");
  EXPECT_EQ(p->frames[2].parent, 1u);
  EXPECT_EQ(p->main().nodes[0].frame, 2u);
  EXPECT_EQ(TableMistake("frame 1: a within 1\n"), "line 1:19: there is no frame 1");
}

}  // namespace
}  // namespace steelyard
