// SPDX-License-Identifier: Apache-2.0
#include "pass/bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/text_printer.h"
#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What a language model exported with dynamic batch and length looks like.
constexpr std::string_view kLanguageModel = R"(
symbol batch: 1..4096 = 2
symbol seq: 2..512 = 64
buffer %ids: i64[1,512]
input %input_ids: i64[batch,seq]
input %mask: f32[batch,1,1,seq]
%n: int(seq) = aten::sym_size.int(%input_ids, 1)
%e: f32[batch,seq,768] = aten::embedding(%ids, %input_ids)
%v: f32[batch*seq,768] = aten::view(%e, [batch*seq, 768, [%n]])
%t: f32[768,batch*seq]{1,768} = aten::t(%v)
return %t, %n, seq//2
)";

Result<Program> BindText(std::string_view text, const BindOptions& options) {
  Result<Program> program = ParseText(text, "");
  if (!program) return program;
  return Bind(*std::move(program), options);
}

std::string Refusal(std::string_view text, const BindOptions& options) {
  const Result<Program> bound = BindText(text, options);
  return bound ? "none" : Describe(bound.error());
}

std::vector<std::string> NotesOf(const Program& program) {
  std::vector<std::string> notes;
  for (StringId note : program.notes) notes.emplace_back(program.text(note));
  return notes;
}

TEST(Bind, InputShapesGiveEverySize) {
  const Result<Program> p = BindText(kLanguageModel, {.inputs = {{"input_ids", {4, 128}}}});
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_TRUE(p->is_concrete());
  EXPECT_EQ(p->expressions.size(), 0u);
  EXPECT_TRUE(p->notes.empty());
  EXPECT_EQ(Print(*p), R"(buffer %ids: i64[1,512]

input %input_ids: i64[4,128]
input %mask: f32[4,1,1,128]

%n: int(128) = aten::sym_size.int(%input_ids, 1)
%e: f32[4,128,768] = aten::embedding(%ids, %input_ids)
%v: f32[512,768] = aten::view(%e, [512, 768, [128]])
%t: f32[768,512]{1,768} = aten::t(%v)
return %t, 128, 64
)");
}

TEST(Bind, WhatIsNotGivenIsTheExampleAndANote) {
  const Result<Program> p = BindText(kLanguageModel, {});
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_THAT(p->sizes(p->inputs[0]), ElementsAre(2, 64));
  EXPECT_THAT(
      NotesOf(*p),
      ElementsAre("Nothing was said of sizes, so they are the model's example: batch 2, seq "
                  "64 (--batch N --seq N)."));
}

TEST(Bind, AModelThatIsBuiltHasNoExample) {
  const Result<Program> p = BindText(
      "fact \"built_from\" \"config.json\"\nsymbol batch = 1\nsymbol t = 5\n"
      "input %x: i64[batch,7]\ninput %y: f32[3,2,t]\n",
      {});
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_THAT(NotesOf(*p),
              ElementsAre("Nothing was said of sizes, so they are the defaults of a model that is "
                          "built from its config: batch 1 (--batch N).",
                          "t = 5 by default; bind it with --input y=3x2x5"));
}

TEST(Bind, SizesThatAreNeitherBatchNorSeqAreToldOneByOne) {
  constexpr std::string_view kImage = R"(
symbol b = 2
symbol h = 32
symbol t = 5
input %image: f32[b,3,h,h]
input %read: i64[b,7]
input %written: i64[b,t]
)";
  const Result<Program> p = BindText(kImage, {.batch = 8});
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_THAT(
      NotesOf(*p),
      ElementsAre("Nothing was said of sizes, so they are the model's example: seq 5 (--seq N).",
                  "h = 32 is the model's example size; bind it with --input image=8x3x32x32"));
}

TEST(Bind, BatchAndSeqBindTheFirstAndSecondDimensions) {
  const Result<Program> p = BindText(kLanguageModel, {.batch = 8, .seq = 32});
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_THAT(p->sizes(p->inputs[0]), ElementsAre(8, 32));
  EXPECT_THAT(p->sizes(p->inputs[1]), ElementsAre(8, 1, 1, 32));
  const Result<Program> batch = BindText(kLanguageModel, {.batch = 8});
  ASSERT_TRUE(batch) << Describe(batch.error());
  EXPECT_THAT(batch->sizes(batch->inputs[0]), ElementsAre(8, 64));
  EXPECT_EQ(batch->notes.size(), 1u);
}

