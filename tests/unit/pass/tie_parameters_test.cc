// SPDX-License-Identifier: Apache-2.0

#include "pass/tie_parameters.h"

#include <gmock/gmock.h>

#include <string>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::HasSubstr;

Program Tie(std::string_view text) {
  Result<Program> program = ParseText(text, "test.syt");
  EXPECT_TRUE(program) << Describe(program.error());
  Result<Program> tied = TieParameters(*std::move(program));
  EXPECT_TRUE(tied);
  return *std::move(tied);
}

bool Shares(const Program& program, std::size_t a, std::size_t b) {
  return program.values[program.parameters[a].value].storage ==
         program.values[program.parameters[b].value].storage;
}

TEST(TieParameters, AnUnusedOneIsAnotherNameOfItsOnlyTwin) {
  const Program program =
      Tie("parameter %table: f32[16,8]\n"
          "parameter %head: f32[16,8]\n"
          "input %x: f32[2,8]\n"
          "%y: f32[2,16] = aten::linear(%x, %head)\n"
          "return %y\n");
  EXPECT_TRUE(Shares(program, 0, 1));
  EXPECT_EQ(program.parameters[1].tied_to, 0u);  // the first name is the tensor's
  ASSERT_EQ(program.notes.size(), 1u);
  EXPECT_THAT(std::string(program.text(program.notes[0])), HasSubstr("assumed tied"));
}

TEST(TieParameters, NotWhenTwoCouldBeTheTwin) {
  const Program program = Tie(
      "parameter %a: f32[8]\nparameter %b: f32[8]\nparameter %unused: f32[8]\ninput %x: f32[8]\n"
      "%s: f32[8] = aten::add.Tensor(%x, %a)\n%y: f32[8] = aten::add.Tensor(%s, %b)\nreturn %y\n");
  EXPECT_FALSE(Shares(program, 0, 2));
  EXPECT_FALSE(Shares(program, 1, 2));
  EXPECT_TRUE(program.notes.empty());
}

TEST(TieParameters, NotWhenShapesOrDTypesDiffer) {
  const Program program = Tie(
      "parameter %a: f32[8]\nparameter %wide: f32[9]\nparameter %half: f16[8]\ninput %x: f32[8]\n"
      "%y: f32[8] = aten::add.Tensor(%x, %a)\nreturn %y\n");
  EXPECT_FALSE(Shares(program, 0, 1));
  EXPECT_FALSE(Shares(program, 0, 2));
}

TEST(TieParameters, UsedOnesStayApart) {
  const Program program = Tie(
      "parameter %a: f32[8]\nparameter %b: f32[8]\ninput %x: f32[8]\n"
      "%s: f32[8] = aten::add.Tensor(%x, %a)\n%y: f32[8] = aten::add.Tensor(%s, %b)\nreturn %y\n");
  EXPECT_FALSE(Shares(program, 0, 1));
}

// Of three names the last is used, as in an encoder and a decoder with one embedding.
constexpr char kThreeNames[] =
    "parameter %shared: f32[16,8]\n"
    "parameter %encoder: f32[16,8]\n"
    "parameter %head: f32[16,8]\n"
    "input %x: f32[2,8]\n"
    "%y: f32[2,16] = aten::linear(%x, %head)\n"
    "return %y\n";

TEST(TieParameters, EveryNameStandsForTheUsedTensor) {
  const Program program = Tie(kThreeNames);
  const ValueId used = program.args(program.main().nodes[0])[1].value;
  for (const NamedTensor& parameter : program.parameters) EXPECT_EQ(parameter.value, used);
  EXPECT_EQ(program.parameters[0].tied_to, kNoId);
  EXPECT_EQ(program.parameters[1].tied_to, 0u);
  EXPECT_EQ(program.parameters[2].tied_to, 0u);
  for (const ValueId input : program.main().inputs) {
    if (program.values[input].role != Role::kParameter) continue;
    EXPECT_EQ(program.values[input].storage, program.values[used].storage);
  }
  ASSERT_EQ(program.notes.size(), 2u);
  EXPECT_EQ(program.text(program.notes[0]), "assumed tied: encoder = shared");
  EXPECT_EQ(program.text(program.notes[1]), "assumed tied: head = shared") << "used, but not first";
}

TEST(TieParameters, NothingIsAssumedWhereTheFileKnows) {
  Program program = *ParseText(kThreeNames, "test.syt");
  program.ties_known = true;
  const Result<Program> same = TieParameters(program);
  ASSERT_TRUE(same);
  EXPECT_FALSE(Shares(*same, 0, 2));
  EXPECT_TRUE(same->notes.empty());
}

// The last layer of a masked language model with a bias of its own and one of its last layer, of
// which only the latter is used.
Program LastLayer(std::string_view table_used) {
  return Tie(
      "parameter %\"embed.weight\": f32[16,8]\n"
      "parameter %\"head.bias\": f32[16]\n"
      "parameter %\"head.decoder.weight\": f32[16,8]\n"
      "parameter %\"head.decoder.bias\": f32[16]\n"
      "input %ids: i64[2]\n"
      "%x: f32[2,8] = aten::embedding(%\"" +
      std::string(table_used) +
      "\", %ids)\n"
      "%y: f32[2,16] = aten::linear(%x, %\"head.decoder.weight\", %\"head.decoder.bias\")\n"
      "return %y\n");
}

TEST(TieParameters, ABiasIsTiedWithTheWeightOfItsModule) {
  const Program program = LastLayer("head.decoder.weight");
  EXPECT_TRUE(Shares(program, 0, 2));
  EXPECT_TRUE(Shares(program, 1, 3));
}

TEST(TieParameters, ABiasOfAnUntiedWeightIsNotTied) {
  const Program program = LastLayer("embed.weight");
  EXPECT_FALSE(Shares(program, 0, 2));
  EXPECT_FALSE(Shares(program, 1, 3));
  ASSERT_EQ(program.notes.size(), 1u);
  EXPECT_EQ(program.text(program.notes[0]),
            "assumed not tied, though unused: head.bias to head.decoder.bias");
}

TEST(TieParameters, NamesThatTheFileTiesFollow) {
  const Program program =
      Tie("parameter %unused: f32[8]\n"
          "parameter %a: f32[8]\n"
          "parameter %a \"again\" tied to %a\n"
          "input %x: f32[8]\n"
          "%y: f32[8] = aten::add.Tensor(%x, %a)\n"
          "return %y\n");
  EXPECT_EQ(program.parameters[0].tied_to, kNoId);
  EXPECT_EQ(program.parameters[1].tied_to, 0u);
  EXPECT_EQ(program.parameters[2].tied_to, 0u);
}

}  // namespace
}  // namespace steelyard
