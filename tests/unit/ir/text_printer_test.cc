// SPDX-License-Identifier: Apache-2.0
//
// Programs in the form in which they must come out again: what is printed and what is read is the
// same.
#include "ir/text_printer.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

// The text as Print writes the program that it describes.
std::string Printed(const std::string& text) {
  const Result<Program> program = ParseText(text, "test");
  return program ? Print(*program) : Describe(program.error());
}

// Texts in Print's own form come out as they are.
void ExpectUnchanged(const std::string& text) { EXPECT_EQ(Printed(text), text); }

TEST(Print, WeightsWithoutAGraph) {
  ExpectUnchanged(R"text(program weights

parameter %w: f32[1,256] frozen packed "q4_k" 144 "blk.0.w"
ties_known
weights_only

return
)text");
}

TEST(Print, EveryTable) {
  ExpectUnchanged(R"text(program BertForMaskedLM
producer "torch 2.15.0 (schema 8.20)"
fact "architecture" "bert"
fact "context_length" 512
note "seq = 64 is the file's example size"

symbol batch: 1..64 = 2
symbol seq: 2.. = 64
symbol u0

module "": transformers.BertForMaskedLM
module bert: transformers.BertModel
module bert.encoder.layer.0
module shared within bert

source 0: "modeling_bert.py":84 forward "x = x + \"y\""
source 1: "a b.py":7

frame 1: aten::linear
frame 2: aten::addmm within 1

parameter %p_w: f32[16,8] "bert.w"
parameter %p_head: f32[16,8] "head.w" tied to %p_w
parameter %frozen: bf16[8] frozen
parameter %packed: f32[1,256] frozen packed "q4_k" 144

buffer %ids: i64[1,512] non_persistent "bert.ids"
ties_known

input %x: f32[batch,seq,8]
input %n: int(batch*seq)
mutates %ids

%y: f32[batch,seq,16] = aten::linear(%x, %p_w, bias=None) in bert at 0 phase backward frame 2 origin 3
return %y
)text");
}

TEST(Print, EveryArgument) {
  ExpectUnchanged(R"text(symbol s0

input %x: f32[s0,4]
releases 2, 0, 1, 3

%y: f32[4,s0]{1,4} = ns::op.out(%x, [1, -1], [[%x, None], []], True, False, dim=3*s0, f32, bool, "a\n\"b\"")
%z = "odd op"(1.0, -0.5, 1e-05, 1e+22, inf, -inf, nan, 9223372036854775807, @1, complex(0.0, -1.5), by=complex(inf, 2.0))
sink()
return %y, None, 3, [%z]

graph @1(%x: f32[2], %flag: bool) {
  %y: f32[2] = aten::relu(%x)
  return %y
}
)text");
}

TEST(Print, EveryKindOfResult) {
  ExpectUnchanged(R"text(input %x: f32[2,4]
value %m: f32[2] optimizer_state
takes %m, %x

%a: f32[2,2]{4,1} shares %x, None, %b: f32[2] requires_grad = aten::split(%x)
%s: f32[] wrapped gradient = aten::sum(%a)
%n: int(7) = aten::sym_size.int(%x, 0)
%f: float = aten::item(%s)
%c: bool(1) = aten::eq(%n, 7)
%o: object = aten::list()
%u: i64[...] = unknown(%o)
%v no_storage = unknown(%u, %f, %c)
%w activation = aten::relu(%v)
return %w, %b
)text");
}

TEST(Print, NamesThatNeedCare) {
  ExpectUnchanged(R"text(module "odd-path/x"

input %0: f32[2]
input %"a b": f32[2]

%relu: f32[2] = aten::relu(%0)
%relu~1: f32[2] = aten::relu(%relu)
%"relu~1": f32[2] = aten::relu(%relu~1)
%1: f32[2] = "return"(%"relu~1", "dim="=3) in "odd-path/x"
return %1
)text");
}

TEST(Print, LeavesOutWhatIsUsual) {
  EXPECT_EQ(Printed(R"text(
symbol n: 0..4611686018427387904
parameter %w: f32[n,8]{8,1} parameter "w"
%7: f32[n,8]{8,1} output = aten::relu(%w) in "" phase forward frame 0
return %7
)text"),
            R"text(symbol n

parameter %w: f32[n,8]

%0: f32[n,8] = aten::relu(%w)
return %0
)text");
}

TEST(Print, OneValueOfTwoNamesIsDeclaredOnce) {
  ExpectUnchanged(R"text(parameter %w: f32[2,2]
parameter %w "head" tied to %w

return
)text");
}

TEST(Print, ShowsAValueThatIsNotDefined) {
  Program program;
  const ValueId x = program.AddScalar(kNoString, ValueKind::kInt, Dim(1));
  program.main().outputs = {Argument::OfValue(x), Argument::OfValue(7)};
  EXPECT_EQ(Print(program), "return %?0, %?7\n");
}

}  // namespace
}  // namespace steelyard