TEST(Bind, SeqIsForWhatInputsLeaveOpen) {
  constexpr std::string_view kTwo = R"(
symbol b = 2
symbol s = 4
symbol t = 4
input %read: i64[b,s]
input %written: i64[b,t]
)";
  const Result<Program> both = BindText(kTwo, {.seq = 32});
  ASSERT_TRUE(both) << Describe(both.error());
  EXPECT_THAT(both->sizes(both->inputs[1]), ElementsAre(2, 32));
  const Result<Program> one = BindText(kTwo, {.inputs = {{"written", {2, 9}}}, .seq = 32});
  ASSERT_TRUE(one) << Describe(one.error());
  EXPECT_THAT(one->sizes(one->inputs[0]), ElementsAre(2, 32));
  EXPECT_THAT(one->sizes(one->inputs[1]), ElementsAre(2, 9));
  const BindOptions all{.inputs = {{"read", {2, 7}}, {"written", {2, 9}}}, .seq = 32};
  EXPECT_THAT(Refusal(kTwo, all),
              HasSubstr("the size s: 32 by --seq (input \"read\"), but 7 by input \"read\""));
}

TEST(Bind, AListOfPositionsIsNotABatch) {
  constexpr std::string_view kPositions = R"(
symbol b = 2
symbol s = 4
input %positions: i64[s]
input %ids: i64[b,s]
input %labels: i64[b]
)";
  const Result<Program> p = BindText(kPositions, {.batch = 8});
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_THAT(p->sizes(p->inputs[0]), ElementsAre(4));
  EXPECT_THAT(p->sizes(p->inputs[2]), ElementsAre(8));
  const Result<Program> lone = BindText("symbol n = 2\ninput %x: f32[n]\n", {.batch = 8});
  ASSERT_TRUE(lone) << Describe(lone.error());
  EXPECT_THAT(lone->sizes(lone->inputs[0]), ElementsAre(8));
}

TEST(Bind, ContradictionsAreShownWithBothSides) {
  EXPECT_EQ(Refusal(kLanguageModel, {.inputs = {{"input_ids", {2, 64}}, {"mask", {3, 1, 1, 64}}}}),
            "the size batch: 3 by input \"mask\", dimension 0, but 2 by input \"input_ids\", "
            "dimension 0. One of them is enough: sizes of the same symbol agree over all inputs.");
  EXPECT_EQ(Refusal(kLanguageModel, {.inputs = {{"mask", {2, 5, 1, 64}}}}),
            "input \"mask\", dimension 1: the size is 1 in the file, 5 was asked for. This size is "
            "fixed. Export the model with dynamic_shapes to vary it.");
  EXPECT_THAT(Refusal(kLanguageModel, {.inputs = {{"input_ids", {2, 64}}}, .batch = 4}),
              HasSubstr("the size batch: 4 by --batch (input \"input_ids\"), but 2 by input"));
  EXPECT_EQ(Refusal(kLanguageModel, {.seq = 1024}),
            "--seq (input \"input_ids\"): seq = 1024 is outside the model's range of 2 to 512. "
            "Choose a size in this range. An exported model has the one that dynamic_shapes gave "
            "it; one of a config.json has as many positions as the config says "
            "(max_position_embeddings).");
}

TEST(Bind, InputsAreNamedAsTheUserNamesThem) {
  EXPECT_EQ(Refusal(kLanguageModel, {.inputs = {{"ids", {1, 512}}}}),
            "--input: there is no input \"ids\". The inputs are: input_ids [batch, seq], mask "
            "[batch, 1, 1, seq].");
  EXPECT_EQ(Refusal(kLanguageModel, {.inputs = {{"input_ids", {64}}}}),
            "input \"input_ids\": 1 sizes were given for 2 dimensions. Its shape in the file is "
            "[batch, seq].");
}

TEST(Bind, FixedModelTakesItsOwnSizesOnly) {
  constexpr std::string_view kFixed = "input %x: f32[4,128]\n";
  EXPECT_TRUE(BindText(kFixed, {.inputs = {{"x", {4, 128}}}, .batch = 4, .seq = 128}));
  EXPECT_EQ(Refusal(kFixed, {.batch = 8}),
            "--batch 8: no input has an open first dimension. Numbers are fixed: x [4, 128]. An "
            "exported model has open sizes with dynamic_shapes; one of a config.json has those of "
            "its kind.");
}

TEST(Bind, SymbolsWithoutAnyValueAreRefused) {
  EXPECT_EQ(Refusal("symbol n\ninput %x: f32[n,8]\n", {}),
            "%x: the size n has no value and no example in the file. Bind it with --batch N or "
            "--input x=Nx8.");
  EXPECT_EQ(Refusal("symbol n\ninput %x: f32[8,2*n]\n", {}),
            "%x: the size 2*n needs n, which has no value and no example in the file. Bind it with "
            "--seq N or --input x=8xN.");
  // A size that the data tell.
  EXPECT_EQ(Refusal("symbol u0\ninput %x: f32[8]\n%y: f32[u0 + 1] = made::up(%x)\n", {}),
            "%y: the size u0 + 1 needs u0, which is taken from the data by made::up, without a "
            "limit. Bind it with --size u0=N.");
  EXPECT_THAT(Refusal("symbol u0\nf([g, [u0]])\n", {}), HasSubstr("no symbol"));
  EXPECT_THAT(Refusal("symbol u0\nf(1)\nf([2, [u0]])\n", {}), HasSubstr("node 1 (f): the size u0"));
  // Nobody asks for it.
  EXPECT_TRUE(BindText("symbol u0\ninput %x: f32[8]\n", {}));
}

TEST(Bind, SizesAreGivenByTheirSymbols) {
  constexpr std::string_view kChoice =
      "symbol n = 2\nsymbol u0: 0..6\nsymbol u1\nsymbol v1\ninput %x: f32[n,8]\n"
      "%a: i64[u0,2] = aten::nonzero(%x)\n%b: f32[u1] = made::up(%x)\n"
      "%c: f32[v1] = made::up(%x)\nreturn %a, %b, %c\n";
  const auto sizes = [&](std::vector<SymbolSize> given) -> std::string {
    const Result<Program> p = BindText(kChoice, {.sizes = std::move(given)});
    if (!p) return Describe(p.error());
    const auto first = [&](std::size_t i) {
      return std::to_string(p->sizes(p->main().outputs[i].value)[0]);
    };
    return std::to_string(p->sizes(p->inputs[0])[0]) + " " + first(0) + " " + first(1) + " " +
           first(2);
  };
  EXPECT_EQ(sizes({{"u1", 5}, {"v1", 7}}), "2 6 5 7") << "u0 takes its most";
  EXPECT_EQ(sizes({{"u*", 3}, {"v1", 7}}), "2 3 3 7");
  EXPECT_EQ(sizes({{"*", 3}, {"u0", 4}}), "2 4 3 3") << "names win; n is an input's";
  EXPECT_EQ(sizes({{"*1", 3}, {"n", 4}}), "4 6 3 3");
  EXPECT_EQ(sizes({{"u0", 7}}),
            "--size u0=7: u0 = 7 is outside the model's range of 0 to 6. Choose a size in this "
            "range. An exported model has the one that dynamic_shapes gave it; one of a "
            "config.json has as many positions as the config says (max_position_embeddings).");
  EXPECT_EQ(sizes({{"w", 7}}),
            "--size w=7: there is no symbolic size \"w\". The file's symbols are n, u0, u1, v1.");
  EXPECT_THAT(sizes({{"u1", 7}, {"u1", 8}}), HasSubstr("given twice"));
  EXPECT_THAT(Refusal("input %x: f32[2]\n", {.sizes = {{"w", 7}}}),
              HasSubstr("All sizes are fixed"));
}

TEST(Bind, UnknownScalarsStayArguments) {
  const Result<Program> p = BindText(R"(input %x: f32[8]
%i: int = aten::item(%x)
%c: bool(True) = aten::eq(%x, 1)
%y: f32[2] = f(%i, %c)
)",
                                     {});
  ASSERT_TRUE(p) << Describe(p.error());
  const auto args = p->args(p->main().nodes[2]);
  EXPECT_EQ(args[0].kind, ArgKind::kValue);
  EXPECT_EQ(args[1].kind, ArgKind::kBool);
  EXPECT_EQ(args[1].dim, Dim(1));
}

TEST(Bind, NamesOfArgumentsStay) {
  const Result<Program> p =
      BindText("symbol s = 3\ninput %n: int(s)\nf(size=%n, k=2*s)\n", {.inputs = {{"n", {5}}}});
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_EQ(Print(*p), "input %n: int(5)\n\nf(size=5, k=10)\nreturn\n");
  EXPECT_THAT(Refusal("symbol s = 3\ninput %n: int(s)\n", {.inputs = {{"n", {5, 6}}}}),
              HasSubstr("--input n=4"));
}

TEST(Bind, UnknownSizesAreLeftToShapeRules) {
  const Result<Program> p = BindText("input %x: f32[2]\n%y: f32[?,2] = f(%x)\n", {});
  ASSERT_TRUE(p) << Describe(p.error());
  EXPECT_FALSE(p->values[1].has_layout);
  EXPECT_THAT(Refusal("parameter %w: f32[?,2]\n", {}), HasSubstr("[?, 2] are not all known"));
}

TEST(Bind, AbsurdSizesAreRefused) {
  EXPECT_THAT(Refusal("symbol n = 2\ninput %x: f32[n,n]\n",
                      {.inputs = {{"x", {std::int64_t{1} << 31, std::int64_t{1} << 31}}}}),
              HasSubstr("more than 2^63 bytes"));
  EXPECT_THAT(Refusal("symbol n = 2\ninput %x: f32[n - 3]\n", {}), HasSubstr("make no tensor"));
  EXPECT_THAT(Refusal("symbol n = 2\ninput %x: f32[n//0]\n", {}), HasSubstr("division by zero"));
  EXPECT_THAT(Refusal("symbol n = 4611686018427387904\ninput %x: f32[n*n]\n", {}),
              HasSubstr("has no value"));
}

}  // namespace
}  // namespace steelyard
